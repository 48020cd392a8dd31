"""Splits of ONNX trees in the form of a Forest: `x <= t` and sets of categories go left."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest.adapters.onnx.table import Members, Mode, Nodes
from budgetprune.forest.category_sets import pack_sets

# Sets of categories have a bit for each number below the largest one.
_MOST_CATEGORIES = 2**16

_BY_CATEGORY = (Mode.EQ, Mode.NEQ, Mode.MEMBER)
_TRUE_RIGHT = (Mode.GTE, Mode.GT, Mode.NEQ)  # comparisons whose opposite goes left in a Forest
_STRICT = (Mode.LT, Mode.GTE)


class Splits(NamedTuple):
    """Nodes that remain, with links and tests as in a Forest."""

    tree_start: NDArray[np.int64]
    node: NDArray[np.int64]  # number of each node in the table
    left: NDArray[np.int64]  # number in the tree, -1 at leaves
    right: NDArray[np.int64]
    threshold: NDArray[np.float64]  # NaN at leaves and splits by category
    missing_left: NDArray[np.bool_]
    category_set: NDArray[np.int32]
    category_start: NDArray[np.int64]
    category_bits: NDArray[np.uint32]

    def take_trees(self, trees: NDArray[np.int64]) -> Splits:
        """Return the trees in another order."""
        if np.array_equal(trees, np.arange(trees.size)):
            return self
        sizes = np.diff(self.tree_start)[trees]
        start = np.concatenate([[0], np.cumsum(sizes)])
        place = np.arange(start[-1]) + np.repeat(self.tree_start[trees] - start[:-1], sizes)
        return self._replace(
            tree_start=start,
            node=self.node[place],
            left=self.left[place],
            right=self.right[place],
            threshold=self.threshold[place],
            missing_left=self.missing_left[place],
            category_set=self.category_set[place],
        )


def read_splits(nodes: Nodes, members: Members, dtype: np.dtype[np.floating]) -> Splits:
    """Translate the tests of all nodes.

    Parameters
    ----------
    nodes, members : the trees
    dtype : precision in which the operator compares
    """
    nodes, members, is_kept = _join_chains(nodes, members)
    by_category = np.isin(nodes.mode, _BY_CATEGORY)
    _check_categories(nodes, members)
    is_swapped = np.isin(nodes.mode, _TRUE_RIGHT)
    operand = nodes.operand.astype(dtype)
    with np.errstate(over="ignore"):  # nothing is below the smallest number: minus infinity
        below = np.nextafter(operand, dtype.type(-np.inf))
    threshold = np.where(np.isin(nodes.mode, _STRICT), below, operand).astype(np.float64)
    # A missing value is equal to nothing.
    missing_if_true = nodes.missing_if_true | (nodes.mode == Mode.NEQ)
    is_split = nodes.mode != Mode.LEAF

    category_set = np.where(by_category, np.cumsum(by_category & is_kept) - 1, -1)
    start, bits = pack_sets(
        category_set[members.node], members.value.astype(np.int64), int((by_category & is_kept).sum())
    )
    kept = np.flatnonzero(is_kept)
    # Numbers in the tree without those that are left out; "no child" (-1) stays.
    shift = np.repeat(nodes.tree_start[:-1], np.diff(nodes.tree_start))
    n_before = np.concatenate([[0], np.cumsum(is_kept)])
    left, right = (
        np.where(child >= 0, n_before[np.maximum(child, 0) + shift] - n_before[shift], -1)[kept]
        for child in (
            np.where(is_swapped, nodes.if_false, nodes.if_true),
            np.where(is_swapped, nodes.if_true, nodes.if_false),
        )
    )
    return Splits(
        n_before[nodes.tree_start],
        kept,
        left,
        right,
        np.where(is_split & ~by_category, threshold, np.nan)[kept],
        ((missing_if_true != is_swapped) & is_split)[kept],
        category_set[kept].astype(np.int32),
        start,
        bits,
    )


def _join_chains(nodes: Nodes, members: Members) -> tuple[Nodes, Members, NDArray[np.bool_]]:
    """Make one split by a set of categories of a chain of tests for equality that share a child.

    The converter of XGBoost writes a set like this: the operators up to ai.onnx.ml 3 have no sets.

        x == 3 ── yes ──┐                      x in {3, 5} ── yes ── A
          no            │                          no
        x == 5 ── yes ──┴── A        =>            B
          no
          B

    Returns
    -------
    nodes, members : with the tests of a chain at its first node
    is_kept : mask of the nodes without the others of a chain
    """
    shift = np.repeat(nodes.tree_start[:-1], np.diff(nodes.tree_start))
    no = np.where(nodes.if_false >= 0, nodes.if_false + shift, 0)
    goes_on = (
        (nodes.mode == Mode.EQ)
        & (nodes.mode[no] == Mode.EQ)
        & (nodes.feature[no] == nodes.feature)
        & (nodes.if_true[no] == nodes.if_true)
        & (nodes.missing_if_true[no] == nodes.missing_if_true)
        & (nodes.if_false >= 0)
    )
    # Only tests that nothing else leads to. What remains of other shared nodes is refused later.
    children = [child[child >= 0] + shift[child >= 0] for child in (nodes.if_true, nodes.if_false)]
    n_parents = np.bincount(np.concatenate(children), minlength=no.size)
    n_parents[nodes.tree_start[:-1]] += 1  # roots
    goes_on &= n_parents[no] == 1
    is_later = np.zeros(no.size, dtype=np.bool_)
    is_later[no[goes_on]] = True
    if not is_later.any():
        return nodes, members, ~is_later
    first = np.arange(no.size)
    at = np.flatnonzero(goes_on & ~is_later)  # last node so far of the chains, one step at a time
    heads = at
    if_false = nodes.if_false.copy()
    while at.size:
        at = no[at]
        first[at] = heads
        if_false[heads] = nodes.if_false[at]
        at, heads = at[goes_on[at]], heads[goes_on[at]]
    is_kept = first == np.arange(no.size)
    return nodes._replace(if_false=if_false), Members(first[members.node], members.value), is_kept


def _check_categories(nodes: Nodes, members: Members) -> None:
    value = members.value
    is_category = (value >= 0) & (value < _MOST_CATEGORIES) & (value == np.floor(value))
    if not is_category.all():
        i = int(np.argmin(is_category))
        raise UnsupportedModelError(
            f"this ONNX model tests whether feature {nodes.feature[members.node[i]]} equals {value[i]:g}, "
            "but a Forest compares only with categories, which are numbered from 0 (below "
            f"{_MOST_CATEGORIES}); number the categories so, or train on thresholds."
        )
