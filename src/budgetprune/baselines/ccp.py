"""Cost-complexity pruning (Breiman et al., 1984) of each tree, with one alpha for all."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from budgetprune.baselines.curve import PruningCurve, check_is_forest
from budgetprune.baselines.grown import GrownForest
from budgetprune.baselines.kernels import cut_weakest_links
from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.utils.numbers import at_least_zero

Criterion = Literal["gini", "entropy"]

_ANY_ALPHA = np.finfo(np.float64).smallest_subnormal


def ccp_curve(forest: Forest, criterion: Criterion | None = None) -> PruningCurve:
    """Compute the weakest-link pruning of each tree of a forest for all alphas.

    The pruning at alpha minimises, tree by tree, impurity of the leaves plus alpha times their number.
    It ignores feature costs.

    Parameters
    ----------
    forest : Forest
        Averaged trees.
    criterion : {"gini", "entropy"}, optional
        Impurity of a classifier's nodes, from the weights of their classes. None: the one that scikit-learn
        recorded while it grew the trees, and "gini" for a forest that was not grown there. Regression trees
        have the impurity on record, or the variance.

    Returns
    -------
    curve : PruningCurve
        Its parameter is alpha: `forest(i)` is the same for all alphas from ``parameter[i]`` to the next one.

    Notes
    -----
    Ties and rounding of sums are handled as in scikit-learn: what ``ccp_alpha=alpha`` keeps there,
    ``curve.forest(curve.at(alpha))`` keeps here, node by node.
    """
    if criterion not in (None, *get_args(Criterion)):
        raise InvalidInputError(f"criterion={criterion!r} is unknown; use None, 'gini' or 'entropy'.")
    check_is_forest(forest)
    if forest.is_boosted:
        raise InvalidInputError(
            "cost-complexity pruning is for trees that are averaged; boosted trees correct each other, and "
            "have no impurities of the targets. Train them with their library's own ccp_alpha or gamma "
            "instead."
        )
    roots = forest.tree_start[:-1]
    weight = forest.weight * _impurity(forest, criterion)
    risk = weight / forest.weight[roots][forest.tree_of_node]
    by_origin = np.lexsort((forest.origin_node, forest.tree_of_node))
    alpha = np.zeros(forest.n_nodes)
    for root, end in pairwise(forest.tree_start.tolist()):
        cut_weakest_links(alpha, root, end, forest.parent, forest.right, risk, by_origin)
    # An alpha of 0 means no pruning in scikit-learn; any larger alpha removes splits without a gain.
    alpha = np.where(forest.is_split, np.maximum(alpha, _ANY_ALPHA), 0.0)
    parameter = np.unique(np.append(alpha, 0.0))
    return PruningCurve(forest, parameter, np.searchsorted(parameter, alpha))


class CCP(GrownForest):
    """Cost-complexity pruning of each tree of a forest, without regard to feature costs.

    Parameters
    ----------
    estimator : estimator, optional
        Ensemble to grow and prune: a forest, a tree or bagged trees of scikit-learn; frozen
        (`sklearn.frozen.FrozenEstimator`), it is only pruned. None means ``RandomForestClassifier()``.
    ccp_alpha : float, default=0.0
        Decrease of its tree's impurity that a leaf must bring to be kept; the same for all trees.
        0 prunes nothing.
    costs : FeatureCosts, or anything that `FeatureCosts.of` takes
        Costs of predictions; pruning ignores them. None means 1 per feature.
    random_state, n_jobs : optional
        For the estimator, if its own values are None.

    Attributes
    ----------
    estimator_ : the fitted estimator, not pruned
    curve_ : PruningCurve
        The prunings for all other alphas.
    forest_ : Forest
    classes_ : array of shape (n_classes,), for classifiers
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        ccp_alpha: float = 0.0,
        costs: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(estimator, costs=costs, random_state=random_state, n_jobs=n_jobs)
        self.ccp_alpha = ccp_alpha

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CCP:
        """Grow the ensemble, unless it is frozen, and prune it."""
        alpha = at_least_zero(self.ccp_alpha, "ccp_alpha")
        _, forest = self._grow(X, y, sample_weight)
        self.curve_ = ccp_curve(forest)
        self._store(self.curve_.forest(self.curve_.at(alpha)))
        return self


# --- Impurities ---------------------------------------------------------------------------------------------


def _impurity(forest: Forest, criterion: Criterion | None) -> NDArray[np.float64]:
    """Impurity of every node's training rows."""
    recorded = _recorded_impurity(forest) if criterion is None or not forest.is_classifier else None
    if recorded is not None:
        return recorded
    if forest.is_classifier and forest.class_weight is not None:
        share = forest.class_weight / np.maximum(forest.class_weight.sum(axis=1, keepdims=True), 1e-300)
        if criterion == "entropy":
            return np.asarray(np.sum(entr(share), axis=1) / np.log(2))
        return np.asarray(1.0 - np.sum(share**2, axis=1))
    if not forest.is_classifier and forest.variance is not None:
        return forest.variance
    raise InvalidInputError(
        "this forest has no node impurities; cost-complexity pruning needs a forest of "
        "scikit-learn, or class_weight (variance, for regression)."
    )


def _recorded_impurity(forest: Forest) -> NDArray[np.float64] | None:
    """Impurity that scikit-learn recorded while it grew the trees, bit for bit."""
    trees = getattr(forest.origin, "estimators_", [forest.origin])
    if len(trees) != forest.n_trees or not all(hasattr(tree, "tree_") for tree in trees):
        return None
    start = np.cumsum([0, *(tree.tree_.node_count for tree in trees)])[:-1]
    impurity: NDArray[np.float64] = np.concatenate([tree.tree_.impurity for tree in trees])
    return impurity[start[forest.tree_of_node] + forest.origin_node]
