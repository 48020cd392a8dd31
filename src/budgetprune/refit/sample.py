"""Labelled rows, routed once for all prunings of the same forest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.problem import Labels, Pruning, check_for_loss
from budgetprune.refit.kernels import last_node_left
from budgetprune.refit.leaves import Leaves


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows for a refit: label, weight and leaf in each tree.

    Attributes
    ----------
    forest : Forest
        Unpruned.
    stop : int32 array of shape (n_trees, n_rows)
        The leaf where each row stops in each unpruned tree.
    target : array of shape (n_rows,)
        Class index of each row, or its target.
    weight : float64 array of shape (n_rows,)
        Sample weight times class weight.
    """

    forest: Forest
    stop: NDArray[np.int32]
    target: NDArray[Any]
    weight: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        forest: Forest,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        class_weight: NDArray[np.float64] | None = None,
    ) -> Sample:
        """Validate labels and weights, and route the rows through the trees.

        Weights of classes are in addition to those of the model.
        """
        stop = np.ascontiguousarray(forest.apply(X).T)
        labels = Labels(y, sample_weight, "y", "sample_weight", class_weight)
        target, weight = labels.check(forest, stop.shape[1])
        check_for_loss(forest.loss, target, weight, "y")
        return cls(forest, stop, target, weight)

    @property
    def n_rows(self) -> int:
        return int(self.target.size)

    def take(self, rows: NDArray[np.integer]) -> Sample:
        """Select rows."""
        return replace(
            self,
            stop=np.ascontiguousarray(self.stop[:, rows]),
            target=self.target[rows],
            weight=self.weight[rows],
        )

    def __add__(self, other: Sample) -> Sample:
        """Concatenate two samples of the same forest."""
        self._check_same_trees(other.forest)
        return replace(
            self,
            stop=np.hstack([self.stop, other.stop]),
            target=np.concatenate([self.target, other.target]),
            weight=np.concatenate([self.weight, other.weight]),
        )

    def leaves(self, pruning: Pruning, forest: Forest | None = None) -> Leaves:
        """Leaves of the rows in a pruning of the forest, or in `forest`, a copy of it with other values."""
        self._check_same_trees(pruning.unpruned)
        stays, last = last_node_left(pruning.keep, self.forest.parent)
        number = np.cumsum(stays, dtype=np.int32) - np.int32(1)
        return Leaves.of(pruning.forest if forest is None else forest, number[last][self.stop])

    def _check_same_trees(self, forest: Forest) -> None:
        if forest is not self.forest and not np.array_equal(forest.right, self.forest.right):
            raise InvalidInputError(
                f"these rows were routed through the trees of {self.forest}, not of {forest}; "
                "make a Sample of the forest that is pruned."
            )
