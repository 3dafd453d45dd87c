"""Low-rank matrix estimation with nonsmooth convex losses, and a certificate of how good the answer is.

    minimize  sum over observed (i, j) of loss(X_ij, Y_ij)  +  penalty(X)      subject to  ||X||_tr <= radius

>>> import numpy as np, tracenorm
>>> Y = np.outer([1.0, 2.0, 3.0], [1.0, -1.0, 2.0, 0.5]); Y[0, 0] = 100.0; Y[2, 3] = np.nan
>>> result = tracenorm.solve(Y, radius=9.0, gap=0.02)
>>> result.status
'gap_reached'

``solve`` solves one problem, ``fit`` chooses what is not said, as the program does, and ``evaluate`` judges what comes
of it; ``RobustImputer``, ``MatrixCompletion`` and ``SparseLowRankCovariance`` are estimators by scikit-learn's rules
and need scikit-learn, which nothing else here does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _core
from ._certificate import Certificate
from ._core import Iteration
from ._evaluate import Evaluation, evaluate
from ._loss import losses
from ._options import FitOptions, MethodOptions
from ._ranks import Ranks, ranks
from ._result import Model, Result, load
from ._solve import fit, methods, solve
from ._verify import Verification, verify

if TYPE_CHECKING:
    from .estimators import MatrixCompletion, RobustImputer, SparseLowRankCovariance

__version__: str = _core.version

_ESTIMATORS = ("MatrixCompletion", "RobustImputer", "SparseLowRankCovariance")

__all__ = [
    "Certificate",
    "Evaluation",
    "FitOptions",
    "Iteration",
    "MatrixCompletion",
    "MethodOptions",
    "Model",
    "Ranks",
    "Result",
    "RobustImputer",
    "SparseLowRankCovariance",
    "Verification",
    "__version__",
    "evaluate",
    "fit",
    "load",
    "losses",
    "methods",
    "ranks",
    "solve",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Estimators are imported when they are asked for: scikit-learn is optional, and takes a second to import."""
    if name in _ESTIMATORS:
        from . import estimators

        return getattr(estimators, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
