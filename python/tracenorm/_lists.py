"""Lists: what a model recommends, and what it finds similar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from . import _core
from ._data import LARGEST_INDEX, REAL, integer
from ._held_out import Entries, places

if TYPE_CHECKING:
    from ._result import Model


def recommend(model: Model, rows: Any, top: int, seen: Any, columns: Any, unknown: str) -> npt.NDArray[Any]:
    top = integer("top", top, 1, LARGEST_INDEX)
    if unknown not in ("error", "center"):
        raise ValueError(f"unknown = {unknown!r}; it must be 'error' or 'center'")
    asked = _all_ids(model, "row") if rows is None else np.atleast_1d(np.asarray(rows))
    where = np.arange(model.shape[0]) if rows is None else model._places(asked, "row")
    if unknown == "error" and (where < 0).any():
        raise KeyError(
            f"the model has no row {asked[where < 0].tolist()[0]!r}; unknown='center' lists the columns with the "
            "largest offsets for it"
        )
    columns_of, lengths = _core.best_lists(model._model, where, _seen_entries(model, seen, columns), top, 0)
    row = np.repeat(where, lengths)
    return _records(
        row=np.repeat(asked, lengths),
        place=np.arange(1, len(row) + 1) - np.repeat(np.cumsum(lengths) - lengths, lengths),
        column=_all_ids(model, "col")[columns_of],
        prediction=model._model.predict(row, columns_of),
    )


def similar(model: Model, row: Any, column: Any, top: int) -> npt.NDArray[Any]:
    if (row is None) == (column is None):
        raise ValueError("similar to what? give row=ID or column=ID")
    side: Literal["row", "col"] = "row" if column is None else "col"
    asked = row if column is None else column
    if np.ndim(asked) != 0:
        raise TypeError(f"{asked!r} is not one id; ask for one row or column at a time")
    top = integer("top", top, 1, LARGEST_INDEX)
    (place,) = model._places(np.asarray([asked]), side)
    if place < 0:
        raise KeyError(f"the model has no {'row' if side == 'row' else 'column'} {asked!r}")
    # Inner products of these are those of the rows (or columns) of the fitted matrix.
    vectors = (model.left if side == "row" else model.right) * model.values
    norms = np.linalg.norm(vectors, axis=1)
    if norms[place] == 0:
        raise ValueError(f"the fit says nothing about {asked!r} beyond its offset, so nothing is similar to it")
    told = norms > 0
    told[place] = False
    cosines = np.full(len(vectors), -np.inf)
    cosines[told] = np.clip(vectors[told] @ vectors[place] / (norms[told] * norms[place]), -1, 1)
    # The program's order: most similar first, ties by place.
    order = np.argsort(-cosines, kind="stable")[: min(top, int(told.sum()))]
    return _records(place=np.arange(1, len(order) + 1), id=_all_ids(model, side)[order], similarity=cosines[order])


def _all_ids(model: Model, side: Literal["row", "col"]) -> npt.NDArray[Any]:
    """Ids as users know them: text where there are names, positions otherwise."""
    names = model.row_names if side == "row" else model.col_names
    return np.array(names, dtype=object) if names else np.arange(model.shape[0 if side == "row" else 1])


def _seen_entries(model: Model, seen: Any, columns: Any) -> Entries:
    """What is in `seen`, of the rows and columns of the model."""
    if seen is None:
        return np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, REAL)
    rows, cols, values = places(seen, model, columns, "seen")
    known = (rows >= 0) & (rows < model.shape[0]) & (cols >= 0) & (cols < model.shape[1])
    return rows[known], cols[known], values[known]


def _records(**fields: npt.NDArray[Any]) -> npt.NDArray[Any]:
    out = np.empty(len(next(iter(fields.values()))), dtype=[(name, column.dtype) for name, column in fields.items()])
    for name, column in fields.items():
        out[name] = column
    return out
