"""The leaves of a forest as the unknowns of a regression, and the rows that stop at them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import Forest
from budgetprune.refit.sums import add_scores, add_sums

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Leaves:
    """Leaves of a forest, the leaves that each row reaches, and the rows' scores.

    Attributes
    ----------
    node : int array of shape (n_leaves,)
        The leaves, in the order of the forest's nodes.
    stop : int32 array of shape (n_trees, n_rows)
        Index in `node` of the leaf where each row stops in each tree.
    start : int array of shape (n_trees + 1,)
        Offsets of each tree's leaves.
    value : float64 array of shape (n_leaves, n_values)
        Old values.
    score : float64 array of shape (n_rows, n_outputs)
        Scores of the rows with the old values.
    """

    forest: Forest
    node: NDArray[np.intp]
    stop: NDArray[np.int32]
    start: NDArray[np.intp]
    value: Array
    score: Array

    @classmethod
    def of(cls, forest: Forest, stop_node: NDArray[np.int32]) -> Leaves:
        """Number the leaves; `stop_node` has the leaf node of each row in each tree."""
        node = np.flatnonzero(~forest.is_split)
        number = np.empty(forest.n_nodes, dtype=np.int32)
        number[node] = np.arange(node.size)
        stop = number[stop_node]
        start = np.searchsorted(node, forest.tree_start)
        value = forest.value[node]
        score = np.tile(forest.base, (stop.shape[1], 1))
        add_scores(stop, value, forest.tree_output, score)
        return cls(forest, node, stop, start, value, score / forest.divisor)

    @property
    def n_rows(self) -> int:
        return int(self.stop.shape[1])

    def add_scores(self, contribution: Array, scores: Array) -> None:
        """Add to each row's scores the contributions of the leaves that the row reaches (Z x)."""
        add_scores(self.stop, contribution, self.forest.tree_output, scores)

    def add_sums(self, amount: Array, sums: Array) -> None:
        """Add to each leaf's sums the amounts of the rows that reach the leaf (Z' r)."""
        add_sums(self.stop, amount, self.forest.tree_output, sums)

    def scores(self, contribution: Array) -> Array:
        """Sum the contributions of leaves for each row (Z x); of shape (n_rows, n_outputs)."""
        scores = np.zeros_like(self.score)
        self.add_scores(contribution, scores)
        return scores

    def sums(self, amount: Array) -> Array:
        """Sum the amounts of rows for each leaf (Z' r); of shape (n_leaves, n_values)."""
        sums = np.zeros_like(self.value)
        self.add_sums(amount, sums)
        return sums

    def weights(self, weight: Array) -> Array:
        """Weight of the rows that stop at each leaf, of shape (n_leaves,)."""
        weights = np.zeros((self.node.size, 1))
        one_output = np.zeros_like(self.forest.tree_output)
        add_sums(self.stop, weight[:, np.newaxis], one_output, weights)
        return weights[:, 0]
