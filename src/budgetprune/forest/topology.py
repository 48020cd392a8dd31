"""Nodes in pre-order, and the links between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.forest.damage import check_model, check_nodes
from budgetprune.forest.topology_kernels import link, preorder


def in_preorder(
    tree_start: NDArray[np.int64], left: NDArray[np.int64], right: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Renumber the nodes so that a subtree is a contiguous range and a left child follows its parent.

    Trees grown best-first (`max_leaf_nodes`) number their nodes in order of creation; the rest of the package
    relies on pre-order. Every importer calls this function, so links are checked here: it raises
    InvalidInputError unless every node but the root is the child of one split and reachable from the root.

    Parameters
    ----------
    tree_start : offsets of each tree's nodes; a tree's root is its first node
    left, right : indices of the children within their tree, -1 at leaves

    Returns
    -------
    order : the old absolute number of each node
    parent, left, right : the new absolute numbers, -1 where there is none
    """
    _check_children(tree_start, left, right)
    shift = np.repeat(tree_start[:-1], np.diff(tree_start))
    left, right = (np.where(child >= 0, child + shift, -1) for child in (left, right))
    _check_parents(tree_start, left, right)
    # Nodes have one parent and roots have none, so a walk from the roots visits no node twice.
    order = preorder(tree_start, left, right)
    if order.size < left.size:
        is_reached = np.zeros(left.size, dtype=np.bool_)
        is_reached[order] = True
        check_nodes(tree_start, is_reached, "cannot be reached from the root: links above it form a cycle")
    new_number = np.empty(order.size + 1, dtype=np.int32)
    new_number[order] = np.arange(order.size)
    new_number[-1] = -1  # "no node" (-1) stays "no node"
    new_left, new_right = new_number[left[order]], new_number[right[order]]
    split = np.flatnonzero(new_left >= 0)
    parent = np.full(order.size, -1, dtype=np.int32)
    parent[new_left[split]] = parent[new_right[split]] = split
    return order, parent, new_left, new_right


def _check_children(tree_start: NDArray[np.int64], left: NDArray[np.int64], right: NDArray[np.int64]) -> None:
    """Check that children are in range: the walk indexes with them."""
    size = np.diff(tree_start)
    check_model(size.size > 0 and int(size.min()) > 0, "it has no trees, or a tree without nodes")
    n_nodes = int(tree_start[-1])
    check_model(
        tree_start[0] == 0 and n_nodes < 2**31 and left.size == right.size == n_nodes,
        f"its trees have {left.size} nodes, but their sizes add up to {n_nodes}",
    )
    n_siblings = np.repeat(size, size)
    for side, child in (("left", left), ("right", right)):
        is_fine = (child == -1) | ((child > 0) & (child < n_siblings))
        check_nodes(tree_start, is_fine, f"has the {side} child {{}}, which is not a node below it", child)
    check_nodes(tree_start, (left < 0) == (right < 0), "has one child only")


def _check_parents(tree_start: NDArray[np.int64], left: NDArray[np.int64], right: NDArray[np.int64]) -> None:
    """Check that every node but the root is the child of one split; children are absolute and in range."""
    is_split = left >= 0
    n_parents = np.bincount(np.concatenate([left[is_split], right[is_split]]), minlength=left.size)
    expected = np.ones(left.size, dtype=np.int64)
    expected[tree_start[:-1]] = 0
    check_nodes(tree_start, n_parents == expected, "is the child of {} splits, not of one", n_parents)


def links_in_preorder(
    tree_start: NDArray[np.int64], is_split: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Derive parents and children from the mask of splits, for nodes in pre-order.

    Parameters
    ----------
    tree_start : offsets of each tree's nodes
    is_split : of each node; may be invalid, for example from a file

    Returns
    -------
    parent, left, right : numbers of nodes, -1 where there is none
    """
    n_nodes = is_split.size
    is_good = tree_start.size > 1 and n_nodes < 2**31 and tree_start[0] == 0 and tree_start[-1] == n_nodes
    if is_good and np.all(tree_start[1:] > tree_start[:-1]):
        parent, left, right = (np.full(n_nodes, -1, dtype=np.int32) for _ in range(3))
        if link(tree_start, is_split, parent, left, right):
            return parent, left, right
    raise InvalidInputError("these arrays are not a forest: their nodes make no trees in pre-order.")
