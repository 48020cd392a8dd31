"""Predictions and costs of a pruned forest, with the methods of a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from budgetprune.costs import CostTable
from budgetprune.forest import Forest, as_shares, explained_variances
from budgetprune.predictor import BudgetPredictor, Residuals
from budgetprune.preprocessing import PricedPreprocessing
from budgetprune.problem import Pruning, sources_used
from budgetprune.refit import Refit
from budgetprune.utils.validation import rows_of


class PrunedModel:
    """Pruned forest whose features have prices.

    The public estimators extend it, and so do the models that scorers see while candidates are compared.
    """

    counting: str
    threshold: float | None = None
    tolerance: float | None = None
    slack_: float
    _pruned: Pruning | Refit
    _prices: CostTable
    # Computes the features of the forest from raw columns, if the model was at the end of a pipeline.
    _priced: PricedPreprocessing | None = None
    _residuals: Residuals | None = None

    @property
    def forest_(self) -> Forest:
        """The pruned forest."""
        if "_pruned" not in self.__dict__:
            raise AttributeError("forest_ is not there before fit.")
        return self._pruned.forest

    @property
    def _interpreter(self) -> Forest:
        """Forest that turns scores into labels as `forest_` does, without building the pruned one."""
        return self._pruned.unpruned if isinstance(self._pruned, Pruning) else self._pruned.forest

    def _check_rows(self, X: Any) -> Any:
        """Return rows after checking that they have the features seen in `fit`; tables stay tables."""
        return rows_of(self, X, may_hold_text=self._priced is not None)

    def _encoded_rows(self, X: Any) -> Any:
        """Return rows with the features of the forest, after the same checks."""
        rows = self._check_rows(X)
        return rows if self._priced is None else self._priced.preprocessing.rows_for(self.forest_, rows)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        return self.forest_.scores(self._encoded_rows(X))

    def _early_labels(self, X: Any) -> NDArray[Any] | None:
        """Labels of predictions that stop early, or None if they are those of all features together."""
        check_is_fitted(self)
        if self.counting == "full" or not (self.slack_ > 0 or self.tolerance):
            return None
        return self.predictor().simulate(self._check_rows(X)).label

    def predictor(self, *, max_cost: float | None = None) -> BudgetPredictor:
        """Create a predictor that acquires an example's sources one by one, and stops once it is decided.

        Parameters
        ----------
        max_cost : float, optional
            Largest cost of one example; see `BudgetPredictor`.
        """
        check_is_fitted(self)
        return BudgetPredictor(
            self.forest_,
            self._prices if self._priced is None else self._priced.raw_costs,
            slack=self.slack_,
            max_cost=max_cost,
            threshold=self.threshold,
            tolerance=self.tolerance,
            preprocessing=None if self._priced is None else self._priced.preprocessing,
            residuals=self._residuals,
        )

    def sources_used(self, X: Any) -> NDArray[np.bool_]:
        """Find the sources that each row needs, of shape (n_rows, n_sources); see `source_names_`.

        Every source on its paths through all trees, except those without a price; with
        ``counting="decided"`` those that it acquires until it is decided.
        """
        check_is_fitted(self)
        if self.counting == "decided":
            return self.predictor().simulate(self._check_rows(X)).acquired
        return sources_used(self.forest_, self._prices, self._encoded_rows(X))

    def acquisition_cost(self, X: Any) -> NDArray[np.float64]:
        """Cost of the sources of each row, of shape (n_rows,); `counting` says which sources count."""
        used = self.sources_used(X)
        return self._prices.total(used)

    @property
    def source_names_(self) -> tuple[str, ...]:
        """Names of the sources: the columns of `sources_used`."""
        check_is_fitted(self)
        return self._prices.source_names

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each feature of `forest_` in the variance that the splits of the pruned ensemble explain.

        The definition is scikit-learn's (decrease of the Gini impurity, or of the squared error), for the
        splits that remain and with refitted leaf values; for boosted trees, the variance of their scores. The
        shares sum to 1, or are all 0 if no split remains. Prices have an influence only through the splits
        that were pruned. With preprocessing, the features are raw columns: what an encoded feature explains
        is divided equally among the columns that it needs.
        """
        check_is_fitted(self)
        explained = explained_variances(self.forest_)
        if self._priced is not None:
            explained = self._priced.preprocessing.by_raw_column(explained)
        return as_shares(explained)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_pruned")


def _has_summed_scores(estimator: Any) -> bool:
    if estimator._interpreter.link == "identity":
        raise AttributeError("a forest that averages probabilities has no decision_function.")
    return True


class PrunedClassifier(PrunedModel):
    """Predictions of a pruned classifier."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row.

        By the rule of the library that the ensemble came from; with a `threshold`, the second class if its
        probability is at least the threshold. With slack, the labels of predictions that stop early.
        """
        early = self._early_labels(X)
        if early is not None:
            return early
        forest, scores = self._interpreter, self._scores(X)
        if self.threshold is None:
            return forest.answers(scores)
        is_second = forest.probabilities(scores)[:, 1] >= self.threshold
        return np.asarray(forest.classes)[is_second.astype(np.intp)]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Estimate the probability of each class from all features, of shape (n_rows, n_classes)."""
        scores = self._scores(X)
        return self._interpreter.probabilities(scores)

    @available_if(_has_summed_scores)
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores before the link: (n_rows,) for two classes, else (n_rows, n_classes).

        Forests that average probabilities do not have it: their scores are the probabilities.
        """
        scores = self._scores(X)
        if scores.shape[1] == 1:
            return scores[:, 0]
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


class PrunedRegressor(PrunedModel):
    """Predictions of a pruned regressor."""

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict the target of each row; with a tolerance, the targets of predictions that stop early."""
        early = self._early_labels(X)
        return self._interpreter.answers(self._scores(X)) if early is None else early
