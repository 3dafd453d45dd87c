"""Rows that came after the fit."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._held_out import ids_and_values, positions
from ._ids import number_ids
from ._loss import losses

if TYPE_CHECKING:
    from ._result import Model


def fold_in(model: Model, data: Any, columns: Any) -> _core.Model:
    if model.loss.split(":")[0] not in losses():
        raise ValueError(f"the loss {model.loss!r} is a function of Python; rows can be folded into a named one")
    row_ids, col_ids, values = ids_and_values(data, model, columns, "data")
    count = model.shape[0]
    if model.row_names:
        rows, names = number_ids(row_ids, "data[0]")
        known = model._places(np.array(names, dtype=object), "row")
    else:
        rows, names = positions(row_ids, "data[0]"), []
        known = np.full(rows.max(initial=-1) + 1, -1)
    if model.col_names:
        cols = model._places(np.asarray(col_ids), "col")
    else:
        cols = positions(col_ids, "data[1]").astype(np.int64)
        cols[cols >= model.shape[1]] = -1
    _tell_of_strangers(int(np.count_nonzero(cols < 0)), len(cols))
    places = np.where(known < 0, count + np.cumsum(known < 0) - 1, known).astype(np.int32)
    folded = model._model.fold_in(model.loss, (rows, cols.astype(np.int32), values), places)
    if names:
        folded.row_names = model.row_names + [name for name, place in zip(names, known, strict=True) if place < 0]
    about = json.loads(folded.metadata)
    about["folded_in"] = about.get("folded_in", 0) + len(places)
    folded.metadata = json.dumps(about)
    return folded


def _tell_of_strangers(strangers: int, count: int) -> None:
    if strangers == count:
        raise ValueError("no entry has a column of the model; rows can be fitted to columns that it knows")
    if strangers > 0:
        warnings.warn(
            f"{strangers} of {count} entries have a column that the model does not have; they tell about the offset of "
            "their row alone",
            UserWarning,
            stacklevel=4,
        )
