"""Tree grower shared by the cost-aware baselines."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.baselines.binning import Bins
from budgetprune.baselines.grower_inputs import ENTROPY, Prices, SplitCriterion, TreeSample
from budgetprune.baselines.grower_kernels import Grower
from budgetprune.baselines.split_kernels import SplitSearch

_LARGEST_TABLE = 2**22
_NO_ROWS = np.empty(0, dtype=np.int32)

# Rows times features of a call of the kernel, which cannot be interrupted (about 0.1 s).
_N_STEPS = 2**25


class GrownTree(NamedTuple):
    """Grown tree: nodes level by level, the root first.

    Attributes
    ----------
    feature : int32 array of shape (n_nodes,)
        -1 at leaves.
    bin : int32 array of shape (n_nodes,)
        The last bin that goes left.
    missing_left : bool array of shape (n_nodes,)
    left, right : int32 arrays of shape (n_nodes,)
        -1 at leaves.
    sums : float64 array of shape (n_nodes, n_sums)
        Weight of each class, or weight and weighted target.
    leaf : int32 array of shape (n_rows,)
        Leaf of each row of the sample; -1 for other rows.
    """

    feature: NDArray[np.int32]
    bin: NDArray[np.int32]
    missing_left: NDArray[np.bool_]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    sums: NDArray[np.float64]
    leaf: NDArray[np.int32]

    @classmethod
    def of_leaves(cls, n_nodes: int, n_sums: int, n_rows: int) -> GrownTree:
        """Make a tree of leaves, for the grower to fill in."""
        feature, last_bin, left, right = np.full((4, n_nodes), -1, dtype=np.int32)
        missing_left, sums = np.zeros(n_nodes, dtype=np.bool_), np.zeros((n_nodes, n_sums))
        return cls(feature, last_bin, missing_left, left, right, sums, np.full(n_rows, -1, dtype=np.int32))

    def first_nodes(self, n_nodes: int) -> GrownTree:
        """Copy of the first nodes."""
        nodes: list[Any] = [array[:n_nodes].copy() for array in self[:-1]]
        return GrownTree._make([*nodes, self.leaf])

    def without_rows(self) -> GrownTree:
        """Tree without `leaf`, to save memory."""
        return self._replace(leaf=_NO_ROWS)


def logarithms(weight: NDArray[np.float64], criterion: SplitCriterion) -> NDArray[np.float64]:
    """Tabulate x log2 x for all sums of weights, if the measure is entropy and weights are integers.

    Otherwise the table is empty.
    """
    total = weight.sum()
    if criterion.measure != ENTROPY or total > _LARGEST_TABLE or not np.array_equal(weight, np.rint(weight)):
        return np.empty(0)
    x = np.arange(total + 1)
    table: NDArray[np.float64] = x * np.log2(np.maximum(x, 1))
    return table


def grow_tree(
    bins: Bins,
    sample: TreeSample,
    prices: Prices,
    criterion: SplitCriterion,
    table: NDArray[np.float64],
    seed: int,
) -> GrownTree:
    """Grow one tree, level by level.

    For impurities, the split with the least cost per decrease is made, and every use of a feature is
    charged anew. For squared loss, a split is made only if the decrease exceeds its cost; its sources are
    then marked as paid (`prices.is_paid`).

    Parameters
    ----------
    bins : Bins
    sample : TreeSample
    prices : Prices
    criterion : SplitCriterion
    table : from `logarithms`
    seed : int above 0 and below 2**31
        Seed of the order of features: on ties, the first split found is used.
    """
    most_nodes = 2 * sample.rows.size - 1
    if criterion.max_depth < 30:
        most_nodes = min(most_nodes, 2 ** (criterion.max_depth + 1) - 1)
    tree = GrownTree.of_leaves(most_nodes, sample.n_sums, sample.weight.size)
    rows = sample.rows.copy()
    search = SplitSearch(bins, sample, prices, criterion, table, seed, rows)
    grower = Grower(tree, rows, search, criterion.max_depth)
    while grower.grow(_N_STEPS):
        pass
    return tree.first_nodes(grower.n_nodes)
