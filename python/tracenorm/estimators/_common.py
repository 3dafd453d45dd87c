"""What the estimators share."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .. import _core
from .._solve import fit


def seed_from(random_state: Any) -> int:
    """A seed of the library from scikit-learn's random_state: an int is taken as it is."""
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def fit_triplets(triplets: tuple[Any, Any, Any], shape: tuple[int, int], radius: Any, **options: Any) -> Any:
    """``fit``, also where there are too few entries to hold some out and choose a radius on them."""
    values = np.asarray(triplets[2], dtype=np.float64)
    if isinstance(radius, str) and radius == "auto" and len(values) < _core.fewest_to_choose:
        # Any matrix with these values has a trace norm of at most the sum of their sizes.
        radius = float(np.abs(values - values.mean()).sum()) or 1.0
    return fit(triplets, shape=shape, radius=radius, **options)
