"""The keywords of methods and fits, spelled out: a misspelt one is found by a type checker, not at run time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypedDict

from ._core import Iteration
from ._loss import Loss


class MethodOptions(TypedDict, total=False):
    """The options of all methods; ``tracenorm.methods()`` tells whose they are, their defaults and limits."""

    beta: float
    block: int
    directions: int
    inner: int
    interval: int
    mu: float
    oracle_products: int
    oracle_tolerance: float
    rank: int
    share: float
    shrink: float
    smoothing: float
    stages: int
    step: str | float
    steps: int
    tolerance: float
    trace_penalty: float
    width: str


class FitOptions(MethodOptions, total=False):
    """The keywords of ``tracenorm.fit`` that say what is fitted, and how: those that its data do not need."""

    radius: float | Literal["auto"]
    loss: Loss | None
    prepare: str | None
    norm_power: float | None
    norm_smoothing: float
    search_entries: int
    penalty: str | tuple[str, float]
    method: str | None
    gap: float | None
    iterations: int
    time: float | None
    seed: int
    threads: int
    backend: Literal["auto", "cpu", "cuda"]
    patience: int
    callback: Callable[[Iteration], Any] | None
    progress: bool
    certificate_share: float
    method_options: MethodOptions | None
    refit: bool


__all__ = ["FitOptions", "MethodOptions"]
