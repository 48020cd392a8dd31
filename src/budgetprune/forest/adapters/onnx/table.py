"""Trees of an ONNX operator as arrays, independent of the operator's version."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import UnsupportedModelError


class Mode(IntEnum):
    """Comparison of a node; `TreeEnsemble` stores these numbers, the other operators names."""

    LEQ = 0
    LT = 1
    GTE = 2
    GT = 3
    EQ = 4
    NEQ = 5
    MEMBER = 6
    LEAF = 7


class Nodes(NamedTuple):
    """Nodes of all trees, each tree from its root; arrays have one entry per node."""

    tree_start: NDArray[np.int64]
    if_true: NDArray[np.int64]  # number of the child in its tree, -1 at leaves
    if_false: NDArray[np.int64]
    feature: NDArray[np.int64]
    mode: NDArray[np.int64]
    operand: NDArray[np.float64]  # what a split compares with
    missing_if_true: NDArray[np.bool_]

    @property
    def tree(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(self.tree_start.size - 1), np.diff(self.tree_start))


class Members(NamedTuple):
    """Values of the sets that splits test for membership, as pairs."""

    node: NDArray[np.int64]
    value: NDArray[np.float64]


class Votes(NamedTuple):
    """Contributions of leaves to outputs; a leaf may have one for each output, or none."""

    node: NDArray[np.int64]
    output: NDArray[np.int64]
    amount: NDArray[np.float64]


class Ensemble(NamedTuple):
    """A tree operator.

    `labels` is None for operators that return numbers.
    """

    nodes: Nodes
    members: Members
    votes: Votes
    n_outputs: int
    base: NDArray[np.float64]
    is_averaged: bool
    post_transform: str
    labels: NDArray[Any] | None


def check_aggregation(name: str) -> bool:
    """Return whether trees are averaged; raise unless they are averaged or summed."""
    if name not in ("SUM", "AVERAGE"):
        raise UnsupportedModelError(
            f"this ONNX model takes the {name} of its trees (aggregate_function), but a Forest adds trees up "
            "or averages them; use SUM or AVERAGE."
        )
    return name == "AVERAGE"
