"""The function level: solve one problem, or fit data and have chosen what is not said."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import _core
from ._core import Iteration
from ._data import as_prepared, as_table, number
from ._held_out import held_out
from ._loss import Loss, PythonLoss, named
from ._options import MethodOptions
from ._progress import Progress
from ._ranks import Ranks, together
from ._result import Model, Result

if TYPE_CHECKING:
    from typing_extensions import Unpack


def methods() -> dict[str, dict[str, Any]]:
    """The methods there are, by name: what they do, whether they need a radius, and their options."""
    return _core.method_table()


@contextmanager
def _watching(callback: Any, progress: bool, iterations: Any, ranks: _core.Ranks | None) -> Iterator[Any]:
    """What is called after every iteration; the progress bar, of the first rank, goes when the run is over."""
    if callback is not None and not callable(callback):
        raise TypeError(f"callback = {callback!r}; it must be a function of one argument, an Iteration")
    shows = progress and (ranks is None or ranks.rank == 0)
    bar = Progress(int(number("iterations", iterations)), callback) if shows else None
    try:
        yield callback if bar is None else bar
    finally:
        if bar is not None:
            bar.close()


def solve(
    data: Any,
    *,
    loss: Loss = "absolute",
    radius: float | None = None,
    method: str | None = None,
    penalty: str | tuple[str, float] = "none",
    symmetry: Literal["none", "symmetric", "psd"] = "none",
    sparse: bool = False,
    gap: float | None = None,
    iterations: int = 500,
    time: float | None = None,
    prepare: str = "none",
    norm_power: float = 0.0,
    norm_smoothing: float = 0.5,
    start: Model | None = None,
    seed: int = 1,
    threads: int = 0,
    backend: Literal["auto", "cpu", "cuda"] = "auto",
    weights: Any = None,
    shape: tuple[int, int] | None = None,
    columns: tuple[Any, Any, Any] | Literal["all"] | None = None,
    validation: Any = None,
    patience: int = 0,
    callback: Callable[[Iteration], Any] | None = None,
    progress: bool = False,
    certificate_share: float = 0.1,
    certificate: bool = False,
    checkpoint: str | PathLike[str] | None = None,
    checkpoint_every: float = 600.0,
    checkpoint_passes: float | None = None,
    ranks: Ranks | Any = None,
    method_options: MethodOptions | None = None,
    **options: Unpack[MethodOptions],
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
        * a pandas frame of triplets: row id, column id, value; see ``columns``. The ids become the names of the model;
        * a pandas frame that is the matrix, as ``pivot`` makes it: the index has the ids of the rows, the columns those
          of the columns, NaN marks a missing entry. ``columns="all"`` says so of a frame that does not show it.
    loss
        A name ("absolute", "huber:0.5", ("quantile", 0.9), ...; ``tracenorm.losses()`` lists them), or a function
        ``f(x, y)`` of two arrays (predictions and data) that returns their losses and is convex in x.
    radius
        The bound on the trace norm, in the units of the prepared data. Required, except by methods that have none;
        ``tracenorm.fit`` chooses one.
    method
        ``tracenorm.methods()`` lists them. None: "corrective" when a ``gap`` is asked for and no option of another
        method is given, "fwua" otherwise. Their options are further keyword arguments, or ``method_options``:
        ``solve(..., method="sccg", mu=0.01)``, ``solve(..., width="paper", step="line-search")``.
    penalty
        "none", "l1:LAMBDA" (on all entries: a sparse X), "complement-squared:LAMBDA" (on the unobserved entries).
    symmetry
        "symmetric": X is symmetric, "psd": and positive semidefinite, so that the radius bounds its trace. The data
        must be symmetric; passes go over one half of them.
    sparse
        With an l1 penalty: ``result.sparse`` is the answer with exact zeros where the dual point says that the optimum
        has them.
    gap
        Stop when the answer is certified to be within this relative distance of the optimum (0.01: one per cent).
    iterations, time
        Stop after that many, or after so many seconds, at the latest.
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
    backend
        Where passes over the entries run: "cpu", "cuda" (an NVIDIA device), or "auto", which takes a device for large
        problems where there is one.
    weights
        One positive weight per entry, in the shape of the values; for a frame also the name of a column.
    shape, columns
        Of three arrays: the size of the matrix. Of a frame: the names of its row, column and value columns, or "all".
    validation, patience
        Held-out entries in the units of the data, three arrays or any other kind of data: the iterate that is best on
        them is returned, and the run stops after ``patience`` iterations without a better one (0: never).
    callback
        Called with an ``Iteration`` after every iteration; a true answer, or StopIteration, ends the run.
    progress
        Show a progress bar (tqdm's, if it is installed).
    certificate_share
        The share of the work that may go into lower bounds.
    certificate
        Keep the proof of the lower bound, as ``result.certificate``, for ``tracenorm.verify``: a float per entry.
    checkpoint, checkpoint_every, checkpoint_passes
        A file that the run is kept in, about every so many seconds. A call that finds it goes on from there, to the
        same bits as if it had never stopped; it must be the same call, but for limits. It goes when the run is done; an
        interrupted one, or one that ``time`` ended, leaves it. The run can be kept every so many passes over the data
        (None: by their size), which takes part in what makes the bits.
    ranks
        ``tracenorm.ranks()``, or a communicator of mpi4py: the processes, started by mpirun, that share the rows of
        the matrix. All of them make the same call with the same data and get the same result.

    Returns
    -------
    Result
        The factors ``left, values, right``, ``predict``, ``to_dense``, ``save``; ``objective``, ``lower_bound``,
        ``relative_gap``, ``status``, ``trace``.
    """
    with together(ranks) as shared:
        chosen = _method(method, method_options, options, gap)
        if radius is None and chosen.bounded:
            raise ValueError(
                f"method {chosen.name} needs a radius: the largest trace norm (sum of singular values) the answer may "
                "have; tracenorm.fit(data) chooses one by validation"
            )
        penalty_name = named("penalty", penalty)
        entries = as_prepared(
            data,
            shape=shape,
            columns=columns,
            weights=weights,
            units=(_name("prepare", prepare), "" if callable(loss) else named("loss", loss)),
            dense=penalty_name.startswith("l1"),
        )
        bound = 1.0 if radius is None else number("radius", radius)
        function, loss_name = _loss(loss)
        with _watching(callback, progress, iterations, shared) as watcher:
            model, about = _core.solve(
                data=entries.data,
                loss=function,
                loss_name=loss_name,
                penalty=penalty_name,
                radius=bound,
                symmetry=_name("symmetry", symmetry),
                sparse=bool(sparse),
                norm_power=number("norm_power", norm_power),
                norm_smoothing=number("norm_smoothing", norm_smoothing),
                method=chosen,
                run=_run(iterations, gap, time, seed, threads, backend, certificate_share, patience),
                validation=held_out(validation, entries, columns),
                callback=watcher,
                start=None if start is None else _model(start),
                keep_dual=_keeps(certificate, loss, chosen),
                checkpoint=_kept(checkpoint, checkpoint_every, checkpoint_passes),
                ranks=shared,
            )
    return _result(model, about, entries.row_names, entries.col_names)


def fit(
    data: Any,
    *,
    radius: float | Literal["auto"] = "auto",
    loss: Loss | None = None,
    prepare: str | None = None,
    norm_power: float | None = None,
    norm_smoothing: float = 0.5,
    search_entries: int = 10_000_000,
    penalty: str | tuple[str, float] = "none",
    method: str | None = None,
    gap: float | None = None,
    iterations: int = 500,
    time: float | None = None,
    seed: int = 1,
    threads: int = 0,
    backend: Literal["auto", "cpu", "cuda"] = "auto",
    weights: Any = None,
    shape: tuple[int, int] | None = None,
    columns: tuple[Any, Any, Any] | Literal["all"] | None = None,
    validation: Any = None,
    patience: int = 0,
    callback: Callable[[Iteration], Any] | None = None,
    progress: bool = False,
    certificate_share: float = 0.1,
    certificate: bool = False,
    checkpoint: str | PathLike[str] | None = None,
    checkpoint_every: float = 600.0,
    checkpoint_passes: float | None = None,
    ranks: Ranks | Any = None,
    method_options: MethodOptions | None = None,
    refit: bool = True,
    **options: Unpack[MethodOptions],
) -> Result:
    """A low-rank model of some entries of a matrix, with everything chosen that is not said.

    This is what ``tracenorm complete`` does, with the same numbers. Without a radius a path of radii is judged on the
    validation entries, or on a tenth of the data (by the mean loss, so that outliers there do not decide), and the
    answer is then solved on all of them. The model is then ``prepare="both"``, ``norm_power=0.5`` and a Huber loss
    that the held-out entries choose, where nothing else is said; offsets are fitted together with X. With ``refit``
    predictions take the singular values of the certified answer times gains that they choose too, with offsets to
    match. With a radius it is the paper's: ``prepare="zscore"``, ``loss="absolute"``, ``norm_power=0``.

    With more than ``search_entries`` settings are searched for on a random share of the rows that has about so many.

    The other arguments are those of ``solve``. The path is the result's ``radius_path``.
    """
    with together(ranks) as shared:
        if isinstance(radius, str) and radius != "auto":
            raise ValueError(f"radius = {radius!r}; it must be a number or 'auto'")
        chosen = _method(method, method_options, options, gap)
        table = as_table(data, shape=shape, columns=columns, weights=weights)
        function, loss_name = (None, None) if loss is None else _loss(loss)
        with _watching(callback, progress, iterations, shared) as watcher:
            model, about = _core.fit(
                shape=table.shape,
                entries=(table.rows, table.cols, table.values),
                weight=table.weights,
                loss=function,
                loss_name=loss_name,
                penalty=named("penalty", penalty),
                prepare=None if prepare is None else _name("prepare", prepare),
                settings={
                    "radius": None if isinstance(radius, str) else radius,
                    "norm_power": norm_power,
                    "norm_smoothing": norm_smoothing,
                    "search_entries": search_entries,
                },
                method=chosen if method or method_options or options else None,
                refit=bool(refit),
                run=_run(iterations, gap, time, seed, threads, backend, certificate_share, patience),
                validation=held_out(validation, table, columns),
                callback=watcher,
                keep_dual=_keeps(certificate, loss, chosen),
                checkpoint=_kept(checkpoint, checkpoint_every, checkpoint_passes),
                ranks=shared,
            )
    return _result(model, about, table.row_names, table.col_names)


def estimate_covariance(
    samples: Any,
    *,
    estimate: str,
    folds: Any,
    l1: Any,
    loss: Loss,
    method: str | None,
    method_options: MethodOptions | None,
    iterations: int,
    gap: float | None,
    seed: int,
    threads: int,
) -> tuple[Result, dict[str, Any]]:
    """What ``tracenorm covariance`` does with samples, one a row: the fit, and the estimate that is made of it."""
    if not isinstance(folds, (int, np.integer)):
        raise TypeError(f"cv = {folds!r}; it must be a number of folds")
    if l1 is not None and number("l1", l1) < 0:
        raise ValueError(f"l1 = {l1!r}; it must be 0 or more")
    table = np.ascontiguousarray(samples, dtype=np.float64)
    function, loss_name = _loss(loss)
    chosen = _method(method, method_options, {}, gap)
    model, about = _core.covariance(
        samples=table,
        estimate=_name("estimate", estimate),
        folds=int(folds),
        l1=None if l1 is None else number("l1", l1),
        loss=function,
        loss_name=loss_name,
        method=chosen if method or method_options else None,
        run=_run(iterations, gap, None, seed, threads, "auto", 0.1, 0),
    )
    found = about.pop("covariance")
    size = table.shape[1]
    for name in ("covariance", "precision"):
        found[name] = found[name].reshape(size, size)
    return Result(model, about), found


def _method(name: Any, method_options: MethodOptions | None, options: MethodOptions, gap: Any) -> _core.Method:
    chosen = None if name is None else _name("method", name)
    return _core.Method(chosen, {**(method_options or {}), **options}, gap is not None)


def _keeps(certificate: Any, loss: Loss | None, method: _core.Method) -> bool:
    """Whether the proof is to be kept; an error where there can be none."""
    if certificate and callable(loss):
        raise ValueError("certificate: a certificate cannot hold a loss that is a Python function; use a named one")
    if certificate and not method.bounded:
        raise ValueError(f"certificate: method {method.name} does not bound the trace norm and proves nothing")
    return bool(certificate)


def _kept(file: Any, seconds: Any, passes: Any) -> tuple[str, float, float | None] | None:
    if file is None:
        return None
    every = number("checkpoint_every", seconds)
    leg = None if passes is None else number("checkpoint_passes", passes)
    if every < 0 or (leg is not None and leg <= 0):
        raise ValueError(
            f"checkpoint_every = {seconds!r}, checkpoint_passes = {passes!r}; the first must be 0 or more, the second "
            "above 0 or None"
        )
    return fspath(file), every, leg


def _run(
    iterations: Any,
    gap: Any,
    time: Any,
    seed: Any,
    threads: Any,
    backend: Any,
    certificate_share: Any,
    patience: Any,
) -> dict[str, Any]:
    return {
        "iterations": iterations,
        "gap": gap,
        "time": time,
        "seed": seed,
        "threads": threads,
        "backend": backend,
        "certificate_share": certificate_share,
        "patience": patience,
    }


def _loss(loss: Loss) -> tuple[PythonLoss | None, str]:
    """A function to ask, if it is one, and a name."""
    if not callable(loss):
        return None, named("loss", loss)
    function = PythonLoss(loss)
    return function, function.name


def _result(model: _core.Model, about: dict[str, Any], row_names: list[str], col_names: list[str]) -> Result:
    if row_names:
        model.row_names, model.col_names = row_names, col_names
    return Result(model, about)


def _model(start: Any) -> _core.Model:
    if not isinstance(start, Model):
        raise TypeError(f"start = {start!r}; it must be a Model or Result")
    return start._model


def _name(argument: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{argument} = {value!r}; it must be a name")
    return value


__all__ = ["fit", "methods", "solve"]
