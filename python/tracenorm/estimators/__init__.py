"""Estimators by scikit-learn's rules. Needs scikit-learn: ``pip install tracenorm[sklearn]``."""

try:
    import sklearn
except ImportError as error:  # pragma: no cover - depends on the environment
    raise ImportError("the estimators of tracenorm need scikit-learn: pip install scikit-learn") from error

from ._completion import MatrixCompletion
from ._covariance import SparseLowRankCovariance
from ._imputer import RobustImputer

del sklearn

__all__ = ["MatrixCompletion", "RobustImputer", "SparseLowRankCovariance"]
