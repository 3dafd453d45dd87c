"""Sparse and low-rank covariances."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.covariance import EmpiricalCovariance, empirical_covariance
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted, validate_data

from .._options import MethodOptions
from .._result import Result
from .._solve import estimate_covariance, solve
from ._common import seed_from

Floats: TypeAlias = npt.NDArray[np.float64]

PATH = 10
"""So many penalties are tried, down to a hundredth of the one that leaves no covariance between two variables."""


class SparseLowRankCovariance(EmpiricalCovariance):  # type: ignore[misc]
    """A covariance that is sparse and of low rank at once.

    Minimises ``loss(C - S) + l1 * sum |C_ij|`` over the positive semidefinite matrices C of trace at most ``radius``,
    where S is the empirical covariance: groups of variables that move together, and nothing between the groups.

    With ``radius="auto"`` it is what ``tracenorm covariance`` makes, with the same numbers: X is fitted to the
    correlations off the diagonal, every variable keeps a variance of its own beside it, samples may have NaN
    (covariances are those of the samples that have both variables), and radius and, with ``l1="auto"``, l1 are chosen
    by ``cv`` folds of the samples. Both are then those of correlations.

    Parameters
    ----------
    l1 : float or "auto"
        Weight of the penalty on the absolute values of all entries. "auto" chooses the one whose estimate from some of
        the samples is nearest to the empirical covariance of the others (see ``score``), by cross-validation.
    radius : float, None or "auto"
        Bound on the trace norm. None: the trace of S, its total variance.
    loss : str, tuple or function
        "squared:0.5" (the default) is half the squared Frobenius distance; "absolute" ignores gross errors in S.
    psd : bool
        Only semidefinite matrices. Otherwise all symmetric ones, whose trace norm the radius bounds.
    method : str or None
    method_options : dict or None
    max_iter : int
    gap : float or None
        Stop at this certified relative gap.
    estimate : "plain" or "trimmed"
        With ``radius="auto"``: whether values further than 3.5 robust deviations from the median of their variable
        count as missing.
    cv : int, splitter or None
        How samples are split for ``l1="auto"``; None: five folds. With ``radius="auto"`` a number.
    assume_centered : bool
        Do not subtract the mean.
    store_precision : bool
        Keep ``precision_``, the pseudo-inverse; with ``radius="auto"`` the inverse, with a small ridge where needed.
    random_state : int, RandomState or None
    n_threads : int

    Attributes
    ----------
    covariance_ : array of shape (n_features, n_features)
        Symmetric and exactly sparse: entries are zero where the dual point says that the optimum's are
        (``result_.sparse`` has the rule and its objective). With ``psd`` semidefinite; where the zeros cost that, the
        diagonal was raised by ``result_.sparse.raised``. The low-rank answer itself is ``result_``.
    location_ : array of shape (n_features,)
    precision_ : array of shape (n_features, n_features)
    l1_ : float
        The penalty that was used.
    radius_ : float
        The radius that was used.
    cv_results_ : dict
        With ``l1="auto"``: "l1", the penalties that were tried, and "mean_test_score", "std_test_score" of each. With
        ``radius="auto"`` "l1", "radius" and "mean_test_score" (minus the mean loss) of each setting.
    n_iter_ : int
    dual_gap_ : float
        Certified distance of the objective from the optimum.
    result_ : tracenorm.Result
    """

    _parameter_constraints: dict[str, Any] = {}  # noqa: RUF012 - scikit-learn's name; solve checks the arguments

    def __init__(
        self,
        l1: float | Literal["auto"] = 0.01,
        *,
        radius: float | Literal["auto"] | None = None,
        loss: Any = "squared:0.5",
        psd: bool = True,
        estimate: Literal["plain", "trimmed"] = "plain",
        method: str | None = None,
        method_options: MethodOptions | None = None,
        max_iter: int = 500,
        gap: float | None = 0.01,
        cv: Any = None,
        assume_centered: bool = False,
        store_precision: bool = True,
        random_state: Any = 1,
        n_threads: int = 0,
    ) -> None:
        super().__init__(store_precision=store_precision, assume_centered=assume_centered)
        self.l1 = l1
        self.radius = radius
        self.loss = loss
        self.psd = psd
        self.estimate = estimate
        self.method = method
        self.method_options = method_options
        self.max_iter = max_iter
        self.gap = gap
        self.cv = cv
        self.random_state = random_state
        self.n_threads = n_threads

    def fit(self, X: Any, y: Any = None) -> SparseLowRankCovariance:
        """Estimates from the samples X, one a row."""
        if isinstance(self.l1, str) and self.l1 != "auto":
            raise ValueError(f"l1 = {self.l1!r}; it must be a number or 'auto'")
        if isinstance(self.radius, str) and self.radius != "auto":
            raise ValueError(f"radius = {self.radius!r}; it must be a number, None or 'auto'")
        if self.radius == "auto":
            return self._fit_factors(X)
        X = validate_data(self, X, ensure_min_samples=2, dtype=np.float64)
        self.location_ = self._center(X)
        self.l1_ = self._choose(X) if isinstance(self.l1, str) else self.l1
        self.result_, covariance = self._estimate(X, self.l1_)
        self.radius_ = self.result_.radius
        self._set_covariance(covariance)
        self.n_iter_ = self.result_.iterations
        self.dual_gap_ = self.result_.objective - self.result_.lower_bound
        return self

    def _fit_factors(self, X: Any) -> SparseLowRankCovariance:
        """Factors and own variances, by the library's own search."""
        if not self.psd or self.assume_centered:
            raise ValueError("radius = 'auto' is for psd=True and assume_centered=False")
        X = validate_data(
            self, X, ensure_min_samples=3, ensure_min_features=2, dtype=np.float64, ensure_all_finite="allow-nan"
        )
        self.result_, found = estimate_covariance(
            X,
            estimate=self.estimate,
            folds=5 if self.cv is None else self.cv,
            l1=None if isinstance(self.l1, str) else self.l1,
            loss=self.loss,
            method=self.method,
            method_options=self.method_options,
            iterations=self.max_iter,
            gap=self.gap,
            seed=seed_from(self.random_state),
            threads=self.n_threads,
        )
        self.location_ = found["location"]
        self.covariance_ = found["covariance"]
        self.precision_ = found["precision"] if self.store_precision else None
        self.l1_, self.radius_ = found["l1"], self.result_.radius
        path = self.result_.radius_path
        self.cv_results_ = {
            "l1": np.array([step["lambda"] for step in path]),
            "radius": np.array([step["radius"] for step in path]),
            "mean_test_score": -np.array([step["validation_error"] for step in path]),
        }
        self.n_iter_ = self.result_.iterations
        self.dual_gap_ = self.result_.objective - self.result_.lower_bound
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.radius == "auto"
        return tags

    def _center(self, X: Floats) -> Floats:
        return np.zeros(X.shape[1]) if self.assume_centered else X.mean(axis=0)

    def _estimate(self, X: Floats, l1: float) -> tuple[Result, Floats]:
        empirical = empirical_covariance(X, assume_centered=self.assume_centered)
        empirical = (empirical + empirical.T) / 2  # BLAS may leave the last digit different
        result = solve(
            empirical,
            loss=self.loss,
            radius=float(np.trace(empirical)) if self.radius is None else float(self.radius),
            penalty=("l1", l1),
            symmetry="psd" if self.psd else "symmetric",
            sparse=l1 > 0,
            method=self.method,
            method_options=self.method_options,
            iterations=self.max_iter,
            gap=self.gap,
            seed=seed_from(self.random_state),
            threads=self.n_threads,
        )
        if result.sparse is not None:
            return result, result.sparse.matrix
        covariance = result.to_dense()
        return result, (covariance + covariance.T) / 2

    def _choose(self, X: Floats) -> float:
        """The penalty with the best mean score over the folds."""
        empirical = empirical_covariance(X, assume_centered=self.assume_centered)
        largest = float(np.abs(empirical - np.diag(np.diag(empirical))).max())
        path = largest * np.geomspace(1, 0.01, PATH)
        if largest == 0:  # uncorrelated, or a single variable: there is nothing to choose between
            path = np.zeros(1)
        scores = np.array(
            [
                [_score(X[test] - self._center(X[train]), self._estimate(X[train], float(l1))[1]) for l1 in path]
                for train, test in check_cv(self.cv).split(X)
            ]
        )
        self.cv_results_ = {"l1": path, "mean_test_score": scores.mean(axis=0), "std_test_score": scores.std(axis=0)}
        return float(path[np.argmax(scores.mean(axis=0))])

    def score(self, X_test: Any, y: Any = None) -> float:
        """Minus the squared Frobenius distance from the empirical covariance of X_test.

        A likelihood would be minus infinity: the estimate is singular.
        """
        check_is_fitted(self)
        X_test = validate_data(self, X_test, reset=False)
        return _score(X_test - self.location_, self.covariance_)


def _score(centered: Floats, covariance: Floats) -> float:
    empirical = empirical_covariance(centered, assume_centered=True)
    return -float(np.sum(np.square(empirical - covariance)))
