"""Several processes solve one problem, started by mpirun: the same answer in each, and an end for all."""

import os
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import tracenorm

MPIRUN = shutil.which("mpirun")

PROBLEM = """
    import sys
    import numpy as np
    import tracenorm

    random = np.random.default_rng(0)
    Y = random.normal(size=(60, 3)) @ random.normal(size=(3, 40))
    Y[random.random(Y.shape) < 0.4] = np.nan
    everybody = tracenorm.ranks()
    options = {"radius": 60, "gap": 1e-4, "threads": 1}
"""


def has_mpi():
    """Whether this package was built with MPI; without, it says so when it is one of several."""
    alone = {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0"}
    asked = [sys.executable, "-c", "import tracenorm; tracenorm.ranks()"]
    told = subprocess.run(asked, env={**os.environ, **alone}, capture_output=True, text=True, timeout=120)
    return "this build has no MPI" not in told.stderr


needs_mpi = pytest.mark.skipif(MPIRUN is None or not has_mpi(), reason="needs mpirun, and a package built with MPI")


def started(folder, script):
    """What becomes of a script in two processes."""
    file = folder / "script.py"
    file.write_text(textwrap.dedent(PROBLEM) + textwrap.dedent(script))
    patient = ["--mca", "mpi_yield_when_idle", "1"]  # on cores that others use, too
    command = [MPIRUN, "--oversubscribe", "--allow-run-as-root", *patient, "-n", "2", sys.executable, str(file)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=900)


def problem():
    space = {}
    exec(textwrap.dedent(PROBLEM), space)
    return space["Y"], space["options"]


def test_alone_there_is_one():
    everybody = tracenorm.ranks()
    assert (everybody.rank, everybody.size, everybody.is_first) == (0, 1, True)
    data, options = problem()
    alone, shared = tracenorm.solve(data, **options), tracenorm.solve(data, ranks=everybody, **options)
    assert np.array_equal(alone.left, shared.left) and alone.objective == shared.objective


def test_what_is_no_ranks_is_refused():
    with pytest.raises(TypeError, match="ranks = 2; it must be"):
        tracenorm.solve(np.eye(3), radius=1, ranks=2)


@needs_mpi
def test_all_get_one_answer(tmp_path):
    done = started(
        tmp_path,
        """
        result = tracenorm.solve(Y, ranks=everybody, **options)
        fitted = tracenorm.fit(Y, ranks=everybody, iterations=20, threads=1)
        kept = {"left": result.left, "right": result.right, "bounds": [result.objective, result.lower_bound]}
        np.savez(f"{everybody.rank}.npz", fitted=fitted.left, **kept)
        """,
    )
    assert done.returncode == 0, done.stderr
    answers = [np.load(tmp_path / f"{rank}.npz") for rank in range(2)]
    for answer in answers[1:]:
        assert all(np.array_equal(answer[name], answers[0][name]) for name in answers[0].files)
    data, options = problem()
    alone = tracenorm.solve(data, **options)
    objective, bound = answers[0]["bounds"]
    assert bound <= alone.objective and alone.lower_bound <= objective  # each proves something of the other
    assert objective == pytest.approx(alone.objective, rel=1e-4)  # the gap that both were asked for


@needs_mpi
def test_a_communicator_of_mpi4py(tmp_path):
    pytest.importorskip("mpi4py")
    done = started(
        tmp_path,
        """
        from mpi4py import MPI

        turned = MPI.COMM_WORLD.Split(0, -MPI.COMM_WORLD.rank)  # the last is the first
        for _ in range(2):
            result = tracenorm.solve(Y, ranks=turned, **options)
        assert turned.allgather(result.objective) == 2 * [result.objective] and result.status == "gap_reached"
        """,
    )
    assert done.returncode == 0, done.stderr


@needs_mpi
@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("everybody.rank == 1 and 1 / 0\ntracenorm.solve(Y, ranks=everybody, **options)", "ZeroDivisionError"),
        ("tracenorm.solve(Y, radius=60, threads=-everybody.rank, ranks=everybody)", "threads = -1"),
        (
            "def stop(it):\n    if it.k == 5 and everybody.rank:\n        raise OSError('lost')\n"
            "tracenorm.solve(Y, ranks=everybody, callback=stop, **options)",
            "OSError: lost",
        ),
        ("Y[0, 0] = everybody.rank\ntracenorm.solve(Y, ranks=everybody, **options)", "rank 1 was given other data"),
        ("tracenorm.solve(Y, radius=-1, ranks=everybody)", "radius = -1"),
    ],
)
def test_an_error_ends_all(tmp_path, script, message):
    done = started(tmp_path, script)
    assert done.returncode != 0
    assert done.stderr.count(message) == 1, done.stderr


@needs_mpi
def test_a_run_is_kept_once_and_goes_on(tmp_path):
    done = started(
        tmp_path,
        """
        options = {"radius": 60, "threads": 1, "method": "fwua", "iterations": 60, "ranks": everybody,
                   "checkpoint_every": 0, "checkpoint_passes": 80}
        whole = tracenorm.solve(Y, checkpoint="whole.npz", **options)
        tracenorm.solve(Y, checkpoint="run.npz", callback=lambda it: it.k >= 40, **options)
        assert tracenorm.solve(Y, checkpoint="run.npz", **options).objective == whole.objective
        """,
    )
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.glob("*.npz")) == []
