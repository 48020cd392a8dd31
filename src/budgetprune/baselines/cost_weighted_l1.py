"""`CostWeightedL1`: logistic regression with an l1 penalty in proportion to feature costs."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from budgetprune.baselines.base import Priced
from budgetprune.baselines.grower_forest import find_several_classes
from budgetprune.baselines.grower_parameters import whole_number
from budgetprune.baselines.l1_logistic import fit_l1_logistic
from budgetprune.costs import CostTable
from budgetprune.errors import InvalidInputError
from budgetprune.utils.numbers import at_least_zero
from budgetprune.utils.special import expit
from budgetprune.utils.validation import labels_of, weights_of


class CostWeightedL1(ClassifierMixin, Priced, BaseEstimator):  # type: ignore[misc]
    """Logistic regression with an l1 penalty on each feature in proportion to its price.

    Minimises ``C * (sum over rows of the logistic loss) + sum over features k of p_k * |b_k|``, where p_k is
    the price of feature k, relative to the average of all that are not free, and b_k its coefficient
    for columns of mean 0 and standard deviation 1. (Divided by its price, a column would have an
    ordinary l1 penalty.) The coefficients of free features, and the intercept, are not penalised.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty: smaller values select fewer features.
    costs : FeatureCosts, or anything that `FeatureCosts.of` takes
        None means 1 per feature.
    max_iter : int, default=100
    tol : float, default=1e-6
        Tolerance on the partial derivatives of the mean loss.
    n_jobs : int, optional
        Number of classes fitted in parallel, if there are more than two.

    Attributes
    ----------
    coef_, intercept_ : float64 arrays of shape (n_functions, n_features) and (n_functions,)
        For columns as they are in X; one function for two classes, else one per class.
    sources_used_ : bool array of shape (n_sources,)
        Sources that every row pays for: those needed by features with a coefficient.
    classes_ : array of shape (n_classes,)
    n_iter_ : int
        Largest number of iterations of a function.

    Notes
    -----
    *Shared sources.* An l1 penalty is a sum over features, so it cannot express that a source is paid
    once: a feature is penalised by the price of everything that it needs, as if it were the only one.
    The cost of predictions (`acquisition_cost`) counts each source once.

    More than two classes are learned one against the rest, and probabilities scaled to a sum of 1.
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        costs: Any = None,
        max_iter: int = 100,
        tol: float = 1e-6,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.costs = costs
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CostWeightedL1:
        """Fit the coefficients.

        Parameters
        ----------
        X, y : array-like
        sample_weight : array-like, optional
        """
        if at_least_zero(self.C, "C") == 0:
            raise InvalidInputError("C must be above 0; the penalty is 1 / C.")
        tol, max_iter = at_least_zero(self.tol, "tol"), whole_number("max_iter", self.max_iter, 1)
        X = self._complete(X, reset=True)
        weight = weights_of(X, sample_weight)
        classes, label = find_several_classes(labels_of(self, X, y))
        prices = self._resolve_costs()
        scaler = StandardScaler().fit(X, sample_weight=weight)
        columns, penalty = scaler.transform(X), _penalties(prices) / self.C
        weight = np.ones(len(X)) if weight is None else weight
        targets = [label == c for c in range(1 if classes.size == 2 else 0, classes.size)]
        # Threads suffice, as matrix products take nearly all of the time. One thread per class, as
        # these matrices are too small to be split further.
        with threadpool_limits(1, user_api="blas"):
            fitted = Parallel(n_jobs=self.n_jobs, prefer="threads")(
                delayed(fit_l1_logistic)(columns, target, weight, penalty, tol, max_iter)
                for target in targets
            )
        if not all(one.has_converged for one in fitted):
            warnings.warn(
                f"the solver did not converge within max_iter={max_iter} steps; increase max_iter.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.coef_: NDArray[np.float64] = np.array([one.coef for one in fitted]) / scaler.scale_
        self.intercept_ = np.array([one.intercept for one in fitted]) - self.coef_ @ scaler.mean_
        self.n_iter_ = max(one.n_iter for one in fitted)
        self.classes_: NDArray[Any] = classes
        self._prices = prices
        feature = np.repeat(np.arange(prices.n_features), np.diff(prices.needs_start))
        self.sources_used_ = np.zeros(prices.n_sources, dtype=bool)
        self.sources_used_[prices.needs[np.any(self.coef_ != 0, axis=0)[feature]]] = True
        return self

    def _complete(self, X: Any, *, reset: bool = False) -> NDArray[np.float64]:
        """Validate rows as numbers without missing values."""
        rows: NDArray[np.float64] = validate_data(
            self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan"
        )
        holes = np.flatnonzero(np.isnan(rows).any(axis=0))
        if holes.size:
            names = self._own_names()
            column = f"column {holes[0]}" if names is None else f"column {names[holes[0]]!r}"
            raise InvalidInputError(
                f"X has missing values (NaN) in {column} ({holes.size} such column(s)), which a "
                "linear model cannot use; impute them: make_pipeline(SimpleImputer(), CostWeightedL1())."
            )
        return rows

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores: (n_rows,) for two classes, else (n_rows, n_classes)."""
        check_is_fitted(self)
        scores: NDArray[np.float64] = self._complete(X) @ self.coef_.T + self.intercept_
        return scores[:, 0] if self.classes_.size == 2 else scores

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Estimate the probability of each class, of shape (n_rows, n_classes)."""
        share = expit(self.decision_function(X))
        if self.classes_.size == 2:
            return np.column_stack([1 - share, share])
        return np.asarray(share / np.maximum(share.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row."""
        scores = self.decision_function(X)
        label = (scores > 0).astype(np.intp) if self.classes_.size == 2 else np.argmax(scores, axis=1)
        labels: NDArray[Any] = self.classes_[label]
        return labels

    def acquisition_cost(self, X: Any) -> NDArray[np.float64]:
        """Compute the cost of each row, of shape (n_rows,): the same for all rows."""
        check_is_fitted(self)
        n_rows = len(validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite=False))
        return np.full(n_rows, self._prices.price[self.sources_used_].sum())


def _penalties(prices: CostTable) -> NDArray[np.float64]:
    """Prices relative to the average nonzero price, so that C does not depend on their unit."""
    price = prices.price_alone
    paid = price[price > 0]
    return price / paid.mean() if paid.size else price
