"""Completion of a matrix as a regression on (row, column) pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .._ids import number_ids
from .._loss import wants_labels
from .._options import MethodOptions
from ._common import fit_triplets, seed_from


class MatrixCompletion(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Robust completion of a matrix from some of its entries: a regressor on (row, column) pairs.

    ``X`` has one pair of ids per line, ``y`` the entries. Ids may be numbers or text. Further columns of ``X`` (a time
    stamp, say) are not looked at. A pair that is given several times counts as its weighted mean, with the sum of the
    weights.

    Parameters
    ----------
    radius : float or "auto"
        Bound on the trace norm, in the units of the prepared data. "auto" chooses one by validation.
    loss : str, tuple, function or None
        None, here and below: chosen, as in ``tracenorm.fit``.
    penalty : str or tuple
        As in ``tracenorm.fit``.
    prepare : str or None
        Change of units before solving, undone in predictions.
    norm_power : float or None
        Weighs rows and columns in the trace norm by that power of how many entries they have.
    method : str or None
    method_options : dict or None
        Options of the method.
    max_iter : int
        Most iterations.
    gap : float or None
        Stop at this certified relative gap.
    features : pair
        Which columns of ``X`` hold the row ids and the column ids: positions, or names when ``X`` is a frame.
    random_state : int, RandomState or None
        The seed; an int gives the same bits every time.
    n_threads : int
        0: all cores. Results do not depend on it.

    Attributes
    ----------
    result_ : tracenorm.Result
        The answer with its certificate; its names are the ids.
    n_iter_ : int
    dual_gap_ : float
        Certified distance of the objective from the optimum.
    radius_ : float
        The radius that was used.
    n_features_in_, feature_names_in_
    """

    def __init__(
        self,
        radius: Any = "auto",
        *,
        loss: Any = None,
        penalty: Any = "none",
        prepare: str | None = None,
        norm_power: float | None = None,
        method: str | None = None,
        method_options: MethodOptions | None = None,
        max_iter: int = 500,
        gap: float | None = None,
        features: tuple[Any, Any] = (0, 1),
        random_state: Any = 1,
        n_threads: int = 0,
    ) -> None:
        self.radius = radius
        self.loss = loss
        self.penalty = penalty
        self.prepare = prepare
        self.norm_power = norm_power
        self.method = method
        self.method_options = method_options
        self.max_iter = max_iter
        self.gap = gap
        self.features = features
        self.random_state = random_state
        self.n_threads = n_threads

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MatrixCompletion:
        """Learns from the entries ``y`` at the places ``X``."""
        X, y = validate_data(self, X, y, dtype=None, y_numeric=True)
        row_ids, col_ids = self._pairs(X)
        weight = _checked_weight(sample_weight, len(y))
        seen = weight > 0
        rows, row_names = number_ids(row_ids[seen], "X[:, row]", ordered=True)
        cols, col_names = number_ids(col_ids[seen], "X[:, column]", ordered=True)
        rows, cols, values, weight = _merge(rows, cols, np.asarray(y, dtype=np.float64)[seen], weight[seen])
        # Equal values have no deviation to divide by.
        equal = np.ptp(values) == 0 and not (self.loss is not None and wants_labels(self.loss))
        prepare = "center" if equal and self.prepare in (None, "zscore") else self.prepare
        self.result_ = fit_triplets(
            (rows, cols, values),
            (len(row_names), len(col_names)),
            self.radius,
            loss=self.loss,
            penalty=self.penalty,
            prepare=prepare,
            norm_power=self.norm_power,
            method=self.method,
            method_options=self.method_options,
            iterations=self.max_iter,
            gap=self.gap,
            seed=seed_from(self.random_state),
            threads=self.n_threads,
            weights=None if (weight == 1).all() else weight,
        )
        self.result_._model.row_names, self.result_._model.col_names = row_names, col_names
        self.n_iter_ = self.result_.iterations
        self.radius_ = self.result_.radius
        self.dual_gap_ = self.result_.objective - self.result_.lower_bound
        return self

    def fold_in(self, X: Any, y: Any) -> MatrixCompletion:
        """Makes rows known that were not there in training, from the few entries ``y`` of theirs at the places ``X``.

        Everything else stays as it was fitted; see ``tracenorm.Model.fold_in``. A row that is known already is fitted
        anew, to these entries alone.
        """
        check_is_fitted(self)
        X, y = validate_data(self, X, y, dtype=None, y_numeric=True, reset=False)
        row_ids, col_ids = self._pairs(X)
        self.result_ = self.result_.fold_in((row_ids, col_ids, y))
        return self

    def predict(self, X: Any, interval: float | None = None) -> Any:
        """The entries at the places ``X``.

        Where an id was not there in training: the center of the training data, with the offset of the id that was.
        ``fold_in`` makes rows known. With ``interval=0.9`` three arrays: predictions, and the ends of intervals that
        hold nine tenths of such entries.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=None, reset=False)
        row_ids, col_ids = self._pairs(X)
        return self.result_.predict(row_ids, col_ids, unknown="center", interval=interval)

    def _pairs(self, X: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        if X.shape[1] < 2:
            raise ValueError(
                f"X has {X.shape[1]} feature(s) (shape={X.shape}) while a minimum of 2 is required: "
                "a row id and a column id"
            )
        places = []
        for feature in self.features:
            if isinstance(feature, str):
                known = list(getattr(self, "feature_names_in_", []))
                if feature not in known:
                    raise ValueError(f"features names {feature!r}; X has the columns {known}")
                feature = known.index(feature)
            if not -X.shape[1] <= feature < X.shape[1]:
                raise ValueError(f"features = {self.features}; X has {X.shape[1]} columns")
            places.append(X[:, feature])
        return places[0], places[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        # Ids say nothing about pairs that were not seen: on arbitrary numbers as ids nothing can be learnt.
        tags.regressor_tags.poor_score = True
        return tags


def _checked_weight(sample_weight: Any, count: int) -> npt.NDArray[np.float64]:
    if sample_weight is None:
        return np.ones(count)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(count, float(weight))
    if weight.shape != (count,):
        raise ValueError(f"sample_weight has shape {weight.shape}; it must be ({count},)")
    if not (np.isfinite(weight).all() and (weight >= 0).all() and (weight > 0).any()):
        raise ValueError("sample_weight must be finite, not negative, and not all zero")
    return weight


def _merge(rows: Any, cols: Any, values: Any, weight: Any) -> tuple[Any, Any, Any, Any]:
    """Each pair once: weighted mean of its values, sum of its weights.

    Plain entries stay in the order in which they came, which is what decides on which of them a radius is chosen: as
    the program reads them from a file. Weighted or repeated ones are put in the order of the matrix, so that a weight
    of two and an entry given twice are the same.
    """
    width = np.int64(cols.max()) + 1
    unique, inverse = np.unique(rows.astype(np.int64) * width + cols, return_inverse=True)
    if len(unique) == len(values) and (weight == 1).all():
        return rows, cols, values, weight
    total = np.bincount(inverse, weights=weight)
    mean = np.bincount(inverse, weights=weight * values) / total
    return (unique // width).astype(np.int32), (unique % width).astype(np.int32), mean, total
