"""Losses of the nodes of averaged trees.

A node loss compares the value of a node with statistics of rows that reach it, see `ErrorEstimate`. Losses of
boosted ensembles, which depend on the sum of all trees, are in `budgetprune.losses`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from budgetprune.problem.estimate import NodeStatistics
from budgetprune.utils.registry import Registry


class NodeLoss(ABC):
    """Additive loss of the rows at a node.

    Attributes
    ----------
    name : str
        Value of the parameter ``loss``.
    for_classifiers : bool
        Whether it is a loss of classifiers or of regressors.
    """

    name: str
    for_classifiers: bool

    @abstractmethod
    def lost(self, value: NDArray[np.float64], statistics: NodeStatistics) -> NDArray[np.float64]:
        """Total loss of the rows at each node, of shape (n_nodes,), if the node predicts its value.

        Parameters
        ----------
        value : float64 array of shape (n_nodes, n_values)
            Values of the nodes: class probabilities, or one target.
        statistics : float64 array of shape (n_nodes, n_classes) or (n_nodes, 3)
            Weight of each class; for regression weight, mean and scatter of the targets.
        """


class Misclassification(NodeLoss):
    """Weight of the rows whose class is not the node's own label."""

    name, for_classifiers = "misclassification", True

    def lost(self, value: NDArray[np.float64], statistics: NodeStatistics) -> NDArray[np.float64]:
        others = statistics.copy()
        np.put_along_axis(others, np.argmax(value, axis=1)[:, np.newaxis], 0.0, axis=1)
        return np.asarray(others.sum(axis=1))


class Brier(NodeLoss):
    """Squared distance of the node's probabilities p from a row of class k: |p|^2 - 2 p_k + 1."""

    name, for_classifiers = "brier", True

    def lost(self, value: NDArray[np.float64], statistics: NodeStatistics) -> NDArray[np.float64]:
        length = np.einsum("hk,hk->h", value, value)
        return np.asarray(np.einsum("hk,hk->h", statistics, (1 + length)[:, np.newaxis] - 2 * value))


class SquaredError(NodeLoss):
    """Squared distance of the node's value from the targets: their scatter, plus that of their mean."""

    name, for_classifiers = "squared", False

    def lost(self, value: NDArray[np.float64], statistics: NodeStatistics) -> NDArray[np.float64]:
        weight, mean, scatter = statistics.T
        return np.asarray(scatter + weight * (mean - value[:, 0]) ** 2)


NODE_LOSSES: Registry[NodeLoss] = Registry("node loss", base=NodeLoss)
register_node_loss = NODE_LOSSES.register
unregister_node_loss = NODE_LOSSES.unregister
find_node_loss = NODE_LOSSES.find


def node_losses_for(is_classifier: bool) -> tuple[str, ...]:
    """Names of the node losses of classifiers, or of regressors; the first is the default."""
    return tuple(loss.name for loss in NODE_LOSSES if loss.for_classifiers == is_classifier)


MISCLASSIFICATION, BRIER, SQUARED_ERROR = Misclassification(), Brier(), SquaredError()
for _loss in (MISCLASSIFICATION, BRIER, SQUARED_ERROR):
    register_node_loss(_loss)
