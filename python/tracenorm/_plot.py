"""Pictures of models and runs. Needs Matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from ._result import Model


def plot(model: Model, residuals: npt.NDArray[np.float64] | None) -> Any:
    """One panel each: convergence (of a result), singular values, residuals (where there are some)."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plot draws with Matplotlib, which is not installed: pip install matplotlib") from error
    trace = getattr(model, "trace", None)
    panels = [trace is not None, True, residuals is not None]
    _, axes = plt.subplots(1, sum(panels), figsize=(4.2 * sum(panels), 3.4), squeeze=False, layout="constrained")
    left = iter(axes[0])
    if trace is not None:
        _convergence(next(left), trace)
    _singular_values(next(left), model.values)
    if residuals is not None:
        _residuals(next(left), residuals)
    return axes[0]


def _convergence(axis: Any, trace: npt.NDArray[Any]) -> None:
    gap = trace["relative_gap"]
    shown = np.isfinite(gap) & (gap > 0)
    axis.set(title="convergence", xlabel="seconds", ylabel="certified gap, %")
    if shown.any():
        few = shown.sum() < 20  # a single one is no line
        axis.semilogy(trace["seconds"][shown], 100 * gap[shown], marker="." if few else "")
    else:  # nothing was certified
        axis.plot(trace["seconds"], trace["objective"])
        axis.set_ylabel("objective")


def _singular_values(axis: Any, values: npt.NDArray[np.float64]) -> None:
    axis.set(title=f"singular values (rank {len(values)})", xlabel="number")
    positive = values[values > 0]
    if len(positive):
        axis.semilogy(np.arange(1, len(positive) + 1), positive, ".")


def _residuals(axis: Any, residuals: npt.NDArray[np.float64]) -> None:
    # Outliers are what a robust fit leaves; counts on a log axis show them.
    axis.hist(residuals, bins=60, log=True)
    axis.set(title="residuals", xlabel="datum less prediction", ylabel="entries")
