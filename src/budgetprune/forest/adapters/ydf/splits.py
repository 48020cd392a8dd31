"""Nodes of Yggdrasil's trees, collected as columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest.adapters.ydf.features import Features
from budgetprune.forest.damage import check_model

# All numbers are at most this one, so that only missing values fail the test.
_LARGEST = float(np.finfo(np.float32).max)


class Test(NamedTuple):
    """Test of a split in a Forest: `x <= threshold` goes left, or a category of a set.

    Attributes
    ----------
    feature : number of the feature
    threshold : NaN for a set
    members : numbers of the categories in the set, None for a threshold
    missing_left : whether missing values go left
    """

    feature: int
    threshold: float
    members: NDArray[np.int64] | None
    missing_left: bool


_LEAF = Test(-1, np.nan, None, False)


class Columns(NamedTuple):
    """Nodes of all trees, in Yggdrasil's order; one entry per node.

    Attributes
    ----------
    is_split, feature, threshold, missing_left : as in a Forest; -1, NaN and False at leaves
    category_set : number of a set of categories, -1 if there is none
    members : categories of each set
    passes_left : whether rows that pass the test go left
    top : label with most training rows, or the number that a tree answers; NaN if it was not recorded
    counts : of shape (n_nodes, n_labels + 1); rows of training by label, the first for unknown labels
    weight : rows of training
    sums : of shape (n_nodes, 2); sums of the targets and of their squares, NaN if they were not recorded
    """

    is_split: NDArray[np.bool_]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    category_set: NDArray[np.int32]
    members: list[NDArray[np.int64]]
    passes_left: NDArray[np.bool_]
    top: NDArray[np.float64]
    counts: NDArray[np.float64]
    weight: NDArray[np.float64]
    sums: NDArray[np.float64]


def collect(nodes: Iterable[Any], features: Features, n_labels: int) -> Columns:
    """Read all nodes; raise if a Forest cannot express one of their tests.

    Parameters
    ----------
    nodes : protocol buffers
    features : columns of the model
    n_labels : 0 for regression
    """
    tests: list[Test] = []
    top: list[float] = []
    weight: list[float] = []
    counts: list[list[float]] = []
    sums: list[tuple[float, float]] = []
    for node in nodes:
        tests.append(_read_test(node.condition, features) if node.HasField("condition") else _LEAF)
        if n_labels:
            own = node.classifier.distribution
            counts.append(list(own.counts) or [0.0] * (n_labels + 1))
            top.append(node.classifier.top_value if node.HasField("classifier") else np.nan)
            weight.append(own.sum)
        else:
            answer = node.regressor
            targets = answer.distribution
            # The number of rows is kept even where distributions are not.
            weight.append(
                targets.count or answer.sum_weights or node.num_pos_training_examples_without_weight
            )
            sums.append((targets.sum, targets.sum_squares) if targets.count else (np.nan, np.nan))
            top.append(answer.top_value if node.HasField("regressor") else np.nan)
    sizes = {len(each) for each in counts}
    check_model(sizes <= {n_labels + 1}, f"its nodes count rows of {sizes} labels instead of {n_labels + 1}")
    members = [test.members for test in tests if test.members is not None]
    has_set = np.array([test.members is not None for test in tests], dtype=np.bool_)
    return Columns(
        np.array([test.feature >= 0 for test in tests], dtype=np.bool_),
        np.array([test.feature for test in tests], dtype=np.int32),
        np.array([test.threshold for test in tests], dtype=np.float64),
        np.array([test.missing_left for test in tests], dtype=np.bool_),
        np.where(has_set, np.cumsum(has_set) - 1, -1).astype(np.int32),
        members,
        has_set,
        np.array(top, dtype=np.float64),
        np.array(counts, dtype=np.float64).reshape(len(tests), -1),
        np.array(weight, dtype=np.float64),
        np.array(sums, dtype=np.float64).reshape(-1, 2),
    )


def _read_test(condition: Any, features: Features) -> Test:
    """Translate the test of a split; `x >= threshold` goes right, categories of a set go left."""
    set_fields = condition.condition.ListFields()
    check_model(len(set_fields) == 1, "a split has no test")
    kind, test = set_fields[0][0].name, set_fields[0][1]
    if kind == "oblique_condition":
        _refuse(kind, [features.number.get(k) for k in test.attributes], features)
    number = features.number.get(condition.attribute, -1)
    check_model(number >= 0, f"a split tests the column {condition.attribute}, which is no feature")
    missing_passes = bool(condition.na_value)
    if kind == "higher_condition":
        return Test(number, _below(test.threshold), None, not missing_passes)
    if kind == "discretized_higher_condition":
        boundaries = features.boundaries[number]
        check_model(
            boundaries is not None and 1 <= test.threshold <= boundaries.size,
            f"a split of {features.names[number]!r} tests boundary {test.threshold}, which does not exist",
        )
        assert boundaries is not None
        return Test(number, _below(float(boundaries[test.threshold - 1])), None, not missing_passes)
    if kind == "true_value_condition":
        return Test(number, 0.5, None, not missing_passes)
    if kind == "na_condition":
        return Test(number, _LARGEST, None, False)
    if kind in ("contains_condition", "contains_bitmap_condition"):
        return Test(number, np.nan, _members(kind, test, number, features), missing_passes)
    _refuse(kind, [number], features)
    raise AssertionError


def _below(threshold: float) -> float:
    """Largest number in single precision below a threshold."""
    with np.errstate(over="ignore"):  # nothing is below the smallest number: minus infinity
        return float(np.nextafter(np.float32(threshold), np.float32(-np.inf)))


def _members(kind: str, test: Any, number: int, features: Features) -> NDArray[np.int64]:
    """Numbers of the categories that pass a test."""
    if kind == "contains_condition":
        members = np.array(test.elements, dtype=np.int64)
    else:
        bits = np.unpackbits(np.frombuffer(test.elements_bitmap, dtype=np.uint8), bitorder="little")
        members = np.flatnonzero(bits)
    known = features.categories[number]
    check_model(
        known is not None and bool(np.all((members >= 0) & (members < len(known)))),
        f"a split of {features.names[number]!r} tests categories that do not exist",
    )
    return members


def _refuse(kind: str, numbers: list[int | None], features: Features) -> None:
    names = ", ".join(repr(features.names[k]) for k in numbers if k is not None)
    if kind == "oblique_condition":
        raise UnsupportedModelError(
            f"this Yggdrasil model has oblique splits, which test a sum of several features ({names}), but "
            'splits of a Forest test one feature each; train with split_axis="AXIS_ALIGNED".'
        )
    raise UnsupportedModelError(
        f"this Yggdrasil model tests {names} by a {kind}, which the splits of a Forest cannot do."
    )
