"""Certificates in Python: honest answers are proved, changed numbers are refuted, files are the program's."""

import pickle

import numpy as np
import pytest
import scipy.sparse

import tracenorm


def low_rank(rows=30, cols=20, seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=(rows, 3)) @ random.normal(size=(3, cols)) + 0.3 * random.normal(size=(rows, cols))


def with_holes(matrix, share=0.5, seed=1):
    holes = np.random.default_rng(seed).uniform(size=matrix.shape) < share
    return np.where(holes, np.nan, matrix)


@pytest.mark.parametrize("loss", ["absolute", "huber:0.5", "squared", "quantile:0.2", "epsilon-insensitive:0.1"])
@pytest.mark.parametrize("penalty", ["none", "l1:0.1", "complement-squared:0.05"])
@pytest.mark.parametrize("share", [0.2, 0.7])
def test_honest_answers_are_proved(loss, penalty, share):
    data = with_holes(low_rank(), share)
    result = tracenorm.solve(data, loss=loss, penalty=penalty, radius=25, gap=0.02, iterations=300, certificate=True)
    found = tracenorm.verify(data, result)
    assert found and found.verdict == "proved", found
    assert found.objective <= result.objective and found.lower_bound >= result.lower_bound
    assert found.objective == pytest.approx(result.objective, rel=1e-6)
    assert found.relative_gap <= result.relative_gap * (1 + 1e-6) + 1e-9


def test_all_kinds_of_data_are_the_same_data():
    data = with_holes(low_rank())
    rows, cols = np.nonzero(~np.isnan(data))
    triplets = (rows, cols, data[rows, cols])
    sparse = scipy.sparse.csr_matrix((triplets[2], (rows, cols)), shape=data.shape)
    result = tracenorm.solve(sparse, radius=20, iterations=50, prepare="both", norm_power=0.5, certificate=True)
    for form in (data, triplets, sparse, sparse.tocoo(), sparse.tocsc()):
        assert tracenorm.verify(form, result).verdict == "proved"


def test_names_of_a_frame_and_weights():
    pandas = pytest.importorskip("pandas")
    data = with_holes(low_rank())
    rows, cols = np.nonzero(~np.isnan(data))
    frame = pandas.DataFrame(
        {"who": [f"u{i}" for i in rows], "what": cols, "value": data[rows, cols], "w": 1 + rows % 3}
    )
    columns = ("who", "what", "value")
    result = tracenorm.fit(frame, columns=columns, weights="w", radius=20, iterations=50, certificate=True)
    shuffled = frame.sample(frac=1, random_state=3)
    assert tracenorm.verify(shuffled, result, columns=columns, weights="w").verdict == "proved"
    refuted = tracenorm.verify(shuffled, result, columns=columns)
    assert not refuted and refuted.steps[-1][0] == "data"
    assert "weights" in repr(refuted)


def test_a_certificate_is_a_file(tmp_path):
    data = with_holes(low_rank())
    result = tracenorm.solve(data, radius=20, iterations=50, certificate=True)
    result.save(tmp_path / "m.npz")
    result.certificate.save(tmp_path / "c.npz")
    loaded = tracenorm.Certificate.load(tmp_path / "c.npz")
    assert (loaded.objective, loaded.lower_bound) == (result.objective, result.lower_bound)
    assert loaded.shape == data.shape and loaded.radius == 20 and "radius 20" in repr(loaded)
    np.testing.assert_array_equal(loaded.slopes, result.certificate.slopes)
    assert tracenorm.verify(data, tmp_path / "m.npz", tmp_path / "c.npz").verdict == "proved"
    again = pickle.loads(pickle.dumps(result))
    assert tracenorm.verify(data, again).verdict == "proved"
    with pytest.raises(FileNotFoundError):
        tracenorm.Certificate.load(tmp_path / "absent.npz")


def test_what_was_changed_is_refuted(tmp_path):
    data = with_holes(low_rank())
    result = tracenorm.solve(data, radius=20, iterations=50, certificate=True)
    changed = data.copy()
    i, j = np.argwhere(~np.isnan(data))[7]
    changed[i, j] += 0.5
    assert tracenorm.verify(changed, result).steps[-1][0] == "data"
    other = tracenorm.solve(data, radius=20, iterations=60, certificate=True)
    assert tracenorm.verify(data, other, result.certificate).steps[-1][0] == "files"
    text = str(tracenorm.verify(data, other, result.certificate))
    assert text.endswith("refuted: files")


def test_where_there_is_none():
    data = with_holes(low_rank())
    result = tracenorm.solve(data, radius=20, iterations=5)
    assert result.certificate is None and result.proof in ("exact", "cholesky", "probabilistic")
    with pytest.raises(ValueError, match="certificate=True"):
        tracenorm.verify(data, result)
    with pytest.raises(ValueError, match="Python function"):
        tracenorm.solve(data, radius=20, loss=lambda x, y: np.abs(x - y), certificate=True)
    with pytest.raises(ValueError, match="genfb"):
        tracenorm.solve(data, method="genfb", trace_penalty=2, certificate=True)
