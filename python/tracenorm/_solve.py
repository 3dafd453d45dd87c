"""The function level: solve a problem, choose a radius."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _core
from ._core import Iteration
from ._data import LARGEST_INDEX, as_prepared, as_table, index_array, integer, number, real_array
from ._ids import find_ids
from ._loss import Loss, PythonLoss, named
from ._progress import Progress
from ._result import Result


def methods() -> dict[str, dict[str, Any]]:
    """The methods there are, by name: what they do, whether they need a radius, and their numeric options."""
    return _core.method_table()


def _optional(name: str, value: Any) -> float | None:
    return None if value is None else number(name, value)


def _validation(entries: Any, row_names: list[str], col_names: list[str]) -> tuple[Any, Any, Any] | None:
    """Held-out entries as arrays, by name where the data have names; those whose row or column is unknown left out."""
    if entries is None:
        return None
    if not isinstance(entries, (tuple, list)) or len(entries) != 3:
        raise TypeError("validation must be three arrays (rows, columns, values)")
    values = real_array(entries[2], "validation[2]")
    if not len(entries[0]) == len(entries[1]) == values.size:
        raise ValueError(f"validation has {len(entries[0])} rows, {len(entries[1])} columns and {values.size} values")
    if not row_names:
        return index_array(entries[0], "validation[0]"), index_array(entries[1], "validation[1]"), values
    rows = find_ids(entries[0], {name: k for k, name in enumerate(row_names)}, "validation[0]")
    cols = find_ids(entries[1], {name: k for k, name in enumerate(col_names)}, "validation[1]")
    known = (rows >= 0) & (cols >= 0)
    return rows[known].astype(np.int32), cols[known].astype(np.int32), np.ascontiguousarray(values[known])


def solve(
    data: Any,
    *,
    loss: Loss = "absolute",
    radius: float | None = None,
    method: str = "fwua",
    penalty: str | tuple[str, float] = "none",
    gap: float | None = None,
    iterations: int = 500,
    seconds: float | None = None,
    prepare: str = "none",
    seed: int = 1,
    threads: int = 0,
    weights: Any = None,
    shape: tuple[int, int] | None = None,
    columns: tuple[Any, Any, Any] | None = None,
    validation: Any = None,
    patience: int = 0,
    callback: Callable[[Iteration], Any] | None = None,
    progress: bool = False,
    certificate_share: float = 0.1,
    method_options: dict[str, Any] | None = None,
    **options: Any,
) -> Result:
    """Minimises the sum of ``loss(X[i, j], data[i, j])`` over the observed entries, plus ``penalty(X)``, over all
    matrices X whose trace norm is at most ``radius``.

    Parameters
    ----------
    data
        * a SciPy sparse matrix or array: entries that are not stored are missing, a stored zero is data. A CSR matrix
          with float32 values and int32 indices is used in place, without a copy;
        * a two-dimensional array: NaN marks a missing entry (so does the mask of a masked array);
        * a tuple of three arrays (rows, columns, values), positions counted from 0; see ``shape``;
        * a pandas frame of triplets: row id, column id, value; see ``columns``. The ids become the names of the model.
    loss
        A name ("absolute", "huber:0.5", ("quantile", 0.9), ...; ``tracenorm.losses()`` lists them), or a function
        ``f(x, y)`` of two arrays (predictions and data) that returns their losses and is convex in x.
    radius
        The bound on the trace norm, in the units of the prepared data. Required, except by methods that have none.
        ``tracenorm.choose_radius`` finds one.
    method
        ``tracenorm.methods()`` lists them. Their options are further keyword arguments, or ``method_options``:
        ``solve(..., method="sccg", mu=0.01)``, ``solve(..., width="paper", step="line-search")``.
    penalty
        "none", "l1:LAMBDA" (on all entries: a sparse X), "complement-squared:LAMBDA" (on the unobserved entries).
    gap
        Stop when the answer is certified to be within this relative distance of the optimum (0.01: one per cent).
    iterations, seconds
        Stop after that many at the latest.
    prepare
        "none", "center", "zscore", ...: a change of units before solving that predictions undo.
    seed, threads
        The same seed gives the same bits, on any number of threads (0: all cores).
    weights
        One positive weight per entry, in the shape of the values; for a frame also the name of a column.
    shape, columns
        Of three arrays: the size of the matrix. Of a frame: the names of its row, column and value columns.
    validation, patience
        Held-out entries (rows, columns, values) in the units of the data: the iterate that is best on them is
        returned, and the run stops after ``patience`` iterations without a better one (0: never).
    callback
        Called with an ``Iteration`` after every iteration; a true answer, or StopIteration, ends the run.
    progress
        Show a progress bar (tqdm's, if it is installed).
    certificate_share
        The share of the work that may go into lower bounds.

    Returns
    -------
    Result
        The factors ``left, values, right``, ``predict``, ``to_dense``, ``save``; ``objective``, ``lower_bound``,
        ``relative_gap``, ``status``, ``trace``.
    """
    chosen = _core.Method(_name("method", method), {**(method_options or {}), **options})
    if radius is None and chosen.bounded:
        raise ValueError(
            f"method {method} needs a radius: the largest trace norm (sum of singular values) the answer may have; "
            "tracenorm.choose_radius(data) finds one by validation"
        )
    penalty_name = named("penalty", penalty)
    entries = as_prepared(
        data,
        shape=shape,
        columns=columns,
        weights=weights,
        prepare=_name("prepare", prepare),
        dense=penalty_name.startswith("l1"),
    )
    bound = 1.0 if radius is None else number("radius", radius)
    function = PythonLoss(loss) if callable(loss) else None
    if function is not None:
        function.check(entries.data.values, bound)
    if callback is not None and not callable(callback):
        raise TypeError(f"callback = {callback!r}; it must be a function of one argument, an Iteration")
    limit = integer("iterations", iterations, 0, LARGEST_INDEX)
    bar = Progress(limit, callback) if progress else None
    try:
        model, about = _core.solve(
            data=entries.data,
            loss=function,
            loss_name=function.name if function is not None else named("loss", loss),
            penalty=penalty_name,
            radius=bound,
            method=chosen,
            iterations=limit,
            gap=_optional("gap", gap),
            seconds=_optional("seconds", seconds),
            seed=integer("seed", seed, 0, 2**64 - 1),
            threads=integer("threads", threads, 0, 4096),
            certificate_share=number("certificate_share", certificate_share),
            validation=_validation(validation, entries.row_names, entries.col_names),
            patience=integer("patience", patience, 0, LARGEST_INDEX),
            callback=bar if bar is not None else callback,
        )
    finally:
        if bar is not None:
            bar.close()
    if entries.row_names:
        model.row_names, model.col_names = entries.row_names, entries.col_names
    return Result(model, about)


def _name(argument: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{argument} = {value!r}; it must be a name")
    return value


def choose_radius(
    data: Any,
    *,
    loss: Loss = "absolute",
    prepare: str = "none",
    radii: Sequence[float] | None = None,
    share: float = 0.1,
    seed: int = 1,
    iterations: int = 100,
    shape: tuple[int, int] | None = None,
    columns: tuple[Any, Any, Any] | None = None,
    weights: Any = None,
    return_errors: bool = False,
    **options: Any,
) -> Any:
    """A radius by validation: solves with a share of the entries held out, for growing radii.

    The error is the mean absolute one, so that outliers among the held-out entries do not decide. Without ``radii``,
    they double from half the root of the sum of squares of the data (by a robust estimate) until the error has risen
    twice. Other keyword arguments go to ``solve``; use the radius with the same ``prepare``.

    Returns the best radius; with ``return_errors`` also the list of (radius, error) pairs.
    """
    share = number("share", share)
    if not 0 < share < 1:
        raise ValueError(f"share = {share:g}; it must be between 0 and 1")
    table = as_table(data, shape=shape, columns=columns, weights=weights)
    count = max(1, round(share * len(table)))
    if count >= len(table):
        raise ValueError(f"{len(table)} entries are too few to hold some of them out")
    order = np.random.default_rng(seed).permutation(len(table))
    held_out, training = table.take(np.sort(order[:count])), table.take(np.sort(order[count:]))
    options = {"loss": loss, "prepare": prepare, "iterations": iterations, "seed": seed, **options}
    search = _Search(training, held_out, options)
    if radii is not None:
        for radius in radii:
            search.attempt(number("radii", radius))
    else:
        size = search.typical_size() * np.sqrt(len(training))
        radius = size / 2
        while search.rises < 2 and radius <= size * 2 * np.sqrt(min(table.shape)):
            search.attempt(radius)
            radius *= 2
    if not search.errors:
        raise ValueError("radii is empty; give at least one radius")
    best = min(search.errors, key=lambda pair: pair[1])[0]
    return (best, search.errors) if return_errors else best


class _Search:
    def __init__(self, training: Any, held_out: Any, options: dict[str, Any]) -> None:
        self.training, self.held_out, self.options = training, held_out, options
        self.errors: list[tuple[float, float]] = []
        self.rises = 0

    def typical_size(self) -> float:
        """Of the prepared data, by a median, so that outliers do not count."""
        data = self.training.to_data(self.options["prepare"])
        size = 1.4826 * float(np.median(np.abs(data.values)))
        return size if size > 0 else float(np.sqrt(np.mean(np.square(data.values, dtype=np.float64)))) or 1.0

    def attempt(self, radius: float) -> None:
        held = self.held_out
        weights = self.training.weights
        triplets = (self.training.rows, self.training.cols, self.training.values)
        result = solve(triplets, radius=radius, shape=self.training.shape, weights=weights, **self.options)
        error = float(np.mean(np.abs(result.predict(held.rows, held.cols) - held.values.astype(np.float64))))
        if self.errors and error >= min(known for _, known in self.errors):
            self.rises += 1
        self.errors.append((float(radius), error))


__all__ = ["choose_radius", "methods", "solve"]
