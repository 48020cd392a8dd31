"""Search for the best split of one node: features in random order, with their histograms and costs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.baselines.binning import MISSING, Bins
from budgetprune.baselines.grower_splits import (
    SQUARED,
    SplitCriterion,
    before_split,
    best_edge,
    is_cheaper,
    least_decrease,
)
from budgetprune.costs import CostTable
from budgetprune.utils.jit import njit


class Prices(NamedTuple):
    """Sources of features and their prices, as in `CostTable`, and the sources already paid for."""

    needs_start: NDArray[np.int64]
    needs: NDArray[np.int32]
    price: NDArray[np.float64]
    is_paid: NDArray[np.bool_]

    @classmethod
    def of(cls, costs: CostTable) -> Prices:
        """Make prices with no source paid for."""
        return cls(costs.needs_start, costs.needs, costs.price, np.zeros(costs.n_sources, dtype=np.bool_))


@njit(cache=True)
def unpaid_price(k: int, prices: Prices) -> float:
    """Sum the prices of the sources that feature `k` needs and that are not paid for."""
    total = 0.0
    for j in range(prices.needs_start[k], prices.needs_start[k + 1]):
        source = prices.needs[j]
        if not prices.is_paid[source]:
            total += prices.price[source]
    return total


@njit(cache=True)
def pay(k: int, prices: Prices) -> None:
    """Mark the sources of feature `k` as paid for."""
    for j in range(prices.needs_start[k], prices.needs_start[k + 1]):
        prices.is_paid[prices.needs[j]] = True


class NodeRows(NamedTuple):
    """Rows of a node, contiguous in memory.

    Attributes
    ----------
    rows : int32 array of shape (n,)
        Their numbers.
    label : int32 array of shape (n,)
        The class of each, for impurities; empty for squared loss.
    weighted_target : float64 array of shape (n,)
        Target times weight, for squared loss; empty for impurities.
    weight : float64 array of shape (n,)
    """

    rows: NDArray[np.int32]
    label: NDArray[np.int32]
    weighted_target: NDArray[np.float64]
    weight: NDArray[np.float64]


@njit(cache=True)
def sum_rows(total: NDArray[np.float64], node: NodeRows, measure: int) -> None:
    """Compute the sums of a node from its rows; absent classes have exactly 0."""
    for q in range(node.rows.size):
        if measure == SQUARED:
            total[0] += node.weight[q]
            total[1] += node.weighted_target[q]
        else:
            total[node.label[q]] += node.weight[q]


@njit(cache=True)
def fill_classes(
    count: NDArray[np.int64], sums: NDArray[np.float64], code: NDArray[np.uint8], node: NodeRows
) -> None:
    """Fill the histogram of one feature: rows and the weight of each class, per bin."""
    count[:] = 0
    sums[:] = 0.0
    for q in range(node.rows.size):
        b = code[node.rows[q]]
        count[b] += 1
        sums[b, node.label[q]] += node.weight[q]


@njit(cache=True)
def fill_target(
    count: NDArray[np.int64], sums: NDArray[np.float64], code: NDArray[np.uint8], node: NodeRows
) -> None:
    """Fill the histogram for squared loss: rows, weight and weighted target."""
    count[:] = 0
    sums[:] = 0.0
    for q in range(node.rows.size):
        b = code[node.rows[q]]
        count[b] += 1
        sums[b, 0] += node.weight[q]
        sums[b, 1] += node.weighted_target[q]


@njit(cache=True)
def draw(state: int, n: int) -> tuple[int, int]:
    """Draw an integer below `n`; also return the next state of the generator (32-bit xorshift, not 0)."""
    state ^= (state << 13) & 0xFFFFFFFF
    state ^= state >> 17
    state ^= (state << 5) & 0xFFFFFFFF
    return state % n, state


class Workspace(NamedTuple):
    """Work arrays that all nodes of a tree reuse: one histogram, and sums of two children."""

    n_rows: NDArray[np.int64]
    histogram: NDArray[np.float64]
    left: NDArray[np.float64]
    right: NDArray[np.float64]
    order: NDArray[np.int64]  # of the features


@njit(cache=True)
def new_workspace(n_features: int, n_sums: int) -> Workspace:
    """Allocate work arrays for histograms of `n_sums` sums."""
    return Workspace(
        np.empty(MISSING + 1, dtype=np.int64),
        np.empty((MISSING + 1, n_sums)),
        np.empty(n_sums),
        np.empty(n_sums),
        np.arange(n_features),
    )


class BinSplit(NamedTuple):
    """Split of a node: bins of `feature` up to `bin` go left. Feature -1 means a leaf."""

    feature: int
    bin: int
    missing_left: bool


@njit(cache=True)
def find_split(
    node: NodeRows,
    total: NDArray[np.float64],
    tree_weight: float,
    bins: Bins,
    prices: Prices,
    criterion: SplitCriterion,
    table: NDArray[np.float64],
    workspace: Workspace,
    state: int,
) -> tuple[BinSplit, int]:
    """Find the split of least cost per decrease of impurity, or of largest net decrease of squared loss.

    Parameters
    ----------
    node, total : the node's rows, and their sums
    tree_weight : weight of all rows of the tree
    bins, prices, criterion, table : as in `grow_tree`
    workspace : Workspace
    state : of the generator that shuffles features

    Returns
    -------
    split, state
    """
    best, best_price, best_decrease = BinSplit(-1, -1, False), 0.0, 0.0
    before = before_split(total, criterion, table)
    if criterion.measure != SQUARED and before == 0.0:
        return best, state
    has_choice = False  # at least one feature that can be split must be tried
    for j in range(workspace.order.size):
        if j >= criterion.max_features and has_choice:
            break
        drawn, state = draw(state, workspace.order.size - j)
        k = workspace.order[j + drawn]
        workspace.order[j + drawn], workspace.order[j] = workspace.order[j], k
        if criterion.measure == SQUARED:
            fill_target(workspace.n_rows, workspace.histogram, bins.code[k], node)
        else:
            fill_classes(workspace.n_rows, workspace.histogram, bins.code[k], node)
        edge = best_edge(
            workspace.n_rows,
            workspace.histogram,
            bins.n_bins[k],
            node.rows.size,
            total,
            workspace.left,
            workspace.right,
            criterion,
            table,
        )
        if edge.bin < 0:
            continue
        has_choice = True
        decrease = before - edge.after
        if decrease <= least_decrease(before, edge.after, criterion):
            continue
        price = unpaid_price(k, prices)
        if criterion.measure == SQUARED:
            # The decrease is net of the price already; otherwise all features compare equally.
            decrease, price = decrease / tree_weight - criterion.cost_weight * price, 0.0
            if decrease <= 0.0:
                continue
        if best.feature < 0 or is_cheaper(price, decrease, best_price, best_decrease):
            missing_left = edge.missing_left
            if workspace.n_rows[MISSING] == 0:  # missing values at prediction go with the majority
                weight = workspace.histogram[: edge.bin + 1]  # of classes, or in the first column
                left = weight[:, 0].sum() if criterion.measure == SQUARED else weight.sum()
                missing_left = 2 * left >= node.weight.sum()
            best, best_price, best_decrease = BinSplit(k, edge.bin, missing_left), price, decrease
    return best, state
