"""The function level: solve a problem, choose a radius."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from . import _core
from ._core import Iteration
from ._data import LARGEST_INDEX, as_prepared, as_table, index_array, integer, number, real_array
from ._ids import find_ids
from ._loss import Loss, PythonLoss, named
from ._progress import Progress
from ._result import Model, Result


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
    radius: float | Literal["auto"] | None = None,
    method: str | None = None,
    penalty: str | tuple[str, float] = "none",
    gap: float | None = None,
    iterations: int = 500,
    seconds: float | None = None,
    prepare: str = "none",
    norm_power: float = 0.0,
    norm_smoothing: float = 0.5,
    start: Model | None = None,
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
        "auto": the one that ``tracenorm.choose_radius`` finds.
    method
        ``tracenorm.methods()`` lists them. None: "corrective" when a ``gap`` is asked for and no option of another
        method is given, "fwua" otherwise. Their options are further keyword arguments, or ``method_options``:
        ``solve(..., method="sccg", mu=0.01)``, ``solve(..., width="paper", step="line-search")``.
    penalty
        "none", "l1:LAMBDA" (on all entries: a sparse X), "complement-squared:LAMBDA" (on the unobserved entries).
    gap
        Stop when the answer is certified to be within this relative distance of the optimum (0.01: one per cent).
    iterations, seconds
        Stop after that many at the latest.
    prepare
        A change of units before solving that predictions undo: "none", "center", "zscore", or offsets of "rows",
        "columns" or "both" (robust ones for losses with bounded slopes), in deviations.
    norm_power, norm_smoothing
        Weigh rows and columns in the trace norm by that power of how many entries they have (0: not, 0.5: what theory
        asks for when entries are observed unevenly), after mixing that share of equal counts in.
    start
        A model to start from, instead of zero: an earlier result for the same rows and columns.
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
    given = {**(method_options or {}), **options}
    if method is None:
        fits = set(given) <= set(methods()["corrective"]["options"])
        method = "corrective" if gap is not None and fits else "fwua"
    chosen = _core.Method(_name("method", method), given)
    if isinstance(radius, str):
        if radius != "auto":
            raise TypeError(f"radius = {radius!r}; it must be a number or 'auto'")
        radius = choose_radius(
            data, loss=loss, prepare=prepare, penalty=penalty, norm_power=norm_power, norm_smoothing=norm_smoothing,
            method=method, method_options=given, seed=seed, threads=threads,
            shape=shape, columns=columns, weights=weights,
        )  # fmt: skip
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
        units=_units(prepare, loss),
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
            norm_power=number("norm_power", norm_power),
            norm_smoothing=number("norm_smoothing", norm_smoothing),
            start=None if start is None else _model(start),
            choose=False,
        )
    finally:
        if bar is not None:
            bar.close()
    if entries.row_names:
        model.row_names, model.col_names = entries.row_names, entries.col_names
    return Result(model, about)


def _units(prepare: Any, loss: Loss) -> tuple[str, str]:
    return _name("prepare", prepare), "" if callable(loss) else named("loss", loss)


def _model(start: Any) -> _core.Model:
    if not isinstance(start, Model):
        raise TypeError(f"start = {start!r}; it must be a Model or Result")
    return start._model


def _name(argument: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{argument} = {value!r}; it must be a name")
    return value


def choose_radius(
    data: Any,
    *,
    loss: Loss = "absolute",
    prepare: str = "none",
    penalty: str | tuple[str, float] = "none",
    norm_power: float = 0.0,
    norm_smoothing: float = 0.5,
    method: str | None = None,
    method_options: dict[str, Any] | None = None,
    share: float = 0.1,
    seed: int = 1,
    threads: int = 0,
    shape: tuple[int, int] | None = None,
    columns: tuple[Any, Any, Any] | None = None,
    weights: Any = None,
    return_path: bool = False,
) -> Any:
    """A radius by validation: a path of radii, each solved from the answer of the last, on a share of held-out entries.

    The path goes up from the smallest radius that changes anything until the error (the mean loss, so that outliers
    among the held-out entries do not decide) has turned. It costs about as much as one solve. Use the radius with the
    same ``prepare`` and norm weights.

    Returns the best radius; with ``return_path`` also a list of dicts, one per radius that was tried.
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
    prepared = training.to_data(_units(prepare, loss))
    function = PythonLoss(loss) if callable(loss) else None
    if function is not None:
        function.check(prepared.values, 1.0)
    _, about = _core.solve(
        data=prepared,
        loss=function,
        loss_name=function.name if function is not None else named("loss", loss),
        penalty=named("penalty", penalty),
        radius=1.0,
        method=_core.Method("fwua" if method is None else _name("method", method), method_options or {}),
        iterations=LARGEST_INDEX,
        gap=None,
        seconds=None,
        seed=integer("seed", seed, 0, 2**64 - 1),
        threads=integer("threads", threads, 0, 4096),
        certificate_share=0.0,
        validation=(held_out.rows, held_out.cols, held_out.values),
        patience=0,
        callback=None,
        norm_power=number("norm_power", norm_power),
        norm_smoothing=number("norm_smoothing", norm_smoothing),
        start=None,
        choose=True,
    )
    path: list[dict[str, Any]] = about["radius_path"]
    best = next(step["radius"] for step in path if step["chosen"])
    return (best, path) if return_path else best


__all__ = ["choose_radius", "methods", "solve"]
