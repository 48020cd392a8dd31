"""Base classes of the baselines: feature costs, and prediction by a forest."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from budgetprune.baselines.grower_parameters import whole_number
from budgetprune.costs import CostTable, FeatureCosts
from budgetprune.forest import PER_NODE, Adapter, Forest, check_fitted, in_bag_counts, register_adapter
from budgetprune.problem import sources_used
from budgetprune.selection import with_names
from budgetprune.utils.validation import rows_of


class Priced:
    """Mixin for estimators with a `costs` parameter, resolved for their features."""

    costs: Any
    n_features_in_: int

    def _resolve_costs(self) -> CostTable:
        """Resolve the costs, or raise if they are invalid; called once features are known."""
        return FeatureCosts.of(self.costs).resolve(self.n_features_in_, self._own_names())

    def _own_names(self) -> tuple[str, ...] | None:
        return tuple(self.feature_names_in_) if hasattr(self, "feature_names_in_") else None


class AcceptsMissingValues:
    """Mixin for estimators that accept sparse rows and missing values."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags


class PricedForest(Priced):
    """Base class of tree estimators: `fit` ends with `_store(forest)`, which predictions and costs use.

    `fit` begins with ``X = rows_of(self, X, reset=True)`` (or scikit-learn's `validate_data`), so that the
    features are known, and with `_resolve_costs`, so that invalid costs raise before any tree is grown.
    """

    forest_: Forest
    _prices: CostTable

    def _store(self, forest: Forest) -> None:
        """Store the trees, with the user's feature names, and the resolved costs."""
        self.forest_ = with_names(forest, self._own_names())
        self._prices = self._resolve_costs()
        if forest.classes is not None:
            self.classes_: NDArray[Any] = np.asarray(forest.classes)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the label or the target of each row."""
        check_is_fitted(self)
        return self.forest_.predict(rows_of(self, X))

    def acquisition_cost(self, X: Any) -> NDArray[np.float64]:
        """Compute the full cost of each row: every source on its paths through all trees, (n_rows,)."""
        check_is_fitted(self)
        return self._prices.total(sources_used(self.forest_, self._prices, rows_of(self, X)))


_BASELINES = (
    "BudgetRF",
    "CCP",
    "CEGBClassifier",
    "CEGBRegressor",
    "GreedyMiser",
    "GreedyMiserRegressor",
    "GreedyPrune",
    "PlainForest",
)


def _from_baseline(model: Any) -> Forest:
    """Return the forest of a fitted baseline, so that it can be pruned."""
    check_fitted(model)
    forest: Forest = model.forest_
    return forest


class BaselineAdapter(Adapter):
    """Import of the baselines."""

    name = title = "budgetprune"
    importers = dict.fromkeys((f"budgetprune.{name}" for name in _BASELINES), _from_baseline)

    def in_bag_counts(self, model: Any, n_rows: int) -> NDArray[np.int32]:
        return in_bag_counts(model, n_rows)


register_adapter(BaselineAdapter())


class PricedBoosting(PricedForest):
    """Base class of boosted tree estimators."""

    n_estimators: int

    def first_rounds(self, n_rounds: int) -> Self:
        """Return the estimator as it was after `n_rounds` rounds; nothing is trained.

        Parameters
        ----------
        n_rounds : int
        """
        check_is_fitted(self)
        shorter = copy.copy(self)
        shorter.n_estimators = whole_number("n_rounds", n_rounds, 1, self.n_estimators)
        shorter.forest_ = first_rounds(self.forest_, n_rounds)
        return shorter


def first_rounds(forest: Forest, n_rounds: int) -> Forest:
    """Keep the trees of the first boosting rounds only; `origin` is dropped."""
    assert forest.tree_round is not None
    n_trees = int(np.searchsorted(forest.tree_round, n_rounds))
    if n_trees == forest.n_trees:
        return forest
    n_nodes = forest.tree_start[n_trees]
    arrays = {name: getattr(forest, name) for name in PER_NODE}
    nodes: dict[str, Any] = {
        name: None if array is None else array[:n_nodes] for name, array in arrays.items()
    }
    return replace(
        forest,
        **nodes,
        tree_start=forest.tree_start[: n_trees + 1],
        tree_output=forest.tree_output[:n_trees],
        tree_round=forest.tree_round[:n_trees],
        origin=None,
    )


class PricedForestClassifier(PricedForest):
    """Base class of classifiers made of trees."""

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Estimate the probability of each class, of shape (n_rows, n_classes)."""
        check_is_fitted(self)
        return self.forest_.predict_proba(rows_of(self, X))
