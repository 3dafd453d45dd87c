"""Predictions, files, pickles; the program reads and writes the same."""

import json
import pickle
import subprocess

import numpy as np
import pandas as pd
import pytest

import tracenorm


@pytest.fixture
def frame(corrupted):
    return pd.DataFrame(
        {
            "user": [f"u{k}" for k in corrupted["rows"]],
            "item": corrupted["cols"] + 1,
            "rating": corrupted["values"],
        }
    )


def write_triplets(path, frame):
    """Every float is written so that it is read back as it was."""
    path.write_text(
        "".join(f"{user}\t{item}\t{float(value)!r}\n" for user, item, value in frame.itertuples(index=False))
    )


def run(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr  # 1: a gap that was asked for was not reached
    return done.stdout


def test_predictions_broadcast_and_scalars_are_floats():
    result = tracenorm.solve(np.outer([1.0, 2.0], [3.0, 4.0, 5.0]), radius=20, iterations=50)
    dense = result.to_dense()
    assert isinstance(result.predict(1, 2), float) and np.isclose(result.predict(1, 2), dense[1, 2])
    assert np.allclose(result.predict([[0], [1]], [0, 1, 2]), dense)
    assert np.allclose(result.to_dense(slice(1, 2)), dense[1:2])
    assert result.to_dense(slice(2, 2)).shape == (0, 3)
    assert result.predict([], []).shape == (0,)
    assert np.allclose((result.left * result.values) @ result.right.T, dense)


def test_unknown_places_and_ids(frame):
    by_position = tracenorm.solve(np.eye(3), radius=2, iterations=5)
    for rows, cols in [(3, 0), (-1, 0), (0, 7)]:
        with pytest.raises(IndexError, match=r"is not in 0\.\.2"):
            by_position.predict(rows, cols)
    with pytest.raises(TypeError, match="positions"):
        by_position.predict("a", 0)
    result = tracenorm.solve(frame, radius=100, iterations=30, prepare="zscore")
    with pytest.raises(KeyError, match="no row 'nobody'"):
        result.predict(["u1", "nobody"], [1, 1])
    with pytest.raises(KeyError, match="no column 99"):
        result.predict(["u1"], [99])
    with pytest.raises(ValueError, match="unknown = 'zero'"):
        result.predict("u1", 1, unknown="zero")
    center = result.predict("nobody", 1, unknown="center")
    assert np.isclose(center, frame["rating"].mean(), rtol=1e-5)
    assert np.isnan(result.predict("nobody", 1, unknown="nan"))


def test_saved_and_loaded(frame, tmp_path):
    result = tracenorm.solve(frame, radius=100, iterations=30, prepare="zscore")
    path = tmp_path / "model.npz"
    result.save(path)
    for model in (tracenorm.load(path), tracenorm.Result.load(str(path))):
        assert np.array_equal(model.left, result.left) and np.array_equal(model.right, result.right)
        assert model.row_names == result.row_names and model.metadata == {**model.metadata, **result.metadata}
        assert (model.objective, model.lower_bound, model.status) == (
            result.objective,
            result.lower_bound,
            result.status,
        )
        assert np.array_equal(model.predict(frame["user"], frame["item"]), result.predict(frame["user"], frame["item"]))
    with np.load(path, allow_pickle=False) as arrays:
        assert np.array_equal(arrays["left"], result.left) and arrays["row_names"][0] == "u0"


def test_file_errors(tmp_path):
    result = tracenorm.solve(np.eye(3), radius=2, iterations=5)
    with pytest.raises(OSError, match="nowhere"):
        result.save(tmp_path / "nowhere" / "model.npz")
    with pytest.raises(FileNotFoundError, match=r"absent\.npz"):
        tracenorm.load(tmp_path / "absent.npz")
    other = tmp_path / "other.npz"
    np.savez(other, a=np.eye(2))
    with pytest.raises(ValueError, match="not a model"):
        tracenorm.load(other)
    other.write_text("no archive")
    with pytest.raises(ValueError, match=r"other\.npz"):
        tracenorm.load(other)


def test_results_can_be_pickled(frame):
    result = tracenorm.solve(frame, radius=100, iterations=30, prepare="zscore")
    again = pickle.loads(pickle.dumps(result))
    assert np.array_equal(again.left, result.left) and again.row_names == result.row_names
    assert again.predict("u3", 4) == result.predict("u3", 4)
    assert again.trace.tobytes() == result.trace.tobytes() and again.message == result.message


@pytest.mark.parametrize(
    "options", [{}, {"method": "rdfw", "loss": "huber:0.3", "gap": 0.05, "seed": 9}], ids=["fwua", "rdfw"]
)
def test_complete_gives_the_same_bits(program, frame, tmp_path, options):
    data, model, report = (tmp_path / name for name in ("data.tsv", "model.npz", "run.json"))
    write_triplets(data, frame)
    arguments = [word for key, value in options.items() for word in (f"--{key}", value)]
    run(
        program,
        "complete",
        data,
        "--radius",
        90,
        "--iterations",
        120,
        "--model",
        model,
        "--json",
        report,
        "-q",
        *arguments,
    )
    result = tracenorm.solve(frame, radius=90, iterations=120, prepare="zscore", **options)
    theirs, said = tracenorm.load(model), json.loads(report.read_text())
    assert np.array_equal(result.left, theirs.left) and np.array_equal(result.values, theirs.values)
    assert np.array_equal(result.right, theirs.right)
    assert (result.row_names, result.col_names) == (theirs.row_names, theirs.col_names)
    assert (result.objective, result.lower_bound) == (said["objective"], said["lower_bound"])
    assert (result.status, result.iterations) == (said["status"], said["iterations"])
    assert result.trace["objective"].tolist() == [line["objective"] for line in said["trace"]]
    assert result.metadata == theirs.metadata


def test_denoise_gives_the_same_bits(program, tmp_path):
    rng = np.random.default_rng(2)
    noisy = (np.outer(rng.normal(size=50), rng.normal(size=50)) + 0.1 * rng.normal(size=(50, 50))).astype(np.float32)
    noisy[rng.random(noisy.shape) < 0.1] = np.nan
    np.save(tmp_path / "noisy.npy", noisy)
    run(
        program,
        "denoise",
        tmp_path / "noisy.npy",
        "--radius",
        30,
        "--l1",
        0.05,
        "--iterations",
        80,
        "--model",
        tmp_path / "model.npz",
        "-q",
    )
    result = tracenorm.solve(noisy, radius=30, penalty="l1:0.05", loss="squared:0.5", iterations=80)
    theirs = tracenorm.load(tmp_path / "model.npz")
    assert np.array_equal(result.left, theirs.left) and np.array_equal(result.values, theirs.values)


def test_the_program_predicts_from_our_file_as_we_do(program, frame, tmp_path):
    result = tracenorm.solve(frame, radius=100, iterations=30, prepare="zscore")
    result.save(tmp_path / "model.npz")
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("u0\t1\nu5\t40\nu59\t7\n")
    printed = [line.split("\t")[2] for line in run(program, "predict", tmp_path / "model.npz", pairs).splitlines()]
    ours = result.predict(["u0", "u5", "u59"], [1, 40, 7])
    assert printed == [f"{value:.7g}" for value in ours]
