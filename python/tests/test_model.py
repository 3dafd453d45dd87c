"""Offsets, weighted norms and warm starts from Python."""

import numpy as np
import pytest

import tracenorm


@pytest.fixture
def additive():
    rng = np.random.default_rng(3)
    matrix = rng.normal(size=(40, 1)) + rng.normal(size=30) + 0.1 * rng.normal(size=(40, 30))
    data = np.where(rng.random(matrix.shape) < 0.6, matrix, np.nan)
    return matrix, data


def test_offsets_explain_an_additive_matrix(additive):
    matrix, data = additive
    result = tracenorm.solve(data, radius=1e-6, prepare="both", iterations=5)
    assert np.abs(result.to_dense() - matrix).mean() < 0.1
    assert result.preparation == "both"
    assert result.predict(3, 4) == pytest.approx(result.to_dense()[3, 4])


def test_offsets_are_robust_with_a_robust_loss(additive):
    matrix, data = additive
    spoilt = data.copy()
    spoilt[::4, ::3] += 50
    errors = {
        loss: np.abs(tracenorm.solve(spoilt, radius=1e-6, prepare="both", loss=loss, iterations=5).to_dense() - matrix)
        for loss in ("absolute", "squared")
    }
    assert errors["absolute"].mean() < 0.15 < 1 < errors["squared"].mean()


def test_offsets_answer_for_unknown_ids_and_survive_a_file(tmp_path, additive):
    pd = pytest.importorskip("pandas")
    _, data = additive
    row, col = np.nonzero(~np.isnan(data))
    frame = pd.DataFrame({"user": [f"u{k}" for k in row], "item": [f"i{k}" for k in col], "value": data[row, col]})
    result = tracenorm.solve(frame, radius=5.0, prepare="both")
    result.save(tmp_path / "model.npz")
    again = tracenorm.load(tmp_path / "model.npz")
    assert again.predict("u3", "i4") == result.predict("u3", "i4")
    levels = [again.predict("nobody", f"i{k}", unknown="center") for k in range(30)]
    assert np.corrcoef(levels, np.nanmean(data, axis=0))[0, 1] > 0.95


def test_a_model_in_parts_is_the_same_model(tmp_path, corrupted):
    result = tracenorm.solve((corrupted["rows"], corrupted["cols"], corrupted["values"]), radius=40.0, prepare="both")
    result.save(tmp_path / "model", parts=3)
    assert len(list((tmp_path / "model").glob("rows-*.npz"))) == 3
    again = tracenorm.load(tmp_path / "model")
    np.testing.assert_array_equal(again.to_dense(), result.to_dense())
    with pytest.raises(ValueError, match="parts = 0"):
        result.save(tmp_path / "model", parts=0)
    next((tmp_path / "model").glob("rows-*.npz")).write_bytes(b"")
    with pytest.raises(ValueError, match="is not the file that the manifest beside it means"):
        tracenorm.load(tmp_path / "model")


def test_a_weighted_norm_is_another_problem(corrupted):
    data = (corrupted["rows"], corrupted["cols"], corrupted["values"])
    plain = tracenorm.solve(data, radius=40.0)
    weighted = tracenorm.solve(data, radius=40.0, norm_power=0.5)
    assert weighted.lower_bound <= weighted.objective != plain.objective
    with pytest.raises(ValueError, match="power = 3"):
        tracenorm.solve(data, radius=40.0, norm_power=3.0)
    with pytest.raises(ValueError, match="smoothing = 0"):
        tracenorm.solve(data, radius=40.0, norm_power=0.5, norm_smoothing=0.0)


def test_a_warm_start_begins_where_the_model_is(corrupted):
    data = (corrupted["rows"], corrupted["cols"], corrupted["values"])
    first = tracenorm.solve(data, radius=40.0, iterations=200)
    again = tracenorm.solve(data, radius=40.0, iterations=10, start=first)
    assert again.trace["objective"][0] == pytest.approx(first.objective, rel=1e-4)
    with pytest.raises(TypeError, match="start"):
        tracenorm.solve(data, radius=40.0, start="here")
    with pytest.raises(ValueError, match="must agree"):
        tracenorm.solve(np.eye(3), radius=2.0, start=first)
