"""Examples run, the guide's code runs, and the reference knows every argument."""

import doctest
import importlib
import inspect
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import tracenorm

from .conftest import ROOT

GUIDE = (ROOT / "docs" / "python.md").read_text()
EXAMPLES = sorted((ROOT / "examples" / "python").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_examples_run_and_leave_their_picture(example, tmp_path):
    pytest.importorskip("matplotlib")
    done = subprocess.run([sys.executable, str(example), str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (picture,) = tmp_path.iterdir()
    assert picture.name == f"python-{example.stem}.png"
    committed = ROOT / "docs" / picture.name
    assert committed.name in GUIDE and 10_000 < committed.stat().st_size < 150_000


def test_the_guides_code_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 14
    pytest.importorskip("matplotlib").use("agg")
    names: dict[str, object] = {}
    said = []
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
        said.append(capsys.readouterr().out)
    status, gap = said[1].split()[:2]
    assert status == "gap_reached" and float(gap) <= 0.01
    hole, outlier = map(float, said[1].split("\n")[2:4])
    assert hole == pytest.approx(1.5, abs=0.15) and outlier == pytest.approx(1.0, abs=0.2)
    assert (tmp_path / "run.png").stat().st_size > 10_000
    assert "coverage@5" in "".join(said)
    assert "interrupted" in said[4] and said[6].split() == ["True", "True"] and said[8].split() == ["0"]


def test_the_code_of_the_how_to_runs(tmp_path, monkeypatch):
    """Its shell commands are run by tests/docs."""
    pandas = pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(ROOT / "tests" / "docs")
    importlib.import_module("how_to_data").make(tmp_path)
    page = (ROOT / "docs" / "how-to.md").read_text()
    names = {
        "tracenorm": tracenorm, "np": np, "ratings": pandas.read_csv("ratings.csv"), "matrix": np.load("noisy.npy"),
        "frame": pandas.read_csv("export.csv")[:-1], "newcomers": pandas.read_csv("newcomers.csv"),
        "samples": pandas.read_csv("samples.csv"), "Y": np.outer([1.0, 2.0, 3.0], [1.0, -1.0, 2.0, 0.5]),
    }  # fmt: skip
    names["matrix"] = (names["matrix"] + names["matrix"].T) / 2
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 11
    for block in blocks:
        exec(compile(block, "docs/how-to.md", "exec"), names)


def test_the_packages_own_example():
    assert doctest.testmod(tracenorm).failed == 0 < doctest.testmod(tracenorm).attempted


def test_the_reference_knows_every_argument_and_name():
    for function in (tracenorm.solve, tracenorm.fit, tracenorm.evaluate):
        for name in inspect.signature(function).parameters:
            assert name == "options" or f"`{name}`" in GUIDE, f"{function.__name__}: {name}"
    for name in tracenorm.__all__:
        assert name == "__version__" or name in GUIDE, name
    for cls in (tracenorm.RobustImputer, tracenorm.MatrixCompletion, tracenorm.SparseLowRankCovariance):
        for name in inspect.signature(cls).parameters:
            assert f"`{name}`" in GUIDE, f"{cls.__name__}: {name}"
    for name in dir(tracenorm.Result):
        if not name.startswith("_"):
            assert f"`{name}" in GUIDE, name
    result = tracenorm.solve([[1.0, 2.0]], radius=1.0, iterations=1)
    for name in (*result.trace.dtype.names, *(key for key in vars(result) if not key.startswith("_"))):
        assert f"`{name}`" in GUIDE, name


def test_links_of_the_pages_lead_somewhere():
    for page in ("python.md", "choosing.md"):
        text = (ROOT / "docs" / page).read_text()
        for target in re.findall(r"\]\(([^)#]+)", text):
            assert (pathlib.Path(ROOT / "docs") / target).exists(), f"{page}: {target}"


def test_the_code_is_tidy():
    pytest.importorskip("ruff")
    for command in (
        ["check", "python", "examples", "experiments", "packaging", "tests", "tools"],
        ["format", "--check", "python", "examples/python"],
    ):
        done = subprocess.run([sys.executable, "-m", "ruff", *command], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout
