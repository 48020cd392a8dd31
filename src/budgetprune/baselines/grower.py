"""Tree grower shared by the cost-aware baselines.

There is a single histogram, of the current feature. It stays in the first-level cache, which saves more
time than computing one child's histogram as the difference of two stored ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.baselines.binning import MISSING, Bins
from budgetprune.baselines.grower_node import (
    NodeRows,
    Prices,
    find_split,
    new_workspace,
    pay,
    sum_rows,
)
from budgetprune.baselines.grower_splits import ENTROPY, SQUARED, SplitCriterion
from budgetprune.problem import partition_node
from budgetprune.utils.jit import njit

_LARGEST_TABLE = 2**22
_NO_ROWS = np.empty(0, dtype=np.int32)
_NO_TARGET = np.empty(0)


class TreeSample(NamedTuple):
    """Rows that a tree is grown on.

    Attributes
    ----------
    rows : int32 array
        Indices of the rows, in order.
    label : int32 array of shape (n_rows,)
        Class of each row, for impurities; empty for squared loss.
    weighted_target : float64 array of shape (n_rows,)
        Target times weight, for squared loss; empty for impurities.
    weight : float64 array of shape (n_rows,)
        Above 0 where the tree is grown.
    n_sums : int
        Number of classes; 2 for squared loss.

    All rows have an entry, including those that the tree is not grown on.
    """

    rows: NDArray[np.int32]
    label: NDArray[np.int32]
    weighted_target: NDArray[np.float64]
    weight: NDArray[np.float64]
    n_sums: int

    @classmethod
    def of_classes(cls, label: NDArray[np.int32], weight: NDArray[np.float64], n_classes: int) -> TreeSample:
        """Make a sample of rows with classes; rows of weight 0 are left out."""
        return cls(np.flatnonzero(weight).astype(np.int32), label, _NO_TARGET, weight, int(n_classes))

    @classmethod
    def of_target(cls, target: NDArray[np.float64], weight: NDArray[np.float64]) -> TreeSample:
        """Make a sample of rows with numeric targets; rows of weight 0 are left out."""
        return cls(np.flatnonzero(weight).astype(np.int32), _NO_ROWS, target * weight, weight, 2)


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


@njit(cache=True, nogil=True)
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
    rows = sample.rows.copy()  # each node has one range of rows, divided between its children
    label = np.empty(min(rows.size, sample.label.size), dtype=np.int32)
    target = np.empty(min(rows.size, sample.weighted_target.size))
    weight = np.empty(rows.size)
    is_left = np.empty(rows.size, dtype=np.bool_)
    went_right = np.empty_like(rows)

    most_nodes = 2 * rows.size - 1
    if criterion.max_depth < 30:
        most_nodes = min(most_nodes, 2 ** (criterion.max_depth + 1) - 1)
    feature = np.full(most_nodes, -1, dtype=np.int32)
    last_bin = np.full(most_nodes, -1, dtype=np.int32)
    missing_left = np.zeros(most_nodes, dtype=np.bool_)
    left, right = np.full(most_nodes, -1, dtype=np.int32), np.full(most_nodes, -1, dtype=np.int32)
    start, stop = np.empty(most_nodes, dtype=np.int64), np.empty(most_nodes, dtype=np.int64)
    depth = np.zeros(most_nodes, dtype=np.int64)
    sums = np.zeros((most_nodes, sample.n_sums))
    leaf = np.full(sample.weight.size, -1, dtype=np.int32)

    workspace = new_workspace(bins.n_bins.size, sample.n_sums)
    tree_weight = sample.weight[rows].sum()
    state = (seed * 2654435761) & 0xFFFFFFFF  # odd, so never 0; mixes the bits of small seeds
    start[0], stop[0] = 0, rows.size
    h, n_nodes = 0, 1
    while h < n_nodes:
        begin, end = start[h], stop[h]
        for q in range(begin, end):
            weight[q] = sample.weight[rows[q]]
            if label.size > 0:
                label[q] = sample.label[rows[q]]
            else:
                target[q] = sample.weighted_target[rows[q]]
        node = NodeRows(rows[begin:end], label[begin:end], target[begin:end], weight[begin:end])
        sum_rows(sums[h], node, criterion.measure)
        if depth[h] < criterion.max_depth and end - begin >= 2 * criterion.min_samples_leaf:
            split, state = find_split(
                node, sums[h], tree_weight, bins, prices, criterion, table, workspace, state
            )
            if split.feature >= 0:
                code = bins.code[split.feature]
                for q in range(begin, end):
                    b = code[rows[q]]
                    is_left[q] = b <= split.bin or (split.missing_left and b == MISSING)
                middle = begin + partition_node(rows[begin:end], is_left[begin:end], went_right)
                feature[h], last_bin[h], missing_left[h] = split
                left[h], right[h] = n_nodes, n_nodes + 1
                start[n_nodes], stop[n_nodes] = begin, middle
                start[n_nodes + 1], stop[n_nodes + 1] = middle, end
                depth[n_nodes : n_nodes + 2] = depth[h] + 1
                n_nodes += 2
                if criterion.measure == SQUARED:
                    pay(split.feature, prices)
        if feature[h] < 0:
            for q in range(begin, end):
                leaf[rows[q]] = h
        h += 1
    return GrownTree(
        feature[:n_nodes].copy(),
        last_bin[:n_nodes].copy(),
        missing_left[:n_nodes].copy(),
        left[:n_nodes].copy(),
        right[:n_nodes].copy(),
        sums[:n_nodes].copy(),
        leaf,
    )
