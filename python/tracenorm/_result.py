"""Models and results."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _core, _html
from ._certificate import Certificate
from ._fold_in import fold_in
from ._held_out import places
from ._ids import find_ids
from ._lists import recommend, similar
from ._plot import plot

if TYPE_CHECKING:
    from typing_extensions import Self

Floats: TypeAlias = npt.NDArray[np.float64]


def _nan_if_none(value: Any) -> float:
    return float("nan") if value is None else float(value)


class Model:
    """A low-rank matrix ``left @ diag(values) @ right.T`` with the names of its rows and columns and its units.

    The factors are a thin singular value decomposition in the units the problem was solved in (``preparation``);
    predictions are in the units of the data. ``load`` reads what ``save`` or the program's ``--model`` wrote.
    """

    def __init__(self, model: _core.Model) -> None:
        self._model = model
        self._row_index: dict[str, int] | None = None
        self._col_index: dict[str, int] | None = None
        self._about: dict[str, Any] = json.loads(model.metadata)

    # ---- the matrix

    @property
    def left(self) -> Floats:
        """Left singular vectors, one a column (read-only)."""
        return self._model.left

    @property
    def values(self) -> Floats:
        """Singular values, descending (read-only)."""
        return self._model.values

    @property
    def right(self) -> Floats:
        """Right singular vectors, one a column (read-only)."""
        return self._model.right

    @property
    def shape(self) -> tuple[int, int]:
        return self._model.shape

    @property
    def rank(self) -> int:
        return len(self.values)

    @property
    def trace_norm(self) -> float:
        """Sum of the singular values, in the units the problem was solved in."""
        return float(self.values.sum())

    @property
    def preparation(self) -> str:
        """How the data were changed before solving: "none", "center", "zscore", ..."""
        return self._model.preparation

    @property
    def row_names(self) -> list[str]:
        """The ids of the rows as text; empty where positions are the ids."""
        return self._model.row_names

    @property
    def col_names(self) -> list[str]:
        """The ids of the columns as text; empty where positions are the ids."""
        return self._model.col_names

    # ---- how it was found

    @property
    def metadata(self) -> dict[str, Any]:
        """What a saved model says about its making: method, loss, penalty, radius, status, seed, version."""
        return dict(self._about)

    @property
    def loss(self) -> str:
        return str(self._about.get("loss", ""))

    @property
    def penalty(self) -> str:
        return str(self._about.get("penalty", ""))

    @property
    def radius(self) -> float:
        """The bound on the trace norm; NaN for methods without one."""
        return _nan_if_none(self._about.get("radius"))

    @property
    def objective(self) -> float:
        return _nan_if_none(self._about.get("objective"))

    @property
    def lower_bound(self) -> float:
        """Certified: no matrix of the ball has a smaller objective. Minus infinity when nothing was certified."""
        bound = self._about.get("lower_bound")
        return float("-inf") if bound is None else float(bound)

    @property
    def relative_gap(self) -> float:
        """(objective - lower_bound) / abs(lower_bound): at most this far from the optimum."""
        if not np.isfinite(self.lower_bound):
            return float("inf")
        return max(0.0, self.objective - self.lower_bound) / max(abs(self.lower_bound), float(np.finfo(float).tiny))

    @property
    def status(self) -> str:
        """Why the run ended: "gap_reached", "iteration_limit", "time_limit", "interrupted", "optimal", ..."""
        return str(self._about.get("status", ""))

    @property
    def method(self) -> str:
        return str(self._about.get("method", ""))

    # ---- what it is for

    def predict(
        self,
        rows: Any,
        cols: Any,
        unknown: Literal["error", "center", "nan"] = "error",
        interval: float | None = None,
    ) -> Any:
        """The entries at the given places, in the units of the data.

        Where the model has names (data from a frame), rows and columns are ids; otherwise positions from 0. The two
        are broadcast against each other; two scalars give a float. An id that the model does not know is a KeyError,
        or, by `unknown`, gets the center of the training data (with the offset of the side that is known, where there
        are offsets) or NaN.

        With ``interval=0.9`` the answer is three arrays: predictions, and the lower and upper ends of intervals that
        hold nine tenths of entries to come, if they come as those that were held out.
        """
        if interval is not None and not 0 < interval < 1:
            raise ValueError(f"interval = {interval!r}; it must be between 0 and 1")
        if unknown not in ("error", "center", "nan"):
            raise ValueError(f"unknown = {unknown!r}; it must be 'error', 'center' or 'nan'")
        row_array, col_array = np.broadcast_arrays(np.asarray(rows), np.asarray(cols))
        row = self._places(row_array.ravel(), "row")
        col = self._places(col_array.ravel(), "col")
        known = (row >= 0) & (col >= 0)
        if unknown == "error" and not known.all():
            k = int(np.argmin(known))
            side, asked = ("row", row_array) if row[k] < 0 else ("column", col_array)
            raise KeyError(
                f"the model has no {side} {asked.ravel().tolist()[k]!r}; unknown='center' predicts the center for it"
                + (", and fold_in fits it to entries of its own" if side == "row" else "")
            )
        out = self._model.predict(row, col)
        if unknown == "nan":
            out[~known] = np.nan

        def shaped(values: Any) -> Any:
            return float(values[0]) if row_array.ndim == 0 else values.reshape(row_array.shape)

        if interval is None:
            return shaped(out)
        lower, upper = self._model.intervals(interval, out, row, col)
        return shaped(out), shaped(lower), shaped(upper)

    def _places(self, ids: npt.NDArray[Any], side: Literal["row", "col"]) -> npt.NDArray[np.int64]:
        names = self.row_names if side == "row" else self.col_names
        if not names:
            if ids.size and ids.dtype.kind not in "iu":
                raise TypeError(f"{side}s has dtype {ids.dtype}; this model's rows and columns are positions from 0")
            places = ids.astype(np.int64)
            count = self.shape[0 if side == "row" else 1]
            outside = (places < 0) | (places >= count)
            if outside.any():
                raise IndexError(f"{side} {places[outside][0]} is not in 0..{count - 1}")
            return places
        index = self._row_index if side == "row" else self._col_index
        if index is None:
            index = {name: k for k, name in enumerate(names)}
            if side == "row":
                self._row_index = index
            else:
                self._col_index = index
        return find_ids(ids, index, f"{side}s")

    def fold_in(self, data: Any, *, columns: tuple[Any, Any, Any] | Literal["all"] | None = None) -> Self:
        """This model with further rows, each fitted to the few entries that ``data`` has of it.

        For users who came after the fit: their rows are what the fit would have made of them with all columns as they
        are, by the model's loss and at the price that the rows of the training data paid for their size. All other
        rows stay as they are. ``data`` is any kind of data that ``solve`` takes, in the units of the training data:
        with ids where the model has ids (``columns`` are those of a frame), and a row that the model has already is
        fitted anew to what is given. Where the model's rows have no names, those of ``data`` come after its last.

        Factors, objective and bound remain those of the fit; ``left`` has a line more for each new row.
        """
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        Model.__init__(other, fold_in(self, data, columns))
        other._about = {**self._about, "folded_in": json.loads(other._model.metadata)["folded_in"]}
        return other

    def to_dense(self, rows: slice | None = None) -> Floats:
        """The whole matrix, or a slice of its rows, in the units of the data."""
        first, last, step = (rows or slice(None)).indices(self.shape[0])
        if step != 1:
            raise ValueError(f"rows = {rows}; a slice of rows must have step 1")
        return self._model.dense_rows(first, max(first, last))

    def recommend(
        self,
        rows: Any = None,
        top: int = 10,
        *,
        seen: Any = None,
        columns: tuple[Any, Any, Any] | Literal["all"] | None = None,
        unknown: Literal["error", "center"] = "error",
    ) -> npt.NDArray[Any]:
        """The columns with the largest predictions for one row, for several, or (None) for every row, best first.

        ``seen``, any kind of data that ``solve`` takes (``columns`` are those of a frame), is left out: what a row has
        already. An unknown row is a KeyError, or gets the columns with the largest offsets. The answer is a structured
        array with the fields row, place, column and prediction; ``pandas.DataFrame`` takes it as it is.
        """
        return recommend(self, rows, top, seen, columns, unknown)

    def similar(self, *, row: Any = None, column: Any = None, top: int = 10) -> npt.NDArray[Any]:
        """The rows most like a row, or the columns most like a column, most similar first.

        The similarity is the cosine of the angle between the two in the fitted matrix, offsets left out: 1 when the
        same rows like two columns equally, -1 when they are opposites. What the fit left at zero has none. The answer
        is a structured array with the fields place, id and similarity.
        """
        return similar(self, row, column, top)

    def plot(self, data: Any = None, columns: tuple[Any, Any, Any] | Literal["all"] | None = None) -> Any:
        """Draws the singular values; of a result also its convergence, with ``data`` also the residuals.

        Returns the Matplotlib axes; ``axes[0].figure.savefig(...)`` keeps the picture.
        """
        residuals = None
        if data is not None:
            rows, cols, values = places(data, self, columns, "data")
            known = (rows >= 0) & (rows < self.shape[0]) & (cols >= 0) & (cols < self.shape[1])
            fitted = self._model.predict(rows[known].astype(np.int64), cols[known].astype(np.int64))
            residuals = values[known] - fitted
        return plot(self, residuals)

    def save(self, path: str | os.PathLike[str], *, parts: int | None = None) -> None:
        """Writes a ``.npz`` that the program and ``numpy.load`` open as well.

        With ``parts`` it is a folder of so many files of rows, and a manifest.
        """
        if parts is not None and parts < 1:
            raise ValueError(f"parts = {parts}; it must be 1 or more, or None for a file")
        try:
            self._model.save(os.fspath(path), parts or 0)
        except ValueError as error:
            raise OSError(str(error)) from None

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Model:
        """Reads a model that ``save`` or the program wrote."""
        return load(path)

    def _matrix(self) -> str:
        rows, cols = self.shape
        folded = self._about.get("folded_in", 0)
        return f"{rows:,} x {cols:,} of rank {self.rank}" + (f" ({folded:,} rows folded in)" if folded else "")

    def __repr__(self) -> str:
        return (
            f"<tracenorm.{type(self).__name__}: {self._matrix()}, {self.method}, {self.loss}, "
            f"objective {self.objective:.6g}, certified gap {100 * self.relative_gap:.3g} %, {self.status}>"
        )

    def _repr_html_(self) -> str:
        return _html.table(
            f"tracenorm.{type(self).__name__}",
            [
                ("matrix", self._matrix()),
                ("loss, penalty", f"{self.loss}, {self.penalty}"),
                ("trace norm", f"{self.trace_norm:.6g} of at most {self.radius:.6g}"),
                ("objective", f"{self.objective:.6g}"),
                ("lower bound", f"{self.lower_bound:.6g}"),
                ("certified gap", f"{100 * self.relative_gap:.3g} %"),
                ("ended", f"{self.status.replace('_', ' ')} ({self.method})"),
            ],
        )

    # A model travels as the file it would be saved to.
    def __getstate__(self) -> dict[str, Any]:
        rebuilt = ("_model", "_row_index", "_col_index")
        state = {key: value for key, value in self.__dict__.items() if key not in rebuilt}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.npz")
            self._model.save(path)
            with open(path, "rb") as file:
                state["npz"] = file.read()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.npz")
            with open(path, "wb") as file:
                file.write(state.pop("npz"))
            self._model = _core.Model.load(path)
        self._row_index = self._col_index = None
        self.__dict__.update(state)


class SparseEstimate(NamedTuple):
    """An exactly sparse matrix beside the low-rank answer of a problem with an l1 penalty.

    An entry is zero where its slope in the dual point is strictly inside the slopes that its function has at zero: then
    the optimum that the dual point belongs to is zero there. (It belongs to one up to the certified gap.)
    """

    matrix: Floats
    objective: float
    """Of the matrix, which may be outside of the ball: nothing bounds it from below."""
    zeros: int
    proved: int
    """So many of the zeros are proved to be at most a thousandth of the answer's largest entry in every optimum."""
    raised: float
    """With ``symmetry="psd"``: what was added to the diagonal to make the matrix semidefinite again."""


class Result(Model):
    """What ``solve`` and ``fit`` return: the model, and how the run went."""

    def __init__(self, model: _core.Model, about: dict[str, Any]) -> None:
        super().__init__(model)
        self.message: str = about["message"]
        """The status in words."""
        self.proof: str = about["proof"]
        """How the lower bound was proved: "exact", "cholesky", "probabilistic", or "none"."""
        claim = about["claim"]
        self.certificate: Certificate | None = None if claim is None else Certificate(claim)
        """The proof itself, where it was to be kept: ``solve(..., certificate=True)``."""
        sparse = about.get("sparse")
        self.sparse: SparseEstimate | None = None
        """``solve(..., sparse=True)``: the answer with exact zeros."""
        if sparse is not None:
            self.sparse = SparseEstimate(**{**sparse, "matrix": sparse["matrix"].reshape(self.shape)})
        self.failure_probability: float = about["failure_probability"]
        """Of the lower bound being wrong; 0 when it is proved."""
        self.iterations: int = about["iterations"]
        self.solution_iteration: int = about["solution_iteration"]
        """Which iterate this is: the last, or the best on validation entries."""
        self.seconds: float = about["seconds"]
        self.passes: float = about["passes"]
        """Passes over the data, everything included."""
        self.products: int = about["products"]
        self.environment: dict[str, Any] = about["environment"]
        self.trace: npt.NDArray[Any] = _structured(about["trace"])
        """A structured array, one record per iteration: k, seconds, objective, lower_bound, relative_gap, ..."""
        self.radius_path: list[dict[str, Any]] = about["radius_path"]
        """What ``fit`` tried, one dictionary per radius; empty where the radius was given."""
        self._about.update({key: about[key] for key in ("objective", "lower_bound", "status", "method")})
        if self.status == "numerical_failure":
            warnings.warn(f"numerical failure: {self.message}", RuntimeWarning, stacklevel=3)


def _structured(columns: dict[str, npt.NDArray[Any]]) -> npt.NDArray[Any]:
    trace = np.empty(len(columns["k"]), dtype=[(name, column.dtype) for name, column in columns.items()])
    for name, column in columns.items():
        trace[name] = column
    return trace


def load(path: str | os.PathLike[str]) -> Model:
    """Reads a model that ``Model.save`` or the program's ``--model`` wrote, a file or a folder of parts."""
    path = os.fspath(path)
    if not os.path.exists(path):
        raise FileNotFoundError(f"no model file {path!r}")
    return Model(_core.Model.load(path))


__all__ = ["Model", "Result", "SparseEstimate", "load"]
