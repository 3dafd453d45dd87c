"""How well a fit predicts what it has not seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from . import _core, _html
from ._data import LARGEST_INDEX, Table, as_table, integer, is_frame, number
from ._held_out import Entries, places
from ._loss import wants_labels
from ._result import Result
from ._solve import fit

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import FitOptions

Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Evaluation:
    """What ``evaluate`` found; ``evaluation["rmse"]`` is a mean over the parts, ``print`` shows them all."""

    scores: dict[str, Floats]
    """By name, one number per part."""

    def __getitem__(self, name: str) -> float:
        return self.mean[name]

    @property
    def mean(self) -> dict[str, float]:
        return {name: float(values.mean()) for name, values in self.scores.items()}

    @property
    def deviation(self) -> dict[str, float]:
        """Standard deviations over the parts; 0 where there is one part."""
        return {name: float(values.std(ddof=1)) if len(values) > 1 else 0.0 for name, values in self.scores.items()}

    def _lines(self) -> list[tuple[str, str, str]]:
        return [
            (name, f"{mean:.4g}", f"± {deviation:.2g}" if deviation > 0 else "")
            for (name, mean), deviation in zip(self.mean.items(), self.deviation.values(), strict=True)
        ]

    def __repr__(self) -> str:
        return "\n".join(f"{name:<14} {mean:>9} {spread}".rstrip() for name, mean, spread in self._lines())

    def _repr_html_(self) -> str:
        return _html.table("tracenorm.Evaluation", self._lines())


def evaluate(
    data: Any,
    *,
    folds: int = 5,
    test: Any = None,
    by_time: Any = None,
    top: int = 10,
    relevant: float | None = None,
    weights: Any = None,
    shape: tuple[int, int] | None = None,
    columns: tuple[Any, Any, Any] | Literal["all"] | None = None,
    **options: Unpack[FitOptions],
) -> Evaluation:
    """Fits a part of the data and judges the predictions of the rest, part by part: the program's ``evaluate``.

    Parameters
    ----------
    data, weights, shape, columns
        As in ``solve``.
    folds
        Each fold is predicted by a model of the others; a radius that is not given is chosen anew, inside the training
        part. The folds are the program's, and depend on ``seed``.
    test
        A fixed test set instead of folds, of any kind of data; a row or column that the data do not have is predicted
        by what else is known, and counted as unknown.
    by_time
        One time per entry, or the name of a frame's column: instead of folds the latest entries, one in ``folds``, are
        predicted from those before. Then nothing is learnt from the future.
    top, relevant
        Lists of the ``top`` columns that a row does not have in the training part are judged by its test entries; one
        is relevant when its value is at least ``relevant`` (None: the mean of the data).
    options
        Those of ``fit``.

    Returns
    -------
    Evaluation
        rmse and mae (auc for losses of labels); precision, recall, ndcg (discounted gain), hit_rate (rows with a
        relevant one on the list), mrr (one over the place of the first relevant one), all means over the rows that
        have a relevant test entry, and coverage (share of the columns that are on a list), of lists of ``top``; radius,
        rank, relative_gap; test_entries, and how many of them are unknown: without training data in their row or
        column.
    """
    folds = integer("folds", folds, 2, 1000)
    top = integer("top", top, 1, LARGEST_INDEX)
    if test is not None and by_time is not None:
        raise ValueError("test and by_time: give one of them")
    if isinstance(by_time, str) and is_frame(data):
        if by_time not in data.columns:
            raise ValueError(f"by_time names {by_time!r}; the frame has {', '.join(map(repr, data.columns))}")
        by_time, data = data[by_time], data if columns is not None else data.drop(columns=by_time)
    table = as_table(data, shape=shape, columns=columns, weights=weights)
    least = float(table.values.astype(np.float64).mean()) if relevant is None else number("relevant", relevant)
    labels, threads = wants_labels(options.get("loss")), int(options.get("threads", 0))
    scores: dict[str, list[float]] = {}
    for kept, held_out in _parts(table, folds, test, by_time, columns, options.get("seed", 1)):
        train = (table.rows[kept], table.cols[kept], table.values[kept])
        result = fit(
            train, shape=table.shape, weights=None if table.weights is None else table.weights[kept], **options
        )
        for name, value in _judge(result, labels, train, held_out, top, least, threads).items():
            scores.setdefault(name, []).append(value)
    return Evaluation({name: np.array(values) for name, values in scores.items()})


def _parts(
    table: Table, folds: int, test: Any, by_time: Any, columns: Any, seed: int
) -> Iterator[tuple[npt.NDArray[np.bool_], Entries]]:
    """Which entries are trained on, and what is predicted."""
    count = len(table)
    if test is not None:
        yield np.ones(count, dtype=bool), places(test, table, columns, "test")
        return
    if count < folds:
        raise ValueError(f"folds = {folds}; there are only {count} entries")
    if by_time is None:
        fold = _core.draw_folds(count, folds, integer("seed", seed, 0, 2**63 - 1))
        tests = [fold == k for k in range(folds)]
    else:
        latest = np.zeros(count, dtype=bool)
        latest[np.argsort(_times(by_time, count), kind="stable")[count - count // folds :]] = True
        tests = [latest]
    for held in tests:
        yield ~held, (table.rows[held], table.cols[held], table.values[held])


def _times(by_time: Any, count: int) -> npt.NDArray[Any]:
    times = np.asarray(by_time)
    if times.shape != (count,):
        raise ValueError(f"by_time has shape {times.shape}; it must have one time for each of the {count} entries")
    if times.dtype.kind not in "iufM":
        raise TypeError(f"by_time has dtype {times.dtype}; it must hold numbers or dates")
    if times.dtype.kind in "fM" and (np.isnat(times) if times.dtype.kind == "M" else np.isnan(times)).any():
        raise ValueError("by_time has holes; every entry must have a time")
    return times


def _judge(
    result: Result, labels: bool, train: Entries, test: Entries, top: int, relevant: float, threads: int
) -> dict[str, float]:
    rows, cols, values = test[0].astype(np.int64), test[1].astype(np.int64), test[2].astype(np.float64)
    rows[rows >= result.shape[0]] = -1
    cols[cols >= result.shape[1]] = -1
    inside = (rows >= 0) & (cols >= 0)
    predicted = result._model.predict(rows, cols)
    scores: dict[str, float] = {}
    if labels:
        scores["auc"] = _area_under_curve(predicted, values > 0)
    else:
        scores["rmse"] = float(np.sqrt(np.mean(np.square(predicted - values))))
        scores["mae"] = float(np.mean(np.abs(predicted - values)))
    judged = test[0][inside], test[1][inside], test[2][inside]
    lists = _core.top_measures(result._model, train, judged, top, relevant, threads)
    scores.update({f"{name}@{top}": value for name, value in lists.items()})
    scores["radius"], scores["rank"] = result.radius, result.rank
    if np.isfinite(result.relative_gap):
        scores["relative_gap"] = result.relative_gap
    scores["test_entries"] = len(values)
    known = inside & np.isin(rows, train[0]) & np.isin(cols, train[1])
    scores["unknown"] = int(np.count_nonzero(~known))
    return scores


def _area_under_curve(scores: Floats, positive: npt.NDArray[np.bool_]) -> float:
    """Chance that a positive one has a larger score than a negative one; NaN where there are not both."""
    count = int(positive.sum())
    if count in (0, len(scores)):
        return float("nan")
    above = rankdata(scores)[positive].sum() - count * (count + 1) / 2
    return float(above / (count * (len(scores) - count)))


__all__ = ["Evaluation", "evaluate"]
