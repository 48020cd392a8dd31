"""The leaves of a forest as the unknowns of a regression, and the rows that stop at them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import Forest
from budgetprune.refit._sums import scores_of_leaves, sums_in_leaves

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Leaves:
    """Where rows stop, and what they score there.

    Attributes
    ----------
    node : int array of shape (n_leaves,)
        The leaves, in the order of the forest's nodes.
    stop : int32 array of shape (n_trees, n_rows)
        Number of the leaf where each row stops in each tree.
    start : int array of shape (n_trees + 1,)
        Offsets of each tree's leaves.
    score : float64 array of shape (n_rows, n_outputs)
        Scores of the rows with the old values.
    """

    forest: Forest
    node: NDArray[np.intp]
    stop: NDArray[np.int32]
    start: NDArray[np.intp]
    score: Array

    @classmethod
    def of(cls, forest: Forest, stop_node: NDArray[np.int32]) -> Leaves:
        """Number the leaves; `stop_node` says at which node each row stops in each tree."""
        node = np.flatnonzero(~forest.is_split)
        number = np.empty(forest.n_nodes, dtype=np.int32)
        number[node] = np.arange(node.size)
        stop = number[stop_node]
        start = np.searchsorted(node, forest.tree_start)
        score = scores_of_leaves(stop, forest.value[node], forest.tree_output, forest.n_outputs)
        return cls(forest, node, stop, start, (score + forest.base) / forest.divisor)

    @property
    def n_rows(self) -> int:
        return int(self.stop.shape[1])

    @property
    def value(self) -> Array:
        """Old values, of shape (n_leaves, n_values)."""
        return self.forest.value[self.node]

    def scores(self, contribution: Array) -> Array:
        """What contributions of the leaves add up to on each row (Z x)."""
        scores: Array = scores_of_leaves(
            self.stop, contribution, self.forest.tree_output, self.forest.n_outputs
        )
        return scores

    def weights(self, weight: Array) -> Array:
        """Weight of the rows that stop at each leaf, of shape (n_leaves,)."""
        return self.sums(np.repeat(weight[:, np.newaxis], self.forest.n_outputs, axis=1))[:, 0]

    def sums(self, amount: Array) -> Array:
        """What an amount of each row adds up to in each leaf (Z' r)."""
        sums: Array = sums_in_leaves(
            self.stop, amount, self.forest.tree_output, self.node.size, self.forest.value.shape[1]
        )
        return sums
