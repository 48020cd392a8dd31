"""Kernels of baselines: edges of bins, weakest links, sources removed from a forest, coordinate descent."""

from __future__ import annotations

import cython
import numpy as np
from numpy.typing import NDArray

if cython.compiled:
    from cython.cimports.libc.math import INFINITY, fabs
else:
    from math import fabs
    from math import inf as INFINITY  # noqa: N812

    from budgetprune.problem import UsesBySource
    from budgetprune.utils.kernel_types import (
        Doubles,
        Doubles2,
        Flags,
        Ints,
        Longs,
        Marks,
        OutDoubles,
        OutFlags,
        OutLongs,
        OutMarks,
        OutMarks2,
        Size,
        uint64_t,
    )

ONE = cython.declare(uint64_t, 1)
ALL = cython.declare(uint64_t, 2**64 - 1)


# --- Bins ---------------------------------------------------------------------------------------------------


def last_of_bins(count: Longs, max_bins: Size) -> NDArray[np.int64]:
    """Find the last value of every bin but the last, for sorted values that occur `count` times.

    A bin is full once it has its even share of all rows that are left; a value too frequent for a share
    leaves the same number of bins to fewer rows.
    """
    found = np.empty(max_bins - 1, dtype=np.int64)
    last: OutLongs = found
    left_over: Size = 0
    n_closed: Size = 0
    in_bin: Size = 0
    j: Size
    for j in range(count.shape[0]):
        left_over += count[j]
    for j in range(count.shape[0] - 1):
        in_bin += count[j]
        # Either the bin is full, or the next value fills a bin by itself.
        if max(in_bin, count[j + 1]) * (max_bins - n_closed) >= left_over:
            last[n_closed] = j
            n_closed += 1
            left_over -= in_bin
            in_bin = 0
            if n_closed == max_bins - 1:
                break
    return found[:n_closed]


# --- Weakest links ------------------------------------------------------------------------------------------


class Links:
    """Work arrays of a tree's nodes: risk and number of the leaves below, and a tournament of the links."""

    def __init__(self, root: int, end: int) -> None:
        n = end - root
        self.root, self.end, self.size = root, end, 1
        while self.size < n:
            self.size *= 2
        self.place = np.empty(n, dtype=np.int64)  # position of each node in the tournament
        self.branch_risk, self.n_leaves = np.zeros(n), np.zeros(n, dtype=np.int64)
        self.least = np.full(2 * self.size, np.inf)
        self.subtree_end = np.empty(n, dtype=np.int64)
        self.is_cut = np.zeros(n, dtype=np.bool_)


def cut_weakest_links(
    alpha: OutDoubles, root: Size, end: Size, parent: Ints, right: Ints, risk: Doubles, by_origin: Longs
) -> None:
    """Repeatedly cut the link with the least rise of risk per leaf, until only the root of a tree is left.

    Fills in the alpha at which each split is cut. A cut changes only the links above it. A tournament
    therefore finds the next link in time proportional to the depth, where a search would visit all nodes.

    Parameters
    ----------
    alpha : filled in at the splits of the tree whose nodes are ``root, ..., end - 1``
    parent, right : trees in pre-order
    risk : share of the tree's weight that reaches a node, times the impurity there
    by_origin : nodes in the order that breaks ties: tree by tree, in the numbering of their library
    """
    links = Links(root, end)
    h: Size
    below: Size
    with cython.nogil:
        start_tournament(links, parent, right, risk, by_origin)
        level: cython.double = -INFINITY
        while links.least[1] < INFINITY:
            # Due to rounding, a link may be weaker than the link that was cut before it. Both get the same
            # alpha.
            level = max(level, links.least[1])
            h = by_origin[root + leftmost_winner(links)]
            for below in range(h, links.subtree_end[h - root]):
                if right[below] >= 0 and not links.is_cut[below - root]:
                    links.is_cut[below - root] = 1
                    alpha[below] = level
                    enter(links, below, INFINITY)
            rise: cython.double = risk[h] - links.branch_risk[h - root]
            lost_leaves: Size = links.n_leaves[h - root] - 1
            h = parent[h]
            while h >= 0:
                links.branch_risk[h - root] += rise
                links.n_leaves[h - root] -= lost_leaves
                enter(links, h, rise_per_leaf(links, h, risk))
                h = parent[h]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def start_tournament(links: Links, parent: Ints, right: Ints, risk: Doubles, by_origin: Longs) -> cython.void:
    """Fill in the work arrays of a tree."""
    root: Size = links.root
    p: Size
    h: Size
    for p in range(links.end - root):
        links.place[by_origin[root + p] - root] = p
    for p in range(links.end - root):  # in scikit-learn's order, so that sums are rounded alike
        leaf: Size = by_origin[root + p]
        if right[leaf] < 0:
            h = leaf
            while h >= 0:
                links.branch_risk[h - root] += risk[leaf]
                links.n_leaves[h - root] += 1
                h = parent[h]
    for h in range(links.end - 1, root - 1, -1):
        links.subtree_end[h - root] = h + 1
        if right[h] >= 0:
            links.subtree_end[h - root] = links.subtree_end[right[h] - root]
            links.least[links.size + links.place[h - root]] = rise_per_leaf(links, h, risk)
    for p in range(links.size - 1, 0, -1):
        links.least[p] = min(links.least[2 * p], links.least[2 * p + 1])


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def rise_per_leaf(links: Links, h: Size, risk: Doubles) -> cython.double:
    """Rise of the risk per leaf that is lost if split `h` is cut."""
    return (risk[h] - links.branch_risk[h - links.root]) / (links.n_leaves[h - links.root] - 1)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def enter(links: Links, h: Size, value: cython.double) -> cython.void:
    """Set the value of node `h` in the tournament, and update its ancestors there."""
    p: Size = links.size + links.place[h - links.root]
    links.least[p] = value
    p >>= 1
    while p > 0:
        links.least[p] = min(links.least[2 * p], links.least[2 * p + 1])
        p >>= 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def leftmost_winner(links: Links) -> Size:
    """Find the first position of the minimum."""
    p: Size = 1
    while p < links.size:
        p = 2 * p if links.least[2 * p] == links.least[p] else 2 * p + 1
    return p - links.size


# --- Removal of sources -------------------------------------------------------------------------------------


def sources_on_path(
    parent: Ints, feature: Ints, needs_start: Longs, needs: Ints, n_words: Size
) -> NDArray[np.uint64]:
    """Collect the sources needed to pass each node, as bits, of shape (n_words, n_nodes)."""
    paths = np.zeros((n_words, parent.shape[0]), dtype=np.uint64)
    path: OutMarks2 = paths
    h: Size
    j: Size
    w: Size
    for h in range(parent.shape[0]):
        if parent[h] >= 0:
            for w in range(n_words):
                path[w, h] = path[w, parent[h]]
        if feature[h] >= 0:
            for j in range(needs_start[feature[h]], needs_start[feature[h] + 1]):
                path[needs[j] >> 6, h] |= bit(needs[j] & 63)
    return paths


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def bit(b: Size) -> uint64_t:
    """Bit `b` of a word."""
    word: uint64_t = ONE << cython.cast(Size, b)
    return word


def gains_below(right: Ints, keep: Flags, gain: Doubles) -> NDArray[np.float64]:
    """Sum the gains of the splits left at and below each node."""
    totals = np.zeros(gain.shape[0])
    total: OutDoubles = totals
    h: Size
    for h in range(gain.shape[0] - 1, -1, -1):
        if keep[h]:
            total[h] = gain[h] + total[h + 1] + total[right[h]]
    return totals


def cost_saved(
    uses: UsesBySource, alive: Flags, path: Marks, price: Doubles, row_weight: Doubles, first: Size
) -> NDArray[np.float64]:
    """Cost saved by the removal of each of 64 sources, from `first` on.

    `path` has the sources needed to pass each node, as bits.
    """
    amounts = np.zeros(64)
    saved: OutDoubles = amounts
    common: OutMarks = np.empty(row_weight.shape[0], dtype=np.uint64)
    pays: OutFlags = np.empty(row_weight.shape[0], dtype=np.bool_)
    s: Size
    with cython.nogil:
        for s in range(price.shape[0]):
            find_common_sources(common, pays, uses, alive, path, s)
            # Nearly always `s` itself is the only common source, so it is handled before the others.
            own: Size = s - first if 0 <= s - first < 64 else -1
            add_cost_of_source(saved, common, pays, price[s], row_weight, own)
    return amounts


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def find_common_sources(
    common: OutMarks, pays: OutFlags, uses: UsesBySource, alive: Flags, path: Marks, s: Size
) -> cython.void:
    """Find which rows pay for source `s`, and the sources whose removal saves them that.

    These are the sources on the paths to all first uses of `s` that the row reaches, in any tree.
    """
    i: Size
    j: Size
    a: Size
    for i in range(pays.shape[0]):
        common[i] = ALL
        pays[i] = 0
    for j in range(uses.source_start[s], uses.source_start[s + 1]):
        k: Size = uses.by_source[j]
        if alive[k]:
            h: Size = uses.use_node[k]
            sources: uint64_t = path[h]
            tree: Size = uses.tree_of_node[h]
            begin: Size = tree * uses.n_rows + uses.row_start[h]
            for a in range(begin, begin + uses.use_start[k + 1] - uses.use_start[k]):
                i = uses.rows[a]
                common[i] &= sources
                pays[i] = 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def add_cost_of_source(
    saved: OutDoubles,
    common: OutMarks,
    pays: OutFlags,
    price: cython.double,
    row_weight: Doubles,
    own: Size,
) -> cython.void:
    """Add the cost of a source to what the removal of each common source saves; `own` is its bit, or -1."""
    own_bit: uint64_t = bit(own) if own >= 0 else 0
    i: Size
    for i in range(pays.shape[0]):
        if not pays[i]:
            continue
        amount: cython.double = price * row_weight[i]
        if common[i] & own_bit:
            saved[own] += amount
        others: uint64_t = (common[i] | own_bit) ^ own_bit
        b: Size = 0
        while others:
            if others & ONE:
                saved[b] += amount
            others >>= ONE
            b += 1


# --- Coordinate descent -------------------------------------------------------------------------------------


def coordinate_descent(
    hessian: Doubles2, gradient: Doubles, coef: Doubles, strength: Doubles, n_sweeps: Size
) -> NDArray[np.float64]:
    """Run a few sweeps of coordinate descent."""
    found = np.array(coef)
    best: OutDoubles = found
    slope: OutDoubles = np.array(gradient)
    k: Size
    j: Size
    with cython.nogil:
        for _ in range(n_sweeps):
            for k in range(best.shape[0]):
                centre: cython.double = hessian[k, k] * best[k] - slope[k]
                size: cython.double = max(fabs(centre) - strength[k], 0.0) / hessian[k, k]
                value: cython.double = size if centre >= 0.0 else -size
                change: cython.double = value - best[k]
                if change != 0.0:
                    for j in range(best.shape[0]):
                        slope[j] += change * hessian[k, j]
                    best[k] = value
    return found
