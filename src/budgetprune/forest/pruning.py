"""Removal of the nodes below pruned splits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from budgetprune.errors import InvalidInputError

if TYPE_CHECKING:
    from budgetprune.forest.forest import Forest


def prune_forest(forest: Forest, keep: ArrayLike) -> Forest:
    """Return the forest without the nodes below pruned splits, which become leaves; see `Forest.prune`."""
    keep = check_keep(forest, keep)
    stays = (forest.parent < 0) | keep[forest.parent]
    is_split = keep[stays]
    # One extra slot, so that "no node" (-1) maps to itself.
    number = np.append(np.cumsum(stays, dtype=np.int32) - np.int32(1), np.int32(-1))
    return replace(
        forest,
        tree_start=np.append(number[forest.tree_start[:-1]], is_split.size),
        parent=number[forest.parent[stays]],
        left=np.where(is_split, number[forest.left[stays]], -1),
        right=np.where(is_split, number[forest.right[stays]], -1),
        feature=np.where(is_split, forest.feature[stays], -1),
        threshold=np.where(is_split, forest.threshold[stays], np.nan),
        missing_left=forest.missing_left[stays] & is_split,
        category_set=np.where(is_split, forest.category_set[stays], -1),
        value=forest.value[stays],
        weight=forest.weight[stays],
        class_weight=None if forest.class_weight is None else forest.class_weight[stays],
        variance=None if forest.variance is None else forest.variance[stays],
        origin_node=forest.origin_node[stays],
        split_gain=None if forest.split_gain is None else np.where(is_split, forest.split_gain[stays], 0.0),
    )


def check_keep(forest: Forest, keep: ArrayLike) -> NDArray[np.bool_]:
    """Return `keep` as a mask if it is a pruning: a set of splits closed under "parent"."""
    mask = np.asarray(keep)
    if mask.dtype != np.bool_ or mask.shape != (forest.n_nodes,):
        raise InvalidInputError(
            f"keep must be a bool mask of shape ({forest.n_nodes},), one per node, "
            f"not {mask.dtype} of shape {mask.shape}."
        )
    leaves = np.flatnonzero(mask & ~forest.is_split)
    if leaves.size:
        raise InvalidInputError(f"keep marks node {leaves[0]}, which is a leaf; only splits can stay splits.")
    orphans = np.flatnonzero(mask & (forest.parent >= 0) & ~mask[forest.parent])
    if orphans.size:
        raise InvalidInputError(
            f"keep marks node {orphans[0]} but not its parent {forest.parent[orphans[0]]}; "
            "a split can stay only if its parent stays."
        )
    return mask
