"""Reader of LightGBM's model text.

LightGBM wrote the text, so its syntax is valid, but its numbers may come from an untrusted file. Those used
as indices or sizes are checked here.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest.damage import check_model, check_nodes

# Bits of `decision_type`.
IS_CATEGORICAL = 1
DEFAULT_LEFT = 2
MISSING_SHIFT = 2
MISSING_NONE, MISSING_ZERO, MISSING_NAN = 0, 1, 2
_LARGEST_DECISION = IS_CATEGORICAL | DEFAULT_LEFT | MISSING_NAN << MISSING_SHIFT

_PER_SPLIT = {
    "split_feature": np.int64,
    "split_gain": np.float64,
    "threshold": np.float64,
    "decision_type": np.int64,
    "left_child": np.int64,
    "right_child": np.int64,
    "internal_value": np.float64,
    "internal_weight": np.float64,
    "internal_count": np.float64,
}
_PER_LEAF = {"leaf_value": np.float64, "leaf_weight": np.float64, "leaf_count": np.float64}


class Nodes(NamedTuple):
    """One entry per node of all trees: in each tree first the splits, then the leaves, in LightGBM's order.

    `left` and `right` are numbers within the tree, -1 at leaves; `hessian` is the sum of second derivatives.
    """

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    feature: NDArray[np.int64]
    threshold: NDArray[np.float64]
    decision_type: NDArray[np.int64]
    gain: NDArray[np.float64]
    value: NDArray[np.float64]
    hessian: NDArray[np.float64]
    n_rows: NDArray[np.float64]


class ModelText(NamedTuple):
    """Parsed model text."""

    header: dict[str, str]
    parameters: dict[str, str]
    tree_start: NDArray[np.int64]
    nodes: Nodes
    shrinkage: NDArray[np.float64]
    is_linear: bool
    category_start: NDArray[np.int64]
    category_bits: NDArray[np.uint32]
    first_category_set: NDArray[np.int64]

    @property
    def n_outputs(self) -> int:
        return int(self.header["num_tree_per_iteration"])

    @property
    def is_averaged(self) -> bool:
        """Whether the model is a random forest: the mean of its trees, not their sum."""
        return "average_output" in self.header


def parse(text: str) -> ModelText:
    """Read the model text; all numbers of one kind are read at once, since there may be millions."""
    head, *trees = text.partition("\nend of trees")[0].split("\nTree=")
    columns: dict[str, list[str]] = defaultdict(list)
    for tree in trees:
        for line in tree.split("\n"):
            key, _, numbers = line.partition("=")
            columns[key].append(numbers)

    header = dict(_pair(line, "=") for line in head.split("\n"))
    n_leaves, n_sets = (_per_tree(columns, key, len(trees)) for key in ("num_leaves", "num_cat"))
    check_model(n_leaves.min(initial=1) > 0 and n_sets.min(initial=0) >= 0, "a tree has no leaves")
    tree_start = np.concatenate([[0], np.cumsum(2 * n_leaves - 1)])
    nodes = _nodes(columns, n_leaves, tree_start)
    _check_nodes(nodes, tree_start, n_sets, n_features=int(header["max_feature_idx"]) + 1)
    category_start, category_bits = _category_sets(columns, n_sets)
    shrinkage = _numbers(columns["shrinkage"], np.float64)
    n_outputs = int(header["num_tree_per_iteration"])
    check_model(
        n_outputs > 0 and len(trees) % n_outputs == 0,
        f"{len(trees)} trees do not divide into rounds of {n_outputs} trees each",
    )
    check_model(shrinkage.size == len(trees), "the shrinkage of some trees is missing")
    return ModelText(
        header,
        _parameters(text),
        tree_start,
        nodes,
        shrinkage,
        bool(_numbers(columns["is_linear"], np.int64).any()),
        category_start,
        category_bits,
        np.cumsum(n_sets) - n_sets,
    )


def _per_tree(columns: dict[str, list[str]], key: str, n_trees: int) -> NDArray[np.int64]:
    numbers: NDArray[np.int64] = _numbers(columns[key], np.int64)
    if numbers.size != n_trees:
        raise _unknown_layout([key])
    return numbers


def _unknown_layout(odd: list[str]) -> UnsupportedModelError:
    return UnsupportedModelError(
        "this version of LightGBM writes models in a way that budgetprune does not know "
        f"({', '.join(odd)}); use a version of LightGBM that this budgetprune supports."
    )


def _check_nodes(nodes: Nodes, start: NDArray[np.int64], n_sets: NDArray[np.int64], n_features: int) -> None:
    """Check features, kinds of splits and their sets of categories; links are checked by `in_preorder`."""
    is_known = (nodes.left < 0) | ((nodes.feature >= 0) & (nodes.feature < n_features))
    check_nodes(start, is_known, "splits by the feature {}, which does not exist", nodes.feature)
    kind = nodes.decision_type
    check_nodes(
        start,
        (kind >= 0) & (kind <= _LARGEST_DECISION) & (kind >> MISSING_SHIFT <= MISSING_NAN),
        "has the decision type {}, which does not exist",
        kind,
    )
    place = nodes.threshold
    is_place = (place >= 0) & (place < np.repeat(n_sets, np.diff(start))) & (place == np.floor(place))
    by_category = (kind & IS_CATEGORICAL) != 0
    check_nodes(start, is_place | ~by_category, "has the set of categories {}, which does not exist", place)


def _pair(line: str, separator: str) -> tuple[str, str]:
    key, _, value = line.partition(separator)
    return key, value.strip()


def _parameters(text: str) -> dict[str, str]:
    """Settings of the training, `[name: value]` in each line; empty if the model records none."""
    section = text.rpartition("\nparameters:\n")[2].partition("\nend of parameters")
    return dict(_pair(line[1:-1], ":") for line in section[0].splitlines()) if section[1] else {}


def _numbers(lines: list[str], dtype: Any) -> NDArray[Any]:
    joined = " ".join(lines)
    if not joined.strip():  # numpy would read one number
        return np.empty(0, dtype=dtype)
    with warnings.catch_warnings():
        # Before numpy 2.4, invalid text gives a warning, and the rest is left out.
        warnings.simplefilter("error", DeprecationWarning)
        try:
            return np.fromstring(joined, dtype=dtype, sep=" ")
        except DeprecationWarning as warning:
            raise ValueError(str(warning)) from None


def _nodes(columns: dict[str, list[str]], n_leaves: NDArray[np.int64], start: NDArray[np.int64]) -> Nodes:
    # A tree that is a single leaf leaves most lines empty.
    for key in ("leaf_weight", "leaf_count"):
        columns[key] = [numbers or "0" for numbers in columns[key]]
    split, leaf = (
        {key: _numbers(columns[key], dtype) for key, dtype in kinds.items()}
        for kinds in (_PER_SPLIT, _PER_LEAF)
    )
    n_splits = n_leaves - 1
    for fields, sizes in ((split, n_splits), (leaf, n_leaves)):
        odd = [key for key in fields if not np.array_equal(_sizes(columns[key]), sizes)]
        odd += [key for key, numbers in fields.items() if numbers.size != sizes.sum()]
        if odd:
            raise _unknown_layout(odd)
    at_split = ranges(start[:-1], n_splits)
    at_leaf = ranges(start[:-1] + n_splits, n_leaves)

    def per_node(of_splits: NDArray[Any], of_leaves: Any) -> NDArray[Any]:
        array = np.empty(start[-1], dtype=of_splits.dtype)
        array[at_split], array[at_leaf] = of_splits, of_leaves
        return array

    def children(key: str) -> NDArray[np.int64]:
        # Leaf j is written as the complement of j.
        numbers, n = split[key], np.repeat(n_splits, n_splits)
        is_known = (numbers < n) & (~numbers <= n)
        check_nodes(start, per_node(is_known, True), f"has the {key} {{}}", per_node(numbers, 0))
        return per_node(np.where(numbers >= 0, numbers, n + ~numbers), -1)

    return Nodes(
        left=children("left_child"),
        right=children("right_child"),
        feature=per_node(split["split_feature"], -1),
        threshold=per_node(split["threshold"], np.nan),
        decision_type=per_node(split["decision_type"], 0),
        gain=per_node(split["split_gain"], 0.0),
        value=per_node(split["internal_value"], leaf["leaf_value"]),
        hessian=per_node(split["internal_weight"], leaf["leaf_weight"]),
        n_rows=per_node(split["internal_count"], leaf["leaf_count"]),
    )


def _sizes(lines: list[str]) -> NDArray[np.int64]:
    """Number of values in each line; LightGBM separates them by one space."""
    return np.array([line.count(" ") + 1 if line else 0 for line in lines], dtype=np.int64)


def ranges(first: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Concatenate the ranges that start at `first` and have `sizes` entries."""
    return np.repeat(first - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())


def _category_sets(
    columns: dict[str, list[str]], n_sets: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Join the category sets of all trees; the offsets of each tree start from 0."""
    own = n_sets[n_sets > 0]
    lines = columns["cat_boundaries"]
    check_model(
        np.array_equal(_sizes(lines), own + 1) and len(columns["cat_threshold"]) == own.size,
        "the sets of categories of a tree differ from their recorded number",
    )
    offsets = _numbers(lines, np.int64)
    is_first = np.zeros(offsets.size, dtype=np.bool_)
    is_first[np.cumsum(own + 1) - (own + 1)] = True
    last = np.cumsum(own + 1) - 1
    sizes = np.diff(offsets)[~is_first[1:]] if offsets.size else offsets
    check_model(
        not offsets[is_first].any()
        and sizes.min(initial=0) >= 0
        and np.array_equal(offsets[last], _sizes(columns["cat_threshold"])),
        "the sets of categories of a tree do not end where they should",
    )
    return np.concatenate([[0], np.cumsum(sizes)]), _numbers(columns["cat_threshold"], np.uint32)
