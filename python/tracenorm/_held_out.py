"""Held-out entries, by the names of the data they belong to."""

from __future__ import annotations

import warnings
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ._data import as_table, index_array, is_frame, real_array
from ._ids import find_ids

Entries = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[Any]]


class Named(Protocol):
    """Data with the names of rows and columns; either side is empty where positions are the names."""

    @property
    def row_names(self) -> list[str]: ...
    @property
    def col_names(self) -> list[str]: ...


def ids_and_values(entries: Any, names: Named, columns: Any, what: str) -> tuple[Any, Any, npt.NDArray[Any]]:
    """Row ids, column ids and values; ids are positions where neither the entries nor the data have names."""
    if isinstance(entries, (tuple, list)) and len(entries) == 3:
        rows, cols = entries[0], entries[1]
        values = real_array(entries[2], f"{what}[2]")
        if not len(rows) == len(cols) == values.size:
            raise ValueError(f"{what} has {len(rows)} rows, {len(cols)} columns and {values.size} values")
    elif is_frame(entries) or (hasattr(entries, "shape") and not (names.row_names or names.col_names)):
        table = as_table(entries, columns=columns if is_frame(entries) else None)
        rows, cols, values = table.rows, table.cols, table.values
        if table.row_names:
            rows, cols = np.array(table.row_names, object)[rows], np.array(table.col_names, object)[cols]
    else:
        raise TypeError(f"{what} must be three arrays (rows, columns, values), or a frame")
    return rows, cols, values


def places(entries: Any, names: Named, columns: Any, what: str) -> Entries:
    """The entries by the positions of the data; -1 for a row or column that the data do not have."""
    rows, cols, values = ids_and_values(entries, names, columns, what)
    return _places_of(rows, names.row_names, f"{what}[0]"), _places_of(cols, names.col_names, f"{what}[1]"), values


def _places_of(ids: Any, names: list[str], what: str) -> npt.NDArray[np.int32]:
    """Of one side: data may have names of their rows and none of their columns."""
    if not names:
        return positions(ids, what)
    return find_ids(ids, {name: k for k, name in enumerate(names)}, what).astype(np.int32)


def held_out(entries: Any, names: Named, columns: Any) -> Entries | None:
    """Validation entries; those whose row or column the data do not have cannot help to choose, and are left out."""
    if entries is None:
        return None
    rows, cols, values = places(entries, names, columns, "validation")
    known = (rows >= 0) & (cols >= 0)
    if not known.any():
        raise ValueError("no validation entry has both a row and a column of the data; their ids must be the data's")
    if not known.all():
        warnings.warn(
            f"{np.count_nonzero(~known)} of {len(known)} validation entries have a row or column that the data do not "
            "have; they are left out",
            UserWarning,
            stacklevel=3,
        )
    return rows[known], cols[known], np.ascontiguousarray(values[known])


def positions(ids: Any, what: str) -> npt.NDArray[np.int32]:
    """Names that are whole numbers, as a frame's, are positions where the data have no names."""
    array = np.asarray(ids)
    if array.dtype.kind == "O":
        try:
            array = np.array([int(item) for item in array], dtype=np.int64)
        except ValueError:
            raise TypeError(f"{what} holds ids that are no positions; the data have positions from 0 as ids") from None
    return index_array(array, what)
