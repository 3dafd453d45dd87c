"""Checking certificates."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._certificate import Certificate
from ._data import REAL, as_table, integer
from ._ids import find_ids
from ._result import Model, load


@dataclass(frozen=True)
class Verification:
    """What came of checking a certificate; true unless it is refuted. ``print`` shows every step."""

    verdict: str
    """One of "proved", "probable" (proved up to ``failure_probability``), "refuted"."""
    failure_probability: float
    steps: list[tuple[str, bool, str]]
    """Name, whether it holds, what it says; the last one is where a refuted claim failed."""
    trace_norm: float
    """Proved: the trace norm of the answer is at most this. NaN, like the others, beyond a step that failed."""
    objective: float
    """Proved: the answer's objective is at most this."""
    norm: float
    """Proved: the largest singular value of the slopes is at most this."""
    lower_bound: float
    """Proved: every matrix of the ball has at least this objective."""
    relative_gap: float
    text: str

    def __bool__(self) -> bool:
        return self.verdict != "refuted"

    def __str__(self) -> str:
        return self.text.rstrip("\n")

    def __repr__(self) -> str:
        if not self:
            return f"<tracenorm.Verification: refuted at '{self.steps[-1][0]}': {self.steps[-1][2]}>"
        return (
            f"<tracenorm.Verification: {self.verdict}, objective at most {self.objective:.6g}, optimum at least "
            f"{self.lower_bound:.6g}>"
        )


def verify(
    data: Any,
    model: Model | str | os.PathLike[str],
    certificate: Certificate | str | os.PathLike[str] | None = None,
    *,
    weights: Any = None,
    shape: tuple[int, int] | None = None,
    columns: tuple[Any, Any, Any] | None = None,
    threads: int = 0,
    seed: int | None = None,
    largest_gram: int = 20000,
) -> Verification:
    """Checks from scratch what a certificate claims of a model: with code of its own, in double precision, with every
    rounding error bounded.

    Parameters
    ----------
    data
        What was solved, in any form that ``solve`` takes; entries that the certificate is not about (held out ones) do
        not matter.
    model
        The answer: a result, a model, or the file of one.
    certificate
        A ``Certificate`` or the file of one. None: the result's own.
    weights, shape, columns
        As in ``solve``.
    threads
        0: all cores. The verdict does not depend on it.
    seed, largest_gram
        Up to ``largest_gram`` rows or columns (whichever are fewer) the largest singular value of the slopes is bounded
        by a factorisation. Above, a random start decides, wrongly with a stated probability; None takes its seed from
        the system.
    """
    answer = model if isinstance(model, Model) else load(model)
    if certificate is None:
        certificate = getattr(answer, "certificate", None)
        if certificate is None:
            raise ValueError("there is no certificate; solve with certificate=True, or give one")
    claim = certificate if isinstance(certificate, Certificate) else Certificate.load(certificate)
    if shape is None and isinstance(data, tuple):
        shape = answer.shape
    table = as_table(data, shape=shape, columns=columns, weights=weights)
    rows: npt.NDArray[Any] = table.rows
    cols: npt.NDArray[Any] = table.cols
    if table.row_names and answer.row_names:
        rows = _places(table.row_names, answer.row_names, "rows")[rows]
        cols = _places(table.col_names, answer.col_names, "columns")[cols]
    known = (rows >= 0) & (rows < answer.shape[0]) & (cols >= 0) & (cols < answer.shape[1])
    kept = [np.ascontiguousarray(array[known]) for array in (rows, cols, table.values)]
    about = _core.verify(
        claim._claim,
        answer._model,
        kept[0].astype(np.int32),
        kept[1].astype(np.int32),
        kept[2].astype(REAL),
        None if table.weights is None else np.ascontiguousarray(table.weights[known]),
        integer("threads", threads, 0, 4096),
        None if seed is None else integer("seed", seed, 0, 2**63 - 1),
        integer("largest_gram", largest_gram, 0, 10**5),
    )
    return Verification(**about)


def _places(names: list[str], known: list[str], what: str) -> npt.NDArray[np.int64]:
    """Where the model has these names; -1 where it has not."""
    return find_ids(np.asarray(names, dtype=object), {name: k for k, name in enumerate(known)}, what)


__all__ = ["Verification", "verify"]
