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
    return loss is not None and not callable(loss) and _core.wants_labels(named("loss", loss))


class PythonLoss:
    """A function f(x, y) of arrays, with every answer checked.

    x are predictions, y the data; the answer has one number per pair. It must be convex in x, and finite where the
    solver looks: predictions lie between -radius and radius, and the first looks go a radius beyond.
    """

    def __init__(self, function: LossFunction) -> None:
        self.function = function
        name = getattr(function, "__name__", type(function).__name__).strip("<>") or "custom"
        # A model says its loss by name: that of a function is none of the library's.
        self.name: str = f"{name}()" if name.split(":")[0] in losses() else name

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
