"""What the tests share: small problems with known answers, and the program to compare with."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
from typing import Any

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def optima() -> list[dict[str, Any]]:
    """Small problems with optima from a cone solver that shares no code with the library."""
    return json.loads((ROOT / "tests" / "fixtures" / "optima.json").read_text())["constrained"]


@pytest.fixture
def corrupted() -> dict[str, Any]:
    """A 60 x 40 matrix of rank 2, half of it seen, a tenth of that far off."""
    rng = np.random.default_rng(7)
    truth = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 40))
    rows, cols = np.nonzero(rng.random(truth.shape) < 0.5)
    values = truth[rows, cols] + np.where(rng.random(len(rows)) < 0.1, 10 * rng.normal(size=len(rows)), 0)
    return {"truth": truth, "rows": rows, "cols": cols, "values": values.astype(np.float32), "shape": truth.shape}


@pytest.fixture(scope="session")
def program() -> str:
    """The program of the same build: TRACENORM_PROGRAM, or build/bin/tracenorm."""
    path = os.environ.get("TRACENORM_PROGRAM") or str(ROOT / "build" / "bin" / "tracenorm")
    found = shutil.which(path)
    if found is None:
        pytest.skip(f"no program at {path}: set TRACENORM_PROGRAM to compare with it")
    return found
