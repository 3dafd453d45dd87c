"""The package as a whole: version, imports, typing, tables."""

import importlib.metadata
import importlib.resources
import inspect
import subprocess
import sys

import pytest

import tracenorm

from .conftest import ROOT


def test_version_comes_from_the_one_file():
    assert tracenorm.__version__ == (ROOT / "VERSION").read_text().strip()
    assert importlib.metadata.version("tracenorm") == tracenorm.__version__


def test_the_installed_package_is_tested():
    assert ROOT / "python" / "tracenorm" not in map(type(ROOT), tracenorm.__path__)


def test_imports_with_numpy_and_scipy_alone():
    script = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("sklearn", "pandas", "tqdm", "matplotlib"):
            raise ImportError("not here: " + name)
sys.meta_path.insert(0, Refuse())
import numpy, tracenorm
result = tracenorm.solve(numpy.outer([1., 2.], [3., 4., 5.]), radius=30, iterations=20, progress=True)
assert result.shape == (2, 3)
try:
    tracenorm.RobustImputer
except ImportError as error:
    assert "scikit-learn" in str(error)
else:
    raise AssertionError("an estimator without scikit-learn")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_public_name_is_there_and_documented():
    for name in tracenorm.__all__:
        assert getattr(tracenorm, name).__doc__, name
    assert set(tracenorm.__all__) <= set(dir(tracenorm))
    with pytest.raises(AttributeError, match="no attribute 'slove'"):
        tracenorm.slove  # noqa: B018


def test_losses_and_methods_come_from_the_library():
    losses = tracenorm.losses()
    assert losses["huber"]["parameter"] and losses["absolute"]["parameter"] is None
    methods = tracenorm.methods()
    assert methods["fwua"]["bounded"] and not methods["rlrmc"]["bounded"]
    assert methods["sccg"]["options"]["mu"]["default"] == 0.01


def test_the_typed_keywords_are_the_librarys():
    options = {name for method in tracenorm.methods().values() for name in method["options"]}
    assert set(tracenorm.MethodOptions.__annotations__) == options
    arguments = set(inspect.signature(tracenorm.fit).parameters) - {"options"}
    of_data = {"data", "weights", "shape", "columns", "validation", "certificate"}
    of_one_run = {"checkpoint", "checkpoint_every", "checkpoint_passes", "ranks"}
    assert set(tracenorm.FitOptions.__annotations__) == options | (arguments - of_data - of_one_run)


@pytest.mark.parametrize("file", ["py.typed", "_core.pyi"])
def test_is_typed(file):
    assert importlib.resources.files("tracenorm").joinpath(file).is_file()


def test_mypy_accepts_the_package_and_a_user(tmp_path):
    pytest.importorskip("mypy")
    user = tmp_path / "user.py"
    user.write_text(
        "import numpy as np\nimport tracenorm\n"
        "result: tracenorm.Result = tracenorm.solve(np.eye(3), radius=2.0, loss=('huber', 0.5))\n"
        "more: tracenorm.Result = result.fold_in(np.eye(3))\n"
        "gap: float = result.relative_gap\nleft: 'np.typing.NDArray[np.float64]' = result.left\n"
        "def stop(iteration: tracenorm.Iteration) -> bool:\n    return iteration.relative_gap < 0.1\n"
        "tracenorm.solve(np.eye(3), radius=2.0, callback=stop)\n"
    )
    config = str(ROOT / "pyproject.toml")
    for target in (["-p", "tracenorm"], [str(user)]):
        command = [sys.executable, "-m", "mypy", "--config-file", config, *target]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stdout
    user.write_text(
        "import numpy as np\nimport tracenorm\n"
        "tracenorm.solve(np.eye(3), radius='wide')\n"
        "tracenorm.solve(np.eye(3), radius=2.0, oracle_tolerence=0.1)\n"
        "tracenorm.fit(np.eye(3), mu='small')\n"
        "tracenorm.evaluate(np.eye(3), fold=3)\n"
        "tracenorm.evaluate(np.eye(3), radius=2.0, width='paper')\n"
        "tracenorm.MatrixCompletion(method_options={'stepp': 'measured'})\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", config, str(user)], capture_output=True, text=True, cwd=tmp_path
    )
    found = [int(line.split(":")[1]) for line in done.stdout.splitlines() if " error: " in line]
    assert found == [3, 4, 5, 6, 8], done.stdout
