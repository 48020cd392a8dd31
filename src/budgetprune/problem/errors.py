"""Node errors of averaged trees (e_h of the paper), for any error estimate and any node loss."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.problem.estimate import (
    ERROR_ESTIMATES,
    ErrorEstimate,
    ErrorRows,
    NodeStatistics,
    find_error_estimate,
)
from budgetprune.problem.node_losses import NodeLoss, find_node_loss, node_losses_for


class NodeErrors(NamedTuple):
    """Loss of each node as a leaf, gain of each split, and their normalisation to errors.

    Attributes
    ----------
    lost : float64 array of shape (n_nodes,)
        Weighted loss of the rows at each node, if the node is a leaf. Exact for misclassification if weights
        are integers.
    lost_gain : float64 array of shape (n_nodes,)
        Decrease of the loss by each split: loss of the node minus losses of its children.
    counted : float64 array of shape (n_trees,)
        Total weight of the rows that the losses of each tree are measured on.
    denominator : float64 array of shape (n_trees,)
        Losses are divided by this, so that they add up over trees to the error of the forest.
    """

    lost: NDArray[np.float64]
    lost_gain: NDArray[np.float64]
    counted: NDArray[np.float64]
    denominator: NDArray[np.float64]


def node_errors(forest: Forest, estimate: ErrorEstimate, loss: NodeLoss, data: ErrorRows) -> NodeErrors:
    """Measure the loss of each node of averaged trees as a leaf."""
    statistics = estimate.statistics(forest, data)
    roots = forest.tree_start[:-1]
    lost = np.sum([loss.lost(forest.value, each) for each in statistics], axis=0)
    counted = np.sum([_weight(forest, each[roots]) for each in statistics], axis=0)
    check_finite(lost)
    empty = np.flatnonzero(counted == 0)
    if empty.size:
        raise InvalidInputError(
            f"tree {empty[0]} has no rows of positive weight to measure its errors on "
            f"({empty.size} such tree(s)): {estimate.no_weight}."
        )
    split = np.flatnonzero(forest.is_split)
    saved = np.zeros_like(lost)
    saved[split] = lost[split] - lost[forest.left[split]] - lost[forest.right[split]]
    return NodeErrors(lost, saved, counted, counted * forest.n_trees)


def check_finite(lost: NDArray[np.float64]) -> None:
    """Raise if node losses overflow a float."""
    if not np.isfinite(lost).all():
        raise InvalidInputError(
            "node errors are too large to add up; give targets or weights a smaller scale."
        )


def check_estimate(name: str) -> ErrorEstimate:
    """Return the error estimate called `name`."""
    if name not in ERROR_ESTIMATES:
        raise InvalidInputError(f"error={name!r} is unknown; use one of {_options(ERROR_ESTIMATES.names)}.")
    return find_error_estimate(name)


def check_needs(estimate: ErrorEstimate, given: dict[str, bool]) -> None:
    """Raise unless all arguments that an error estimate needs are given."""
    missing = [name for name in estimate.needs if not given[name]]
    if missing:
        raise InvalidInputError(
            f"{estimate.name} errors need labelled rows to be measured on; pass {' and '.join(missing)}."
        )


def check_loss(forest: Forest, loss: str | None) -> NodeLoss:
    """Return the loss, or the default if it is None; raise unless it fits the forest."""
    if np.any(forest.tree_output >= 0) or forest.link != "identity":
        raise InvalidInputError(
            "the trees of this forest add up to a score, but it does not record the boosting round of each; "
            "set tree_round, and loss or split_gain."
        )
    fitting = node_losses_for(forest.is_classifier)
    if loss is not None and loss not in fitting:
        kind = "a classifier" if forest.is_classifier else "a regressor"
        raise InvalidInputError(f"loss={loss!r} does not fit {kind}; use {_options(fitting)}.")
    return find_node_loss(fitting[0] if loss is None else loss)


def _options(names: tuple[str, ...]) -> str:
    return ", ".join(map(repr, names))


def _weight(forest: Forest, statistics: NodeStatistics) -> NDArray[np.float64]:
    """Total weight of the rows at each node."""
    weight: NDArray[np.float64] = statistics.sum(axis=1) if forest.is_classifier else statistics[:, 0]
    return weight
