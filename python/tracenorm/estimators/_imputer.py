"""Imputation by a robust low-rank fit."""

from __future__ import annotations

import warnings
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import _core
from .._loss import PythonLoss, named
from .._options import MethodOptions
from ._common import fit_triplets, seed_from

Floats: TypeAlias = npt.NDArray[np.float64]


class RobustImputer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Fills NaN with a low-rank fit that gross outliers do not spoil.

    Columns are shifted and scaled by their medians and median deviations, the observed entries are fitted under a bound
    on the trace norm, and the fit fills the holes. New rows are regressed, by the same loss, on the learned factors,
    with the spread of the training rows' coefficients as a prior; so are the training rows in ``transform``.

    Parameters
    ----------
    radius : float or "auto"
        Bound on the trace norm, in the scaled units. "auto" chooses one by validation.
    loss : str, tuple or function
        As in ``tracenorm.solve``: any loss that is smallest where prediction and datum agree.
    keep_observed : bool
        Keep the observed entries as they are. False: the fit replaces them too, which takes outliers away.
    scale : bool
        Shift and scale the columns. False: they are comparable as they are.
    keep_empty_features : bool
        What ``transform`` does with columns in which ``fit`` saw nothing but NaN: fill them with 0, or (False) leave
        them out, with a warning, as scikit-learn's imputers do.
    method : str or None
    method_options : dict or None
    max_iter : int
    gap : float or None
        Stop at this certified relative gap.
    random_state : int, RandomState or None
    n_threads : int

    Attributes
    ----------
    result_ : tracenorm.Result
        The low-rank fit of the training data in scaled units, with its certificate.
    components_ : array of shape (rank, n_features)
        The learned factors, one a row.
    center_, scale_ : arrays of shape (n_features,)
    n_iter_ : int
    dual_gap_ : float
    radius_ : float
    n_features_in_, feature_names_in_
    """

    def __init__(
        self,
        radius: Any = "auto",
        *,
        loss: Any = "absolute",
        keep_observed: bool = True,
        scale: bool = True,
        keep_empty_features: bool = False,
        method: str | None = None,
        method_options: MethodOptions | None = None,
        max_iter: int = 500,
        gap: float | None = 0.01,
        random_state: Any = 1,
        n_threads: int = 0,
    ) -> None:
        self.radius = radius
        self.loss = loss
        self.keep_observed = keep_observed
        self.scale = scale
        self.keep_empty_features = keep_empty_features
        self.method = method
        self.method_options = method_options
        self.max_iter = max_iter
        self.gap = gap
        self.random_state = random_state
        self.n_threads = n_threads

    def fit(self, X: Any, y: Any = None) -> RobustImputer:
        """Learns the factors from X, where NaN marks what is missing."""
        X = self._checked(X, reset=True)
        self.center_: Floats = np.zeros(X.shape[1])
        self.scale_: Floats = np.ones(X.shape[1])
        if self.scale:
            self.center_, self.scale_ = _column_units(X)
        Z = (X - self.center_) / self.scale_
        rows, cols = np.nonzero(~np.isnan(Z))
        if len(rows) == 0:
            raise ValueError("X holds nothing but NaN; there must be at least one observed entry")
        self._empty = np.isnan(Z).all(axis=0)
        slopes = _Slopes(self.loss)
        slopes.check()
        self.result_ = fit_triplets(
            (rows, cols, Z[rows, cols]),
            Z.shape,
            self.radius,
            loss=self.loss,
            prepare="none",
            norm_power=0.0,
            method=self.method,
            method_options=self.method_options,
            iterations=self.max_iter,
            gap=self.gap,
            seed=seed_from(self.random_state),
            threads=self.n_threads,
        )
        kept = self.result_.values > 1e-6 * self.result_.values.max(initial=0)
        self.components_: Floats = np.ascontiguousarray(self.result_.right.T[kept])
        self.components_[:, self._empty] = 0  # of these columns nothing is known; what stands there is rounding
        spread = self.result_.values[kept] / np.sqrt(len(Z))
        # Of a loss's noise: E r f'(r). It is the scale of a Laplace law for the absolute loss, a variance for a square.
        fitted, datum = self.result_.predict(rows, cols), Z[rows, cols]
        noise = float(np.mean((fitted - datum) * slopes(fitted, datum)))
        signal = float(np.mean(-datum * slopes(np.zeros_like(datum), datum)))  # the same of a fit that is zero
        self._prior = (max(noise, 1e-12 * signal) or 1e-12) / np.square(spread)
        self.n_iter_ = self.result_.iterations
        self.radius_ = self.result_.radius
        self.dual_gap_ = self.result_.objective - self.result_.lower_bound
        return self

    def transform(self, X: Any) -> Floats:
        """X with its holes filled."""
        check_is_fitted(self)
        observed = self._checked(X, reset=False)
        missing = np.isnan(observed)
        if self.keep_observed and not missing.any():
            return self._kept(observed)
        Z = (observed - self.center_) / self.scale_
        fit: Floats = _regress(Z, self.components_, self._prior, _Slopes(self.loss)) @ self.components_
        fit = fit * self.scale_ + self.center_
        return self._kept(np.where(missing, fit, observed) if self.keep_observed else fit)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """The names of the columns that ``transform`` gives."""
        names: npt.NDArray[Any] = super().get_feature_names_out(input_features)
        return names if self.keep_empty_features else names[~self._empty]

    def _kept(self, filled: Floats) -> Floats:
        """Without the columns of which nothing is known, in scikit-learn's words."""
        if self.keep_empty_features or not self._empty.any():
            return filled
        names = getattr(self, "feature_names_in_", np.arange(filled.shape[1]))[self._empty].tolist()
        warnings.warn(
            f"Skipping features without any observed values: {names}. keep_empty_features=True fills them with 0.",
            UserWarning,
            stacklevel=3,
        )
        return filled[:, ~self._empty]

    def _checked(self, X: Any, reset: bool) -> Floats:
        checked = validate_data(self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan", copy=True)
        return np.asarray(checked, dtype=np.float64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class _Slopes:
    """The derivative of a loss in the prediction, on arrays."""

    def __init__(self, loss: Any) -> None:
        self._function = PythonLoss(loss) if callable(loss) else None
        self._name = "" if callable(loss) else named("loss", loss)

    def values(self, x: Floats, y: Floats) -> Floats:
        if self._function is not None:
            return self._function(x, y)
        return _core.loss_values(self._name, np.ascontiguousarray(x), np.ascontiguousarray(y))

    def __call__(self, x: Floats, y: Floats) -> Floats:
        if self._function is not None:
            half = 1e-6 * np.maximum(1.0, np.abs(x))
            return (self._function(x + half, y) - self._function(x - half, y)) / (2 * half)
        return _core.loss_slopes(self._name, np.ascontiguousarray(x), np.ascontiguousarray(y))

    def check(self) -> None:
        """Refuses losses of labels: there is no regression of new rows on them."""
        y = np.array([-1.5, 0.0, 0.25, 2.0])
        at_data = self.values(y, y)
        if (self.values(y + 0.5, y) < at_data).any() or (self.values(y - 0.5, y) < at_data).any():
            raise ValueError(
                f"loss = {self._name or 'function'}; an imputer needs a loss that is smallest where prediction and "
                "datum agree, such as absolute, huber or squared"
            )


def _column_units(X: Floats) -> tuple[Floats, Floats]:
    """Median and median deviation of each column; the standard deviation, or 1, where more than half are equal."""
    center, scale = np.zeros(X.shape[1]), np.ones(X.shape[1])
    for j, column in enumerate(X.T):
        seen = column[~np.isnan(column)]
        if seen.size == 0:
            continue
        center[j] = np.median(seen)
        deviation = 1.4826 * float(np.median(np.abs(seen - center[j]))) or float(seen.std())
        if deviation > 1e-12 * abs(center[j]):
            scale[j] = deviation
    return center, scale


def _regress(Z: Floats, components: Floats, prior: Floats, slopes: _Slopes) -> Floats:
    """Coefficients c of every row z: minimises sum loss(c @ components, z) + sum prior c^2 / 2, by reweighted squares.

    The weight of an entry is slope / residual, which makes each step a minimisation of a parabola above the loss.
    """
    out = np.zeros((len(Z), len(components)))
    if len(components) == 0:
        return out
    block = max(1, 2**22 // (components.size + len(components) ** 2))
    for first in range(0, len(Z), block):
        out[first : first + block] = _regress_block(Z[first : first + block], components, prior, slopes)
    return out


def _regress_block(Z: Floats, components: Floats, prior: Floats, slopes: _Slopes) -> Floats:
    seen = ~np.isnan(Z)
    data = np.where(seen, Z, 0.0)
    # Everything is relative to the size of the data, which may have any units.
    sizes = np.abs(data[seen])
    usual = (float(np.median(sizes)) or float(sizes.mean()) or 1.0) if seen.any() else 1.0
    weight = seen * (float(slopes(np.full(1, usual), np.zeros(1))[0]) / usual or 1.0)
    coefficients: Floats = np.zeros((len(Z), len(components)))
    least = 1e-4 * usual
    for _ in range(50):
        weighted = weight[:, None, :] * components
        normal = weighted @ components.T
        normal[:, np.arange(len(prior)), np.arange(len(prior))] += prior
        right = weighted @ data[:, :, None]
        updated = np.linalg.solve(normal, right)[:, :, 0].astype(np.float64, copy=False)
        change = np.abs(updated - coefficients).max(initial=0)
        coefficients = updated
        fitted = coefficients @ components
        residual = fitted[seen] - data[seen]
        residual = np.where(np.abs(residual) < least, np.where(residual < 0, -least, least), residual)
        weight[seen] = np.maximum(slopes(data[seen] + residual, data[seen]) / residual, 0.0)
        if change <= 1e-6 * np.abs(coefficients).max(initial=0):
            break
    return coefficients
