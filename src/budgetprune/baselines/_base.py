"""What rivals have in common: a price list and, if they are made of trees, all that follows from these."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from budgetprune._estimator_rows import rows_of
from budgetprune._growing import with_names
from budgetprune.acquisition import sources_used
from budgetprune.costs import CostTable, FeatureCosts
from budgetprune.forest import Forest


class Priced:
    """An estimator whose features cost something: what it takes as `costs`, laid out for its features."""

    costs: Any
    n_features_in_: int

    def _resolve_costs(self) -> CostTable:
        """Lay the costs out, or say what is wrong with them: once features are known, before any work."""
        return FeatureCosts.of(self.costs).resolve(self.n_features_in_, self._own_names())

    def _own_names(self) -> tuple[str, ...] | None:
        return tuple(self.feature_names_in_) if hasattr(self, "feature_names_in_") else None


class PricedForest(Priced):
    """An estimator made of trees: `fit` ends with `_take(forest)`, and predictions and costs follow from it.

    `fit` begins with ``X = rows_of(self, X, reset=True)`` (or scikit-learn's `validate_data`), so that the
    features are known, and with `_resolve_costs`, so that wrong costs are an error before any tree is grown.
    """

    forest_: Forest
    _prices: CostTable

    def _take(self, forest: Forest) -> None:
        """Keep the trees, their features called what the user calls them, and the costs as they are now."""
        self.forest_ = with_names(forest, self._own_names())
        self._prices = self._resolve_costs()
        if forest.classes is not None:
            self.classes_: NDArray[Any] = np.asarray(forest.classes)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the label of each row, or its target."""
        check_is_fitted(self)
        return self.forest_.predict(rows_of(self, X))

    def acquisition_cost(self, X: Any) -> NDArray[np.float64]:
        """Add up what each row pays: every source on its paths through all trees (full cost), (n_rows,)."""
        check_is_fitted(self)
        return self._prices.total(sources_used(self.forest_, self._prices, rows_of(self, X)))


class PricedForestClassifier(PricedForest):
    """The same for classifiers."""

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Estimate the probability of each class, of shape (n_rows, n_classes)."""
        check_is_fitted(self)
        return self.forest_.predict_proba(rows_of(self, X))
