"""Split criteria: impurities, the best edge of one feature, and comparison of features.

A node is described by its *sums*: the weight of each class, or for squared loss the weight and the weighted
target. Sums are additive over rows, so their histogram over the bins of a feature gives every split on it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.baselines.binning import MISSING
from budgetprune.utils.jit import njit

ENTROPY, PAIRS, SQUARED = 0, 1, 2

# Differences within rounding error count as zero.
ROUNDING = 1e-12


class SplitCriterion(NamedTuple):
    """Split criterion and stopping conditions.

    Attributes
    ----------
    measure : int
        `ENTROPY` or `PAIRS` of the classes, or `SQUARED` loss of a constant for the target.
    is_expected : bool
        Whether children count by their weighted mean instead of their maximum. (Squared loss is additive.)
    threshold : float
        Tolerated impurity: the a of `impurity`.
    cost_weight : float
        With `SQUARED`: loss, per unit of weight in the tree, per unit of cost.
    max_features, max_depth, min_samples_leaf : int
    """

    measure: int
    is_expected: bool
    threshold: float
    cost_weight: float
    max_features: int
    max_depth: int
    min_samples_leaf: int


@njit(cache=True)
def x_log_x(x: float, table: NDArray[np.float64]) -> float:
    """x log2 x, from the table if it is not empty (all weights are integers then)."""
    if table.size > 0:
        return float(table[np.int64(x)])
    return x * np.log2(x) if x > 0.0 else 0.0


@njit(cache=True)
def entropy(weight: NDArray[np.float64], table: NDArray[np.float64]) -> float:
    """Entropy of the classes in bits."""
    total = of_classes = 0.0
    for c in range(weight.size):
        total += weight[c]
        of_classes += x_log_x(weight[c], table)
    return max(x_log_x(total, table) - of_classes, 0.0) / total if total > 0.0 else 0.0


@njit(cache=True)
def pairs(weight: NDArray[np.float64], threshold: float) -> float:
    """Threshold-Pairs: the sum over pairs of classes of [ [n_i - a]+ [n_j - a]+ - a^2 ]+."""
    total = above = 0.0
    for i in range(weight.size):
        own = max(weight[i] - threshold, 0.0)
        if threshold == 0.0:
            total += above * own  # the pairs with all earlier classes at once
            above += own
        elif own > 0.0:
            for j in range(i):
                total += max(own * max(weight[j] - threshold, 0.0) - threshold * threshold, 0.0)
    return total


@njit(cache=True)
def impurity(weight: NDArray[np.float64], criterion: SplitCriterion, table: NDArray[np.float64]) -> float:
    """F(S) of a node: threshold-Pairs, or the entropy set to zero below the threshold."""
    if criterion.measure == PAIRS:
        return pairs(weight, criterion.threshold)
    own = entropy(weight, table)
    return own if own >= criterion.threshold - ROUNDING else 0.0


@njit(cache=True)
def squared_loss(sums: NDArray[np.float64]) -> float:
    """Squared loss of the mean target minus that of the target 0; it depends on the sums alone."""
    return -sums[1] * sums[1] / sums[0] if sums[0] > 0.0 else 0.0


@njit(cache=True)
def before_split(total: NDArray[np.float64], criterion: SplitCriterion, table: NDArray[np.float64]) -> float:
    """Impurity or squared loss of a node as a leaf."""
    return squared_loss(total) if criterion.measure == SQUARED else impurity(total, criterion, table)


@njit(cache=True)
def after_split(
    left: NDArray[np.float64],
    right: NDArray[np.float64],
    criterion: SplitCriterion,
    table: NDArray[np.float64],
) -> float:
    """Impurity or squared loss after a split: both children together, or the worse of them."""
    if criterion.measure == SQUARED:
        return squared_loss(left) + squared_loss(right)
    of_left, of_right = impurity(left, criterion, table), impurity(right, criterion, table)
    if not criterion.is_expected:
        return max(of_left, of_right)
    weight_left, weight_right = left.sum(), right.sum()
    return float((weight_left * of_left + weight_right * of_right) / (weight_left + weight_right))


@njit(cache=True)
def least_decrease(before: float, after: float, criterion: SplitCriterion) -> float:
    """Largest decrease attributable to rounding: absolute for entropies, relative for others."""
    return ROUNDING * (1.0 if criterion.measure == ENTROPY else max(abs(before), abs(after)))


class Edge(NamedTuple):
    """Best split of a node on one feature: bins up to `bin` go left; -1 if there is no split."""

    bin: int
    missing_left: bool
    after: float


@njit(cache=True)
def best_edge(
    count: NDArray[np.int64],
    sums: NDArray[np.float64],
    n_bins: int,
    n_rows: int,
    total: NDArray[np.float64],
    left: NDArray[np.float64],
    right: NDArray[np.float64],
    criterion: SplitCriterion,
    table: NDArray[np.float64],
) -> Edge:
    """Find the best edge between nonempty bins, with missing values, if any, on either side.

    Parameters
    ----------
    count, sums : the histogram
    n_bins : number of bins, without that of missing values
    n_rows, total : rows of the node, and their sums
    left, right : work arrays for the sums of the children
    criterion, table : as in `grow_tree`
    """
    n_missing = count[MISSING]
    best = Edge(-1, False, np.inf)
    for missing_left in (False, True):
        if missing_left and n_missing == 0:
            break
        n_left = n_missing if missing_left else 0
        for c in range(total.size):
            left[c] = sums[MISSING, c] if missing_left else 0.0
        last = -1  # the last bin on the left that holds rows
        for b in range(n_bins + 1):
            is_end = b == n_bins  # all present values on the left, missing ones on the right
            if not is_end and count[b] == 0:
                continue
            if last >= 0 and criterion.min_samples_leaf <= n_left <= n_rows - criterion.min_samples_leaf:
                for c in range(total.size):
                    right[c] = total[c] - left[c]
                after = after_split(left, right, criterion, table)
                if after < best.after:
                    # If the bins between are empty, take the middle one.
                    best = Edge(n_bins - 1 if is_end else (last + b) // 2, missing_left, after)
            if is_end:
                break
            for c in range(total.size):
                left[c] += sums[b, c]
            n_left += count[b]
            last = b
    return best


@njit(cache=True)
def is_cheaper(price: float, decrease: float, best_price: float, best_decrease: float) -> bool:
    """Whether R = price / decrease is below the best so far; ties and free features compare by decrease."""
    own, best = price * best_decrease, best_price * decrease
    slack = ROUNDING * max(own, best)
    if own < best - slack:
        return True
    return own <= best + slack and decrease > best_decrease * (1.0 + ROUNDING)
