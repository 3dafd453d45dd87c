"""Runs that are kept, and go on: in this process, and in one that was killed."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import tracenorm

OFTEN = {"checkpoint_every": 0, "checkpoint_passes": 80}


@pytest.fixture
def data():
    random = np.random.default_rng(0)
    matrix = random.normal(size=(60, 3)) @ random.normal(size=(3, 40))
    matrix[random.random(matrix.shape) < 0.4] = np.nan
    return matrix


def same(a, b):
    return (
        a.objective == b.objective
        and a.lower_bound == b.lower_bound
        and np.array_equal(a.left, b.left)
        and np.array_equal(a.trace["objective"], b.trace["objective"])
    )


@pytest.mark.parametrize(("method", "stop"), [("fwua", 40), ("corrective", 2), ("rdfw", 40)])
def test_an_interrupted_run_goes_on(data, tmp_path, method, stop):
    file = tmp_path / "run.npz"
    arguments = {"radius": 60, "method": method, "iterations": 60, "checkpoint": file, **OFTEN}
    whole = tracenorm.solve(data, **arguments)
    assert not file.exists()
    stopped = tracenorm.solve(data, callback=lambda iteration: iteration.k >= stop, **arguments)
    assert stopped.status == "interrupted" and file.exists()
    assert same(tracenorm.solve(data, **arguments), whole)
    assert not file.exists()


def test_a_search_goes_on(data, tmp_path):
    rows, cols = np.nonzero(~np.isnan(data))
    entries = (rows, cols, data[rows, cols])
    file = tmp_path / "run.npz"
    whole = tracenorm.fit(entries, checkpoint=file, **OFTEN)
    calls = []
    stopped = tracenorm.fit(entries, checkpoint=file, callback=lambda it: calls.append(it) or len(calls) > 20, **OFTEN)
    assert stopped.status == "interrupted" and file.exists()
    assert same(tracenorm.fit(entries, checkpoint=file, **OFTEN), whole)


def test_others_are_refused(data, tmp_path):
    file = tmp_path / "run.npz"
    arguments = {"radius": 60, "method": "fwua", "iterations": 60, "checkpoint": file, **OFTEN}
    tracenorm.solve(data, callback=lambda iteration: iteration.k >= 40, **arguments)
    with pytest.raises(ValueError, match="other options: radius = 60, not radius = 61"):
        tracenorm.solve(data, **{**arguments, "radius": 61})
    with pytest.raises(ValueError, match="belongs to other data"):
        tracenorm.solve(data + 1, **arguments)
    file.write_bytes(file.read_bytes()[:200])
    with pytest.raises(ValueError, match=r"run\.npz"):
        tracenorm.solve(data, **arguments)
    with pytest.raises(ValueError, match="checkpoint_every"):
        tracenorm.solve(data, **{**arguments, "checkpoint_every": -1})


def test_a_file_that_cannot_be_written_is_a_warning(data, tmp_path):
    with pytest.warns(RuntimeWarning, match="does not exist"):
        result = tracenorm.solve(data, radius=60, iterations=60, checkpoint=tmp_path / "no" / "run.npz", **OFTEN)
    assert result.status == "iteration_limit"


def test_a_killed_process_is_taken_over(data, tmp_path):
    np.save(tmp_path / "data.npy", data)
    script = """
import numpy, os, signal, sys, tracenorm
def kill(iteration):
    if iteration.k == 40 and sys.argv[1] == "die":
        os.kill(os.getpid(), signal.SIGKILL)
result = tracenorm.solve(numpy.load("data.npy"), radius=60, method="fwua", iterations=60, callback=kill,
                         checkpoint="run.npz", checkpoint_every=0, checkpoint_passes=80)
print(result.objective.hex(), result.left.sum().hex())
"""

    def run(word):
        return subprocess.run([sys.executable, "-c", script, word], cwd=tmp_path, capture_output=True, text=True)

    whole = run("live")
    assert run("die").returncode == -signal.SIGKILL
    assert os.path.exists(tmp_path / "run.npz")
    assert run("live").stdout == whole.stdout != ""


def test_a_forked_child_solves_and_ends(data):
    """The pool of multiprocessing forks a process that may have solved before."""
    whole = tracenorm.solve(data, radius=60, iterations=20, threads=2)
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if same(tracenorm.solve(data, radius=60, iterations=20, threads=2), whole) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_nested_solves(data):
    """A callback may solve, too."""
    whole = tracenorm.solve(data, radius=60, iterations=10)
    inner = []
    tracenorm.solve(
        data,
        radius=60,
        iterations=10,
        callback=lambda it: inner.append(tracenorm.solve(data, radius=60, iterations=10)) if it.k == 3 else None,
    )
    assert same(inner[0], whole)
