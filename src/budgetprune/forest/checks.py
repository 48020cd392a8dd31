"""Consistency checks of a `Forest`, so that kernels can index without bounds checks.

They run whenever a forest is created: by an importer, by pruning, or from an untrusted file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.forest.schema import (
    ARRAYS,
    DIVISORS,
    INPUT_DTYPES,
    LABEL_RULES,
    LARGEST_SUM,
    MISSING,
    MOST_FEATURES,
    OPTIONAL,
    PER_NODE,
    RANGES,
    TWO_DIMENSIONAL,
)
from budgetprune.forest.topology_kernels import first_misplaced
from budgetprune.losses import LOSSES, find_loss

if TYPE_CHECKING:
    from budgetprune.forest.forest import Forest


class NotAForestError(InvalidInputError):
    """The arrays of a `Forest` are inconsistent."""


# Messages for the error codes of `first_misplaced`.
_MISPLACED = {
    1: "left and right must be -1 at leaves",
    2: "left must be the next node (pre-order) at splits",
    3: "right must come after the left subtree, where that ends",
    4: "parent must be -1 at the first node of each tree and agree with left and right elsewhere",
    5: "a tree must end where tree_start says that the next one begins",
}


def check_forest(forest: Forest) -> None:
    """Raise InvalidInputError, naming the part, unless the parts describe trees in pre-order."""
    _check_settings(forest)
    _check_shapes(forest)
    _check_trees(forest)
    _check_categories(forest)
    _check_outputs(forest)
    _check_names(forest)
    for name, (least, most) in RANGES.items():
        array = getattr(forest, name)
        if array is not None and not _is_within(array, least, most):
            is_fine = (array >= least) & (array <= most)
            _require_nodes(forest, is_fine, f"{name} must be finite, and from {least:g} to {most:g}")
    _check_sum(forest)


def _check_settings(forest: Forest) -> None:
    """Check scalar fields; membership is tested in tuples, since values from a file may not be hashable."""
    _require(
        _is_number(forest.n_features, int | np.integer) and 1 <= forest.n_features <= MOST_FEATURES,
        f"n_features must be a whole number from 1 to {MOST_FEATURES}",
    )
    _require(
        _is_number(forest.divisor, int | float | np.number) and DIVISORS[0] <= forest.divisor <= DIVISORS[1],
        f"divisor must be a number from {DIVISORS[0]:g} to {DIVISORS[1]:g}",
    )
    _require(forest.link in tuple(LABEL_RULES), f"link must be one of {', '.join(LABEL_RULES)}")
    _require(
        forest.label_rule in LABEL_RULES[forest.link],
        f"label_rule must be {' or '.join(LABEL_RULES[forest.link])} for a link that is {forest.link}",
    )
    _require(
        forest.loss is None or (forest.loss in LOSSES and forest.link == find_loss(forest.loss).link),
        f"loss must be None or one of {', '.join(LOSSES.names)}, with the link that belongs to it",
    )
    _require(forest.missing in MISSING, f"missing must be one of {', '.join(MISSING)}")
    for name in ("input_dtype", "label_dtype"):
        dtype = getattr(forest, name)
        _require(isinstance(dtype, np.dtype) and dtype in INPUT_DTYPES, f"{name} must be float32 or float64")
    _require(
        forest.other_category is None or isinstance(forest.other_category, str),
        "other_category must be a string or None",
    )
    _require(isinstance(forest.absent_is_missing, bool), "absent_is_missing must be True or False")


def _check_shapes(forest: Forest) -> None:
    n_nodes = np.size(forest.feature)
    for name in ARRAYS:
        array = getattr(forest, name)
        if array is None:
            _require(name in OPTIONAL, f"{name} is missing")
            continue
        n_dimensions = 2 if name in TWO_DIMENSIONAL else 1
        _require(array.ndim == n_dimensions, f"{name} must be {('one', 'two')[n_dimensions - 1]}-dimensional")
        _require(
            name not in PER_NODE or len(array) == n_nodes, f"{name} must have one entry per node ({n_nodes})"
        )


def _check_trees(forest: Forest) -> None:
    start, feature, n_nodes = forest.tree_start, forest.feature, forest.n_nodes
    _require(
        start.size >= 2 and start[0] == 0 and start[-1] == n_nodes and bool(np.all(start[1:] > start[:-1])),
        f"tree_start must increase from 0 to the number of nodes ({n_nodes})",
    )
    _require_nodes(forest, feature < forest.n_features, f"feature must be below {forest.n_features}")
    _require_nodes(forest, feature >= -1, "feature must be -1 at leaves")
    node, problem = first_misplaced(start, forest.parent, forest.left, forest.right, feature)
    _require(problem == 0, f"{_MISPLACED.get(problem)} (wrong at node {node})")
    by_threshold = (feature >= 0) & (forest.category_set < 0)
    is_nan = np.isnan(forest.threshold)
    _require_nodes(forest, ~(is_nan & by_threshold), "threshold must not be NaN at splits")
    _require_nodes(forest, is_nan | by_threshold, "threshold must be NaN at leaves and splits by category")
    _require(bool(forest.origin_node.min() >= 0), "origin_node must not be negative")


def _check_categories(forest: Forest) -> None:
    own, start = forest.category_set, forest.category_start
    _require(
        bool(own.max() < start.size - 1 and own.min() >= -1),
        "category_set must be the number of a set between category_start's entries, or -1",
    )
    _require(not np.any((own >= 0) & (forest.feature < 0)), "category_set must be -1 at leaves")
    _require(
        bool(start.size >= 1 and start[0] == 0 and np.all(start[1:] >= start[:-1]))
        and int(start[-1]) == forest.category_bits.size,
        "category_start must begin with 0, never decrease, and end at the length of category_bits",
    )


def _check_outputs(forest: Forest) -> None:
    output, n_outputs, n_values = forest.tree_output, forest.n_outputs, forest.value.shape[1]
    _require(n_outputs >= 1, "base must have an entry for each output, and there is no output without")
    _require(output.size == forest.n_trees, f"tree_output must have one entry per tree ({forest.n_trees})")
    _require(
        bool(output.max() < n_outputs and output.min() >= -1),
        f"tree_output must be below {n_outputs}, the number of outputs, or -1",
    )
    _require(
        n_values == n_outputs or (n_values == 1 and bool(output.min() >= 0)),
        f"value must have {n_outputs} columns, one per output, where a tree feeds all outputs, and else 1",
    )
    rounds = forest.tree_round
    _require(
        rounds is None
        or (rounds.size == forest.n_trees and bool(rounds[0] >= 0 and np.all(rounds[1:] >= rounds[:-1]))),
        f"tree_round must have one entry per tree ({forest.n_trees}), none negative, and never decrease",
    )
    classes = forest.classes
    _require(
        forest.class_weight is None
        or forest.class_weight.shape[1:] == (None if classes is None else classes.size,),
        "class_weight must have one column per class",
    )
    _require(
        classes is None or len(set(classes.tolist())) == classes.size, "classes must differ from each other"
    )
    if classes is None:
        _require(
            n_outputs == 1 and forest.link in ("identity", "exp"),
            "without classes there is one output, and link must be identity or exp",
        )
    elif forest.link == "logistic":
        _require(n_outputs == 1 and classes.size == 2, "a logistic link needs one output and two classes")
    else:
        _require(
            n_outputs == classes.size and forest.link != "exp",
            "there must be as many outputs as classes, and link must be identity or softmax",
        )
    _require(
        forest.label_rule != "nonnegative" or (classes is not None and classes.size == 2),
        "label_rule nonnegative is for two classes",
    )


def _check_sum(forest: Forest) -> None:
    """Check that the largest possible score, before division, is far from overflow."""
    at_node = np.maximum(forest.value.max(axis=1), -forest.value.min(axis=1))
    with np.errstate(over="ignore"):
        largest = np.maximum.reduceat(at_node, forest.tree_start[:-1]).sum() + np.abs(forest.base).sum()
    _require(bool(largest <= LARGEST_SUM), f"value and base must add up to at most {LARGEST_SUM:g}")


def _check_names(forest: Forest) -> None:
    names, categories = forest.feature_names, forest.categories
    _require(
        names is None or (isinstance(names, tuple) and len(names) == forest.n_features),
        f"feature_names must name all {forest.n_features} features",
    )
    _require(
        names is None or (all(isinstance(name, str) for name in names) and len(set(names)) == len(names)),
        "feature_names must be strings that differ from each other",
    )
    _require(
        categories is None or (isinstance(categories, tuple) and len(categories) == forest.n_features),
        f"categories must have one entry for each of {forest.n_features} features",
    )
    _require(
        categories is None or all(own is None or isinstance(own, tuple) for own in categories),
        "categories must have None or a tuple for each feature",
    )


def _is_number(value: Any, kind: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _is_within(array: NDArray[Any], least: float, most: float) -> bool:
    # If an array holds NaN, its minimum is NaN, which is in no range. This needs no mask of the array's size.
    return array.size == 0 or bool(array.min() >= least and array.max() <= most)


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise NotAForestError(f"these arrays are not a forest: {what}.")


def _require_nodes(forest: Forest, is_fine: NDArray[np.bool_], what: str) -> None:
    """Check a condition on every row of an array; name the first invalid node if rows are nodes."""
    if np.all(is_fine):
        return
    if len(is_fine) == forest.n_nodes:
        h = int(np.argmin(is_fine.reshape(len(is_fine), -1).all(axis=1)))
        tree = int(np.searchsorted(forest.tree_start, h, side="right")) - 1
        what += f" (wrong at node {h}, in tree {tree})"
    raise NotAForestError(f"these arrays are not a forest: {what}.")
