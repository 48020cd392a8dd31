"""One tree after the other: the grower that all rivals share that make splits with an eye on their price.

There is a single histogram, of the feature at hand: it stays in the nearest cache, and that is worth more
than finding one child's as the difference of two that were kept.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.baselines.binning import MISSING, Bins
from budgetprune.baselines.grower_node import (
    NodeRows,
    Prices,
    add_up,
    find_split,
    new_space,
    pay,
)
from budgetprune.baselines.grower_splits import ENTROPY, SQUARED, Aim
from budgetprune.problem.rows import partition_node
from budgetprune.utils.jit import njit

_LARGEST_TABLE = 2**22
_NO_ROWS = np.empty(0, dtype=np.int32)
_NO_TARGET = np.empty(0)


class Sample(NamedTuple):
    """The rows that a tree is grown on.

    Attributes
    ----------
    rows : int32 array
        Numbers of the rows, in order.
    label : int32 array of shape (n_rows,)
        Class of each row, for impurities; empty for squared loss.
    weighted_target : float64 array of shape (n_rows,)
        Target times weight, for squared loss; empty for impurities.
    weight : float64 array of shape (n_rows,)
        Above 0 where the tree is grown.
    n_sums : int
        Number of classes; 2 for squared loss.

    All rows there are have an entry, also those that the tree is not grown on.
    """

    rows: NDArray[np.int32]
    label: NDArray[np.int32]
    weighted_target: NDArray[np.float64]
    weight: NDArray[np.float64]
    n_sums: int

    @classmethod
    def of_classes(cls, label: NDArray[np.int32], weight: NDArray[np.float64], n_classes: int) -> Sample:
        """Rows with classes; those without weight are left out."""
        return cls(np.flatnonzero(weight).astype(np.int32), label, _NO_TARGET, weight, int(n_classes))

    @classmethod
    def of_target(cls, target: NDArray[np.float64], weight: NDArray[np.float64]) -> Sample:
        """Rows with numbers to be approximated; those without weight are left out."""
        return cls(np.flatnonzero(weight).astype(np.int32), _NO_ROWS, target * weight, weight, 2)


class GrownTree(NamedTuple):
    """Nodes level by level, the root first.

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
        Where each row of the sample ends; -1 for other rows.
    """

    feature: NDArray[np.int32]
    bin: NDArray[np.int32]
    missing_left: NDArray[np.bool_]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    sums: NDArray[np.float64]
    leaf: NDArray[np.int32]

    def without_rows(self) -> GrownTree:
        """The nodes alone: what is kept of many trees."""
        return self._replace(leaf=_NO_ROWS)


def logarithms(weight: NDArray[np.float64], aim: Aim) -> NDArray[np.float64]:
    """Tabulate x log2 x for all sums of weights, if the entropy needs it and weights are whole numbers.

    An empty table means that there is none.
    """
    total = weight.sum()
    if aim.measure != ENTROPY or total > _LARGEST_TABLE or not np.array_equal(weight, np.rint(weight)):
        return np.empty(0)
    x = np.arange(total + 1)
    table: NDArray[np.float64] = x * np.log2(np.maximum(x, 1))
    return table


@njit(cache=True, nogil=True)
def grow_tree(
    bins: Bins, sample: Sample, prices: Prices, aim: Aim, table: NDArray[np.float64], seed: int
) -> GrownTree:
    """Grow one tree, level by level.

    Impurities are lowered as cheaply as possible, and every use of a feature is charged anew. Squared loss is
    lowered by more than a split costs, or not at all; what it needed is paid for then (`prices.is_paid`).

    Parameters
    ----------
    bins : Bins
    sample : Sample
    prices : Prices
    aim : Aim
    table : from `logarithms`
    seed : int above 0 and below 2**31
        Shuffles features: of splits that are equally good, the first one that is looked at wins.
    """
    rows = sample.rows.copy()  # those of a node are one range, those of its children the parts of it
    label = np.empty(min(rows.size, sample.label.size), dtype=np.int32)
    target = np.empty(min(rows.size, sample.weighted_target.size))
    weight = np.empty(rows.size)
    is_left = np.empty(rows.size, dtype=np.bool_)
    went_right = np.empty_like(rows)

    most_nodes = 2 * rows.size - 1
    if aim.max_depth < 30:
        most_nodes = min(most_nodes, 2 ** (aim.max_depth + 1) - 1)
    feature = np.full(most_nodes, -1, dtype=np.int32)
    last_bin = np.full(most_nodes, -1, dtype=np.int32)
    missing_left = np.zeros(most_nodes, dtype=np.bool_)
    left, right = np.full(most_nodes, -1, dtype=np.int32), np.full(most_nodes, -1, dtype=np.int32)
    start, stop = np.empty(most_nodes, dtype=np.int64), np.empty(most_nodes, dtype=np.int64)
    depth = np.zeros(most_nodes, dtype=np.int64)
    sums = np.zeros((most_nodes, sample.n_sums))
    leaf = np.full(sample.weight.size, -1, dtype=np.int32)

    space = new_space(bins.n_bins.size, sample.n_sums)
    tree_weight = sample.weight[rows].sum()
    state = (seed * 2654435761) & 0xFFFFFFFF  # odd, so never 0; small seeds begin with many bits as well
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
        add_up(sums[h], node, aim.measure)
        if depth[h] < aim.max_depth and end - begin >= 2 * aim.min_samples_leaf:
            split, state = find_split(node, sums[h], tree_weight, bins, prices, aim, table, space, state)
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
                if aim.measure == SQUARED:
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
