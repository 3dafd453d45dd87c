"""Losses by name, and losses written in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _core

Floats: TypeAlias = npt.NDArray[np.float64]
LossFunction: TypeAlias = Callable[[Floats, Floats], Any]
Loss: TypeAlias = str | tuple[str, float] | LossFunction


def losses() -> dict[str, dict[str, Any]]:
    """The losses there are, by name: what data they want, and their parameter with its default and meaning."""
    return _core.loss_table()


def named(kind: str, choice: Any) -> str:
    """ "huber:0.5" from "huber:0.5" or ("huber", 0.5)."""
    if isinstance(choice, str):
        return choice
    if isinstance(choice, tuple) and len(choice) == 2 and isinstance(choice[0], str):
        return f"{choice[0]}:{float(choice[1])!r}"
    raise TypeError(f"{kind} = {choice!r}; it must be a name, or a pair (name, parameter)")


def wants_labels(loss: Any) -> bool:
    """Whether the loss is for labels -1 and +1 rather than for numbers."""
    return not callable(loss) and _core.wants_labels(named("loss", loss))


class PythonLoss:
    """A function f(x, y) of arrays, with every answer checked.

    x are predictions, y the data; the answer has one number per pair. It must be convex in x, and finite where the
    solver looks: predictions lie between -radius and radius, and the first looks go a radius beyond.
    """

    def __init__(self, function: LossFunction) -> None:
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__).strip("<>") or "custom"

    def __call__(self, x: Floats, y: Floats) -> Floats:
        answer = np.asarray(self.function(x, y))
        if answer.shape != x.shape:
            raise ValueError(f"loss {self.name} returned shape {answer.shape} for {x.size} pairs; it must be {x.shape}")
        if answer.dtype.kind not in "fiub":
            raise TypeError(f"loss {self.name} returned dtype {answer.dtype}; it must return real numbers")
        values = np.ascontiguousarray(answer, dtype=np.float64)
        bad = np.isnan(values)
        if bad.any():
            k = int(np.argmax(bad))
            raise ValueError(
                f"loss {self.name} is not a number at prediction {x[k]:g}, datum {y[k]:g}; "
                "it must be finite for every prediction"
            )
        return values

    def check(self, data: npt.NDArray[Any], radius: float) -> None:
        """Refuses a function that is visibly not convex or not finite. A sample cannot prove that it is convex."""
        data = data[~np.isnan(data)]
        if data.size == 0:
            return
        y = np.unique(data[np.linspace(0, data.size - 1, min(data.size, 64)).astype(np.intp)]).astype(np.float64)
        reach = max(1.0, float(np.abs(y).max()))
        far = max(reach, min(radius, 1e6 * reach))
        spread = reach * np.concatenate([np.linspace(-3, 3, 41), np.array([-0.05, -0.01, 0.01, 0.05])])
        x = np.unique(np.concatenate([spread, [-far, -far / 2, far / 2, far]]))
        pairs_x, pairs_y = (grid.ravel() for grid in np.meshgrid(x, y))
        values = self(pairs_x, pairs_y).reshape(len(y), len(x))
        if not np.isfinite(values).all():
            row, col = np.argwhere(~np.isfinite(values))[0]
            raise ValueError(
                f"loss {self.name} is infinite at prediction {x[col]:g}, datum {y[row]:g}; "
                "it must be finite for every prediction"
            )
        # Between neighbours a, b, c of the grid a convex function lies below the chord from a to c.
        share = (x[1:-1] - x[:-2]) / (x[2:] - x[:-2])
        chord = values[:, :-2] + share * (values[:, 2:] - values[:, :-2])
        above = values[:, 1:-1] - chord
        tolerance = 1e-9 * (np.abs(values[:, :-2]) + np.abs(values[:, 2:]) + 1e-300)
        if (above > tolerance).any():
            row, col = np.argwhere(above > tolerance)[0]
            raise ValueError(
                f"loss {self.name} is not convex: for datum {y[row]:g} its value at prediction {x[col + 1]:g} lies "
                f"above the line between its values at {x[col]:g} and {x[col + 2]:g}"
            )
