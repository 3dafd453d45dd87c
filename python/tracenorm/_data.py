"""From what Python users have (SciPy matrices, arrays, frames, triplets) to the library's observations.

Arrays whose types fit are seen in place; others are converted once.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from . import _core
from ._ids import as_ids, number_ids

REAL: np.dtype[Any] = np.dtype(_core.real)
"""The type in which entries are kept; sums and factors are double."""

LARGEST_INDEX = 2**31 - 1


def number(name: str, value: Any) -> float:
    """`value` as a float, or a TypeError that names the argument."""
    if isinstance(value, (str, bytes)) or np.ndim(value) != 0:
        raise TypeError(f"{name} = {value!r}; it must be a number")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} = {value!r}; it must be a number") from None


def integer(name: str, value: Any, lower: int, upper: int) -> int:
    """`value` as an int from `lower` to `upper`."""
    try:
        whole = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} = {value!r}; it must be an integer") from None
    if not lower <= whole <= upper:
        raise ValueError(f"{name} = {whole}; it must be an integer from {lower} to {upper}")
    return whole


def real_array(values: Any, name: str) -> npt.NDArray[Any]:
    """The values in the library's entry type, contiguous; the array itself where it is that already."""
    array = np.asarray(values)
    kind = array.dtype.kind
    if kind == "O":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError):
            raise TypeError(f"{name} holds objects that are not numbers; give an array of floats") from None
    elif kind not in "fiub":
        raise TypeError(f"{name} has dtype {array.dtype}; it must hold real numbers")
    with np.errstate(over="ignore"):
        result = np.ascontiguousarray(array, dtype=REAL)
    if result.dtype != array.dtype and array.dtype.kind == "f" and np.isinf(result).sum() > np.isinf(array).sum():
        largest = np.max(np.abs(array[np.isfinite(array)]))
        raise ValueError(f"{name} holds {largest:g}, too large for {REAL}, in which entries are kept; rescale the data")
    return result


def index_array(values: Any, name: str) -> npt.NDArray[np.int32]:
    """Positions counted from 0."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} dimensions; it must be a one-dimensional array")
    if array.dtype.kind == "f" and array.size and np.isfinite(array).all() and (array == np.floor(array)).all():
        array = array.astype(np.int64)
    if array.size == 0:
        array = array.astype(np.int32)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} has dtype {array.dtype}; positions must be integers (for other ids use a frame)")
    if array.size and array.min() < 0:
        raise ValueError(f"{name} holds {array.min()}; positions count from 0")
    if array.size and array.max() >= LARGEST_INDEX:
        raise ValueError(f"{name} holds {array.max()}; a matrix has at most {LARGEST_INDEX} rows and columns")
    return np.ascontiguousarray(array, dtype=np.int32)


# A kind of preparation, and the name of the loss it is for (robust losses get robust offsets; empty: a function).
Units = tuple[str, str]


@dataclass
class Table:
    """Entries with the names of their rows and columns; names are empty where positions are the names."""

    rows: npt.NDArray[np.int32]
    cols: npt.NDArray[np.int32]
    values: npt.NDArray[Any]
    shape: tuple[int, int]
    weights: npt.NDArray[Any] | None = None
    row_names: list[str] = field(default_factory=list)
    col_names: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.values)

    def to_data(self, units: Units) -> _core.Data:
        return _core.Data.from_entries(*self.shape, self.rows, self.cols, self.values, self.weights, *units)


@dataclass
class Prepared:
    """Observations with names."""

    data: _core.Data
    row_names: list[str] = field(default_factory=list)
    col_names: list[str] = field(default_factory=list)


def is_frame(data: Any) -> bool:
    return hasattr(data, "columns") and hasattr(data, "iloc")


def is_wide(frame: Any, columns: Any) -> bool:
    """Whether a frame is the matrix itself: it is said to be, or its index and columns have names, as pivot gives them.

    (After reset_index the columns' name is still there, and the ids of the rows are among the columns.)
    """
    if columns is None:
        return frame.columns.name is not None and frame.index.name is not None
    return isinstance(columns, str) and columns == "all"


def _checked_shape(shape: Any) -> tuple[int, int]:
    try:
        rows, cols = shape
    except (TypeError, ValueError):
        raise TypeError(f"shape = {shape!r}; it must be a pair (rows, columns)") from None
    return integer("shape[0]", rows, 1, LARGEST_INDEX), integer("shape[1]", cols, 1, LARGEST_INDEX)


def _checked_weights(weights: Any, shape: tuple[int, ...]) -> npt.NDArray[Any] | None:
    if weights is None:
        return None
    array = real_array(weights, "weights")
    if array.shape != shape:
        raise ValueError(f"weights has shape {array.shape}; it must have the shape {shape} of the values")
    return array


def table_from_arrays(rows: Any, cols: Any, values: Any, shape: Any = None, weights: Any = None) -> Table:
    row, col, value = index_array(rows, "rows"), index_array(cols, "cols"), real_array(values, "values")
    if value.ndim != 1 or not len(row) == len(col) == len(value):
        raise ValueError(
            f"{len(row)} rows, {len(col)} columns and values of shape {value.shape}; they must be equally long"
        )
    if len(value) == 0:
        raise ValueError("no entry is observed; there must be at least one")
    size = (int(row.max()) + 1, int(col.max()) + 1) if shape is None else _checked_shape(shape)
    return Table(row, col, value, size, _checked_weights(weights, value.shape))


def table_from_frame(frame: Any, columns: Any = None, weights: Any = None) -> Table:
    """A pandas frame of triplets: row id, column id, value."""
    if columns is None:
        if len(frame.columns) != 3:
            raise ValueError(
                f"a frame of triplets has three columns (row, column, value); this one has {len(frame.columns)}: "
                "say which with columns=(ROW, COLUMN, VALUE), or columns='all' if the frame is itself the matrix"
            )
        columns = tuple(frame.columns)
    try:
        row_name, col_name, value_name = columns
    except (TypeError, ValueError):
        raise TypeError(f"columns = {columns!r}; it must be three names (ROW, COLUMN, VALUE), or 'all'") from None
    for name in (row_name, col_name, value_name):
        if name not in frame.columns:
            raise ValueError(f"columns names {name!r}; the frame has {', '.join(map(repr, frame.columns))}")
    if isinstance(weights, str):
        weights = frame[weights]
    values = real_array(frame[value_name], f"column {value_name!r}")
    if len(values) == 0:
        raise ValueError("the frame is empty; there must be at least one row")
    rows, row_names = number_ids(frame[row_name], f"column {row_name!r}")
    cols, col_names = number_ids(frame[col_name], f"column {col_name!r}")
    shape = (len(row_names), len(col_names))
    return Table(rows, cols, values, shape, _checked_weights(weights, values.shape), row_names, col_names)


def matrix_from_frame(frame: Any) -> tuple[npt.NDArray[Any], list[str], list[str]]:
    """A pandas frame that is the matrix, with the ids of its rows (the index) and of its columns."""
    for name, column in frame.items():
        if getattr(column.dtype, "kind", "O") not in "fiub":
            raise TypeError(
                f"column {name!r} has dtype {column.dtype}; a frame that is the matrix holds numbers alone; "
                "its index names the rows (see set_index)"
            )
    value = real_array(frame.to_numpy(dtype=np.float64, na_value=np.nan), "data")
    return value, _unique_names(frame.index, "index"), _unique_names(frame.columns, "columns")


def _unique_names(labels: Any, what: str) -> list[str]:
    names = [str(item) for item in as_ids(labels, f"the frame's {what}").tolist()]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the frame's {what} holds {twice!r} twice; ids must be different")
    return names


def _require_two_dimensions(matrix: Any) -> None:
    if matrix.ndim != 2:
        raise ValueError(f"data is a sparse array of {matrix.ndim} dimension(s); it must have two")


def _with_holes(matrix: Any) -> npt.NDArray[Any]:
    """An array with NaN for what is missing. What is under a mask is nobody's business, whatever it is."""
    if isinstance(matrix, np.ma.MaskedArray):
        matrix = np.where(np.ma.getmaskarray(matrix), np.nan, matrix.data)
    return real_array(matrix, "data")


def _from_sparse(matrix: Any, weights: Any, units: Units) -> _core.Data:
    _require_two_dimensions(matrix)
    if matrix.format == "coo":
        return table_from_arrays(matrix.row, matrix.col, matrix.data, matrix.shape, weights).to_data(units)
    if weights is not None and matrix.format != "csr":
        raise ValueError(f"weights go with the values of a CSR or COO matrix in their order; data is {matrix.format}")
    csr = matrix.tocsr()
    begin = np.ascontiguousarray(csr.indptr, dtype=np.int64)
    stored = min(len(csr.indices), len(csr.data))
    if begin[0] != 0 or begin[-1] > stored or (np.diff(begin) < 0).any():
        raise ValueError(f"data.indptr must ascend from 0 to at most the {stored} entries that are stored")
    if not csr.has_sorted_indices:
        if weights is not None:
            raise ValueError("weights need a CSR matrix with sorted indices; call data.sort_indices() first")
        csr = csr.sorted_indices()
    count = int(begin[-1])
    value = real_array(csr.data[:count], "data")
    col = index_array(csr.indices[:count], "data.indices")
    rows, cols = _checked_shape(csr.shape)
    weight = _checked_weights(weights, value.shape)
    return _core.Data.from_compressed_rows(rows, cols, begin, col, value, weight, *units)


def _from_matrix(matrix: Any, weights: Any, units: Units, dense: bool) -> _core.Data:
    value = _with_holes(matrix)
    if value.ndim != 2:
        raise ValueError(f"data has {value.ndim} dimension(s); a matrix has two (triplets are a tuple of three arrays)")
    rows, cols = _checked_shape(value.shape)
    weight = _checked_weights(weights, value.shape)
    observed = ~np.isnan(value)
    if dense or 2 * np.count_nonzero(observed) >= value.size:
        return _core.Data.from_matrix(value, weight, *units)
    # Mostly holes: passes over the observed entries alone are cheaper.
    begin = np.concatenate([[0], np.cumsum(observed.sum(axis=1, dtype=np.int64))])
    col = np.nonzero(observed)[1].astype(np.int32)
    weight = None if weight is None else weight[observed]
    return _core.Data.from_compressed_rows(rows, cols, begin, col, value[observed], weight, *units)


def is_triplets(data: Any) -> bool:
    return isinstance(data, tuple) and len(data) == 3


def as_table(data: Any, *, shape: Any = None, columns: Any = None, weights: Any = None) -> Table:
    """Any kind of data as a list of its observed entries."""
    row_names: list[str] = []
    col_names: list[str] = []
    if is_frame(data):
        if not is_wide(data, columns):
            return table_from_frame(data, columns, weights)
        data, row_names, col_names = matrix_from_frame(data)
    if is_triplets(data):
        rows, cols, values = data
        return table_from_arrays(rows, cols, values, shape, weights)
    if scipy.sparse.issparse(data):
        _require_two_dimensions(data)
        coo = data.tocoo()
        return table_from_arrays(coo.row, coo.col, coo.data, coo.shape, weights)
    value = _with_holes(data)
    if value.ndim != 2:
        raise ValueError(f"data has {value.ndim} dimension(s); a matrix has two")
    rows, cols = np.nonzero(~np.isnan(value))
    weight = _checked_weights(weights, value.shape)
    seen = None if weight is None else weight[rows, cols]
    table = table_from_arrays(rows, cols, value[rows, cols], value.shape, seen)
    table.row_names, table.col_names = row_names, col_names
    return table


def as_prepared(data: Any, *, shape: Any, columns: Any, weights: Any, units: Units, dense: bool) -> Prepared:
    """Any kind of data as observations in prepared units. `dense`: the problem is dense anyway."""
    if columns is not None and not is_frame(data):
        raise ValueError("columns names the columns of a pandas frame; data is none")
    if shape is not None and not is_triplets(data):
        raise ValueError("shape belongs to three arrays (rows, columns, values); other data have their own")
    if is_frame(data) and is_wide(data, columns):
        matrix, row_names, col_names = matrix_from_frame(data)
        return Prepared(_from_matrix(matrix, weights, units, dense), row_names, col_names)
    if is_frame(data) or is_triplets(data):
        table = as_table(data, shape=shape, columns=columns, weights=weights)
        return Prepared(table.to_data(units), table.row_names, table.col_names)
    if scipy.sparse.issparse(data):
        return Prepared(_from_sparse(data, weights, units))
    return Prepared(_from_matrix(data, weights, units, dense))
