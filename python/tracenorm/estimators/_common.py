"""What the estimators share."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._solve import choose_radius, solve


def seed_from(random_state: Any) -> int:
    """A seed of the library from scikit-learn's random_state: an int is taken as it is."""
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def fit_triplets(triplets: tuple[Any, Any, Any], shape: tuple[int, int], radius: Any, **options: Any) -> Any:
    """Solves; radius "auto" is chosen by validation."""
    if isinstance(radius, str):
        if radius != "auto":
            raise ValueError(f"radius = {radius!r}; it must be a number or 'auto'")
        radius = _automatic_radius(triplets, shape, options)
    return solve(triplets, shape=shape, radius=radius, **options)


def _automatic_radius(triplets: tuple[Any, Any, Any], shape: tuple[int, int], options: dict[str, Any]) -> float:
    values = np.asarray(triplets[2], dtype=np.float64)
    if len(values) < 10:
        # Too few to hold some out: any matrix with these values has a trace norm of at most the sum of their sizes.
        return float(np.abs(values - values.mean()).sum()) or 1.0
    wanted = ("loss", "prepare", "seed", "threads", "weights", "method", "method_options")
    return float(choose_radius(triplets, shape=shape, **{name: options[name] for name in wanted}))
