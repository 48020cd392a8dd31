"""Kernels that find the best split of a node: impurities, histograms, edges and prices.

A node is described by its *sums*: the weight of each class, or for squared loss the weight and the weighted
target. Sums are additive over rows, so their histogram over the bins of a feature gives every split on it.
There is a single histogram, of the current feature. It stays in the first-level cache, which saves more
time than computing one child's histogram as the difference of two stored ones.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import INFINITY, fabs, log2
else:
    from math import fabs, log2
    from math import inf as INFINITY  # noqa: N812

    from budgetprune.baselines.binning import MISSING
    from budgetprune.baselines.grower_inputs import ENTROPY, PAIRS, SQUARED
    from budgetprune.utils.kernel_types import Doubles, OutDoubles, Size, uint64_t

# Differences within rounding error count as zero.
ROUNDING = cython.declare(cython.double, 1e-12)
LOW_32 = cython.declare(uint64_t, 0xFFFFFFFF)


class SplitSearch:
    """Search for the splits of one tree's nodes.

    Parameters
    ----------
    bins, sample, prices, criterion, table, seed : as in `grow_tree`
    rows : int32 array of shape (n_rows,)
        The rows of the tree; a node's are contiguous.
    """

    def __init__(
        self, bins: Any, sample: Any, prices: Any, criterion: Any, table: Any, seed: int, rows: Any
    ) -> None:
        self.code, self.n_bins, self.table, self.rows = bins.code, bins.n_bins, table, rows
        self.label, self.weighted_target, self.weight = sample.label, sample.weighted_target, sample.weight
        self.needs_start, self.needs, self.price = prices.needs_start, prices.needs, prices.price
        self.is_paid = prices.is_paid
        self.measure, self.is_expected = criterion.measure, criterion.is_expected
        self.threshold, self.cost_weight = criterion.threshold, criterion.cost_weight
        self.max_features, self.min_samples_leaf = criterion.max_features, criterion.min_samples_leaf

        self.node_label = np.empty(min(rows.size, sample.label.size), dtype=np.int32)
        self.node_target = np.empty(min(rows.size, sample.weighted_target.size))
        self.node_weight = np.empty(rows.size)
        self.count = np.empty(MISSING + 1, dtype=np.int32)
        self.histogram = np.empty((MISSING + 1, sample.n_sums))
        self.total = np.empty(sample.n_sums)
        self.of_left, self.of_right = np.empty(sample.n_sums), np.empty(sample.n_sums)
        self.order = np.arange(bins.n_bins.size)
        self.state = (seed * 2654435761) & 0xFFFFFFFF  # odd, so never 0; mixes the bits of small seeds
        self.tree_weight, self.node_total = 0.0, 0.0


# --- The rows of a node -------------------------------------------------------------------------------------


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def sum_rows(search: SplitSearch, begin: Size, end: Size) -> cython.void:
    """Copy what belongs to a node's rows, and compute the node's sums; absent classes have exactly 0."""
    q: Size
    c: Size
    for c in range(search.total.shape[0]):
        search.total[c] = 0.0
    search.node_total = 0.0
    for q in range(end - begin):
        i: Size = search.rows[begin + q]
        weight: cython.double = search.weight[i]
        search.node_weight[q] = weight
        search.node_total += weight
        if search.measure == SQUARED:
            search.node_target[q] = search.weighted_target[i]
            search.total[0] += weight
            search.total[1] += search.weighted_target[i]
        else:
            search.node_label[q] = search.label[i]
            search.total[search.label[i]] += weight


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def fill_histogram(search: SplitSearch, k: Size, begin: Size, n_rows: Size) -> cython.void:
    """Fill the histogram of feature `k`: rows and sums per bin."""
    q: Size
    b: Size
    c: Size
    for b in range(MISSING + 1):
        search.count[b] = 0
        for c in range(search.total.shape[0]):
            search.histogram[b, c] = 0.0
    if search.measure == SQUARED:
        for q in range(n_rows):
            b = search.code[k, search.rows[begin + q]]
            search.count[b] += 1
            search.histogram[b, 0] += search.node_weight[q]
            search.histogram[b, 1] += search.node_target[q]
    else:
        for q in range(n_rows):
            b = search.code[k, search.rows[begin + q]]
            search.count[b] += 1
            search.histogram[b, search.node_label[q]] += search.node_weight[q]


# --- The best split of a node -------------------------------------------------------------------------------


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def find_split(search: SplitSearch, begin: Size, n_rows: Size) -> tuple[Size, Size, Size]:
    """Find the split of least cost per decrease of impurity, or of largest net decrease of squared loss.

    Features are tried in random order. With squared loss, the sources of the chosen one are then paid for.
    Returns the feature, or -1 for a leaf, the last bin that goes left,
    and whether missing values do.
    """
    best: Size = -1
    best_bin: Size = -1
    best_missing_left: Size = 0
    best_price: cython.double = 0.0
    best_decrease: cython.double = 0.0
    before: cython.double = loss_of(search.total, search)
    if search.measure != SQUARED and before == 0.0:
        return best, best_bin, best_missing_left
    has_choice: cython.bint = False  # at least one feature that can be split must be tried
    n_features: Size = search.order.shape[0]
    j: Size
    for j in range(n_features):
        if j >= search.max_features and has_choice:
            break
        k: Size = draw_feature(search, j)
        fill_histogram(search, k, begin, n_rows)
        last_bin: Size
        missing_left: Size
        after: cython.double
        last_bin, missing_left, after = best_edge(search, search.n_bins[k], n_rows)
        if last_bin < 0:
            continue
        has_choice = True
        decrease: cython.double = before - after
        if decrease <= least_decrease(before, after, search):
            continue
        price: cython.double = unpaid_price(search, k)
        if search.measure == SQUARED:
            # The decrease is net of the price already; otherwise all features compare equally.
            decrease = decrease / search.tree_weight - search.cost_weight * price
            price = 0.0
            if decrease <= 0.0:
                continue
        if best < 0 or is_cheaper(price, decrease, best_price, best_decrease):
            if search.count[MISSING] == 0:  # missing values at prediction go with the majority
                missing_left = 1 if 2 * weight_left(search, last_bin) >= search.node_total else 0
            best, best_bin, best_missing_left = k, last_bin, missing_left
            best_price, best_decrease = price, decrease
    if best >= 0 and search.measure == SQUARED:
        pay(search, best)
    return best, best_bin, best_missing_left


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def draw_feature(search: SplitSearch, j: Size) -> Size:
    """Draw one of the features that have not been tried, and make it the `j`-th in the order of trial.

    The generator is a 32-bit xorshift; its state is not 0.
    """
    state: uint64_t = search.state
    state ^= (state << 13) & LOW_32
    state ^= state >> 17
    state ^= (state << 5) & LOW_32
    search.state = state
    drawn: Size = j + cython.cast(Size, state % cython.cast(uint64_t, search.order.shape[0] - j))
    k: Size = search.order[drawn]
    search.order[drawn] = search.order[j]
    search.order[j] = k
    return k


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def best_edge(search: SplitSearch, n_bins: Size, n_rows: Size) -> tuple[Size, Size, cython.double]:
    """Find the best edge between nonempty bins of the histogram, with missing values on either side.

    Returns the last bin that goes left, or -1 if there is no split; whether missing values go left; and the
    impurity or squared loss after the split.
    """
    best_bin: Size = -1
    best_missing_left: Size = 0
    best_after: cython.double = INFINITY
    n_missing: Size = search.count[MISSING]
    n_sums: Size = search.total.shape[0]
    missing_left: Size
    b: Size
    c: Size
    for missing_left in range(2 if n_missing > 0 else 1):
        n_left: Size = n_missing if missing_left else 0
        for c in range(n_sums):
            search.of_left[c] = search.histogram[MISSING, c] if missing_left else 0.0
        last: Size = -1  # the last bin on the left that holds rows
        for b in range(n_bins + 1):
            is_end: cython.bint = b == n_bins  # all present values on the left, missing ones on the right
            if not is_end and search.count[b] == 0:
                continue
            if last >= 0 and search.min_samples_leaf <= n_left <= n_rows - search.min_samples_leaf:
                for c in range(n_sums):
                    search.of_right[c] = search.total[c] - search.of_left[c]
                after: cython.double = loss_after_split(search)
                if after < best_after:
                    # If the bins between are empty, take the middle one.
                    best_bin = n_bins - 1 if is_end else (last + b) // 2
                    best_missing_left = missing_left
                    best_after = after
            if is_end:
                break
            for c in range(n_sums):
                search.of_left[c] += search.histogram[b, c]
            n_left += search.count[b]
            last = b
    return best_bin, best_missing_left, best_after


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def weight_left(search: SplitSearch, last_bin: Size) -> cython.double:
    """Sum the weights in the histogram up to a bin."""
    total: cython.double = 0.0
    n_weights: Size = 1 if search.measure == SQUARED else search.total.shape[0]
    b: Size
    c: Size
    for b in range(last_bin + 1):
        for c in range(n_weights):
            total += search.histogram[b, c]
    return total


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def is_cheaper(
    price: cython.double, decrease: cython.double, best_price: cython.double, best_decrease: cython.double
) -> cython.bint:
    """Whether R = price / decrease is below the best so far; ties and free features compare by decrease."""
    own: cython.double = price * best_decrease
    best: cython.double = best_price * decrease
    slack: cython.double = ROUNDING * max(own, best)
    if own < best - slack:
        return True
    return own <= best + slack and decrease > best_decrease * (1.0 + ROUNDING)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def least_decrease(before: cython.double, after: cython.double, search: SplitSearch) -> cython.double:
    """Largest decrease attributable to rounding: absolute for entropies, relative for others."""
    return ROUNDING * (1.0 if search.measure == ENTROPY else max(fabs(before), fabs(after)))


# --- Prices -------------------------------------------------------------------------------------------------


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def unpaid_price(search: SplitSearch, k: Size) -> cython.double:
    """Sum the prices of the sources that feature `k` needs and that are not paid for."""
    total: cython.double = 0.0
    j: Size
    for j in range(search.needs_start[k], search.needs_start[k + 1]):
        if not search.is_paid[search.needs[j]]:
            total += search.price[search.needs[j]]
    return total


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def pay(search: SplitSearch, k: Size) -> cython.void:
    """Mark the sources of feature `k` as paid for."""
    j: Size
    for j in range(search.needs_start[k], search.needs_start[k + 1]):
        search.is_paid[search.needs[j]] = 1


# --- Impurity and loss --------------------------------------------------------------------------------------


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def x_log_x(x: cython.double, table: Doubles) -> cython.double:
    """x log2 x, from the table if it is not empty (all weights are integers then)."""
    if table.shape[0] > 0:
        return table[cython.cast(Size, x)]
    return x * log2(x) if x > 0.0 else 0.0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def entropy(weight: OutDoubles, table: Doubles) -> cython.double:
    """Entropy of the classes in bits."""
    total: cython.double = 0.0
    of_classes: cython.double = 0.0
    c: Size
    for c in range(weight.shape[0]):
        total += weight[c]
        of_classes += x_log_x(weight[c], table)
    return max(x_log_x(total, table) - of_classes, 0.0) / total if total > 0.0 else 0.0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def pairs(weight: OutDoubles, threshold: cython.double) -> cython.double:
    """Threshold-Pairs: the sum over pairs of classes of [ [n_i - a]+ [n_j - a]+ - a^2 ]+."""
    total: cython.double = 0.0
    above: cython.double = 0.0
    i: Size
    j: Size
    for i in range(weight.shape[0]):
        own: cython.double = max(weight[i] - threshold, 0.0)
        if threshold == 0.0:
            total += above * own  # the pairs with all earlier classes at once
            above += own
        elif own > 0.0:
            for j in range(i):
                total += max(own * max(weight[j] - threshold, 0.0) - threshold * threshold, 0.0)
    return total


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def impurity(weight: OutDoubles, search: SplitSearch) -> cython.double:
    """F(S) of a node: threshold-Pairs, or the entropy set to zero below the threshold."""
    if search.measure == PAIRS:
        return pairs(weight, search.threshold)
    own: cython.double = entropy(weight, search.table)
    return own if own >= search.threshold - ROUNDING else 0.0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def squared_loss(sums: OutDoubles) -> cython.double:
    """Squared loss of the mean target minus that of the target 0; it depends on the sums alone."""
    return -sums[1] * sums[1] / sums[0] if sums[0] > 0.0 else 0.0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def loss_of(sums: OutDoubles, search: SplitSearch) -> cython.double:
    """Impurity or squared loss of a node as a leaf."""
    return squared_loss(sums) if search.measure == SQUARED else impurity(sums, search)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def loss_after_split(search: SplitSearch) -> cython.double:
    """Impurity or squared loss after a split: both children together, or the worse of them."""
    of_left: cython.double = loss_of(search.of_left, search)
    of_right: cython.double = loss_of(search.of_right, search)
    if search.measure == SQUARED:
        return of_left + of_right
    if not search.is_expected:
        return max(of_left, of_right)
    weight_left: cython.double = 0.0
    weight_right: cython.double = 0.0
    c: Size
    for c in range(search.total.shape[0]):
        weight_left += search.of_left[c]
        weight_right += search.of_right[c]
    return (weight_left * of_left + weight_right * of_right) / (weight_left + weight_right)
