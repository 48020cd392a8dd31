"""Cost-complexity pruning (Breiman et al., 1984) of each tree, with one alpha for all."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from budgetprune.baselines.curve import PruningCurve, check_is_forest
from budgetprune.baselines.grown import GrownForest
from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.utils.jit import njit
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
    alpha = critical_alphas(forest.tree_start, forest.parent, forest.right, risk, by_origin)
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


# --- Weakest links ------------------------------------------------------------------------------------------


@njit(cache=True)
def critical_alphas(
    tree_start: NDArray[np.int64],
    parent: NDArray[np.int32],
    right: NDArray[np.int32],
    risk: NDArray[np.float64],
    by_origin: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Find the alpha at which each split is removed; 0 at leaves, possibly slightly negative at splits.

    Parameters
    ----------
    tree_start, parent, right : trees in pre-order
    risk : share of the tree's weight that reaches a node, times the impurity there
    by_origin : nodes in the order that breaks ties: tree by tree, in the numbering of their library
    """
    alpha = np.zeros(parent.size)
    for t in range(tree_start.size - 1):
        cut_weakest_links(alpha, tree_start[t], tree_start[t + 1], parent, right, risk, by_origin)
    return alpha


@njit(cache=True)
def cut_weakest_links(
    alpha: NDArray[np.float64],
    root: int,
    end: int,
    parent: NDArray[np.int32],
    right: NDArray[np.int32],
    risk: NDArray[np.float64],
    by_origin: NDArray[np.int64],
) -> None:
    """Repeatedly cut the link with the least rise of risk per leaf, until only the root is left.

    A cut changes only the links above it. A tournament tree therefore finds the next link in time
    proportional to the depth, where a search would visit all nodes.
    """
    n = end - root
    place = np.empty(n, dtype=np.int64)  # position of each node in the tournament tree
    for p in range(n):
        place[by_origin[root + p] - root] = p
    branch_risk, n_leaves = np.zeros(n), np.zeros(n, dtype=np.int64)
    for p in range(n):  # in scikit-learn's order, so that sums are rounded alike
        leaf = by_origin[root + p]
        if right[leaf] < 0:
            h = leaf
            while h >= 0:
                branch_risk[h - root] += risk[leaf]
                n_leaves[h - root] += 1
                h = parent[h]
    size = 1
    while size < n:
        size *= 2
    least = np.full(2 * size, np.inf)
    subtree_end = np.empty(n, dtype=np.int64)
    is_cut = np.zeros(n, dtype=np.bool_)
    for h in range(end - 1, root - 1, -1):
        subtree_end[h - root] = h + 1
        if right[h] >= 0:
            subtree_end[h - root] = subtree_end[right[h] - root]
            least[size + place[h - root]] = (risk[h] - branch_risk[h - root]) / (n_leaves[h - root] - 1)
    for p in range(size - 1, 0, -1):
        least[p] = min(least[2 * p], least[2 * p + 1])

    level = -np.inf
    while least[1] < np.inf:
        # Due to rounding, a link may be weaker than the link that was cut before it. Both get the same alpha.
        level = max(level, least[1])
        h = by_origin[root + leftmost_winner(least, size)]
        for below in range(h, subtree_end[h - root]):
            if right[below] >= 0 and not is_cut[below - root]:
                is_cut[below - root] = True
                alpha[below] = level
                enter(least, size + place[below - root], np.inf)
        rise = risk[h] - branch_risk[h - root]
        lost_leaves = n_leaves[h - root] - 1
        h = parent[h]
        while h >= 0:
            branch_risk[h - root] += rise
            n_leaves[h - root] -= lost_leaves
            enter(least, size + place[h - root], (risk[h] - branch_risk[h - root]) / (n_leaves[h - root] - 1))
            h = parent[h]


@njit(cache=True)
def enter(least: NDArray[np.float64], p: int, value: float) -> None:
    """Set one value of the tournament tree, and update its ancestors."""
    least[p] = value
    p //= 2
    while p > 0:
        least[p] = min(least[2 * p], least[2 * p + 1])
        p //= 2


@njit(cache=True)
def leftmost_winner(least: NDArray[np.float64], size: int) -> int:
    """Find the first position of the minimum."""
    p = 1
    while p < size:
        p = 2 * p if least[2 * p] == least[p] else 2 * p + 1
    return p - size
