"""Kernels that grow a tree: its nodes, and the division of their rows."""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

if not cython.compiled:
    from budgetprune.baselines.binning import MISSING
    from budgetprune.baselines.split_kernels import SplitSearch, find_split, sum_rows
    from budgetprune.utils.kernel_types import Size, int32_t


class Grower:
    """Growth of one tree, level by level.

    Parameters
    ----------
    tree : GrownTree
        Leaves, as many nodes as there could be; filled in by `grow`.
    rows : int32 array
        The rows that the tree is grown on.
    search : SplitSearch
        For the same `rows`, which `grow` divides.
    max_depth : int
    """

    def __init__(self, tree: Any, rows: Any, search: SplitSearch, max_depth: int) -> None:
        self.feature, self.bin, self.missing_left = tree.feature, tree.bin, tree.missing_left
        self.left, self.right, self.sums, self.leaf = tree.left, tree.right, tree.sums, tree.leaf
        self.rows, self.went_right = rows, np.empty_like(rows)
        self.search, self.max_depth = search, max_depth
        self.start = np.zeros(tree.feature.size, dtype=np.int64)
        self.stop = np.full(tree.feature.size, rows.size)
        self.depth = np.zeros(tree.feature.size, dtype=np.int32)
        self.next_node, self.n_nodes = 0, 1

    def grow(self, n_steps: Size) -> bool:
        """Grow about as many nodes as `n_steps` rows times features are; return whether nodes are left."""
        done: Size = 0
        with cython.nogil:
            while self.next_node < self.n_nodes and done < n_steps:
                grow_node(self, self.search, self.next_node)
                done += (self.stop[self.next_node] - self.start[self.next_node]) * self.search.order.shape[0]
                self.next_node += 1
        return bool(self.next_node < self.n_nodes)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def grow_node(grower: Grower, search: SplitSearch, h: Size) -> cython.void:
    """Split node `h`, or make it a leaf."""
    begin: Size = grower.start[h]
    end: Size = grower.stop[h]
    q: Size
    c: Size
    sum_rows(search, begin, end)
    if h == 0:
        search.tree_weight = search.node_total
    for c in range(search.total.shape[0]):
        grower.sums[h, c] = search.total[c]
    k: Size = -1
    last_bin: Size = -1
    missing_left: Size = 0
    if grower.depth[h] < grower.max_depth and end - begin >= 2 * search.min_samples_leaf:
        k, last_bin, missing_left = find_split(search, begin, end - begin)
    if k < 0:
        for q in range(begin, end):
            grower.leaf[grower.rows[q]] = cython.cast(int32_t, h)
        return
    middle: Size = divide_rows(grower, begin, end, k, last_bin, missing_left)
    n: Size = grower.n_nodes
    grower.feature[h] = cython.cast(int32_t, k)
    grower.bin[h] = cython.cast(int32_t, last_bin)
    grower.missing_left[h] = 1 if missing_left else 0
    grower.left[h] = cython.cast(int32_t, n)
    grower.right[h] = cython.cast(int32_t, n + 1)
    grower.start[n] = begin
    grower.stop[n] = grower.start[n + 1] = middle
    grower.stop[n + 1] = end
    grower.depth[n] = grower.depth[n + 1] = grower.depth[h] + 1
    grower.n_nodes = n + 2


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def divide_rows(grower: Grower, begin: Size, end: Size, k: Size, last_bin: Size, missing_left: Size) -> Size:
    """Move the rows that go left to the front, each side in its old order; return where the others begin::

    rows   | rows of h                            |   before
           | rows of left(h)  | rows of right(h)  |   after
    """
    n_left: Size = begin
    n_right: Size = 0
    q: Size
    for q in range(begin, end):
        i: Size = grower.rows[q]
        b: Size = grower.search.code[k, i]
        is_left: Size = (b <= last_bin) | (missing_left & (b == MISSING))
        # Each row is written to both sides, but only one counter advances. So there is no branch that the
        # processor could mispredict.
        grower.rows[n_left] = cython.cast(int32_t, i)
        grower.went_right[n_right] = cython.cast(int32_t, i)
        n_left += is_left
        n_right += 1 - is_left
    for q in range(n_right):
        grower.rows[n_left + q] = grower.went_right[q]
    return n_left
