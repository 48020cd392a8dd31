"""Base class and registry of error estimates.

An error estimate decides which rows the errors of nodes are measured on. `PruningProblem` finds it by name.
`budgetprune.problem.estimates` has those of the package; `register_error_estimate` adds another.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.problem.rows import RoutedRows
from budgetprune.problem.targets import Labels
from budgetprune.utils.registry import Registry

NodeStatistics: TypeAlias = NDArray[np.float64]


class SplitGains(NamedTuple):
    """Loss that each split of a boosted ensemble saves (0 at leaves), and the weight it is measured on."""

    gain: NDArray[np.float64]
    weight: float


@dataclass(frozen=True, eq=False)
class ErrorRows:
    """Rows that node errors can be measured on.

    Attributes
    ----------
    rows : RoutedRows
        The rows of `X_cost`, routed through the trees.
    labels : Labels
        Their labels (`y_cost`) and weights.
    X_train : array-like or None
        The training rows, as they were given.
    train_labels : Labels
        Their labels (`y_train`) and weights.
    """

    rows: RoutedRows
    labels: Labels
    X_train: Any
    train_labels: Labels


class ErrorEstimate(ABC):
    """Rows that the errors of nodes are measured on, and how often each counts.

    Attributes
    ----------
    name : str
        Value of the parameter ``error``.
    needs : tuple of str
        Arguments of `PruningProblem` that must be given: any of "y_cost", "X_train" and "y_train".
    no_weight : str
        Part of an error message: why a tree may have no rows of positive weight to measure its errors on,
        and what to do.
    """

    name: str
    needs: tuple[str, ...] = ()
    no_weight: str = "all rows that its errors are measured on have weight 0"

    @property
    def uses_cost_labels(self) -> bool:
        """Whether errors depend on labels of the rows whose costs are counted (`y_cost`)."""
        return "y_cost" in self.needs

    @property
    def needs_training_rows(self) -> bool:
        """Whether training rows must be given, whatever the model records."""
        return "X_train" in self.needs

    def is_available(self, forest: Forest, n_train: int | None) -> bool:
        """Whether errors of a forest can be measured, given its `n_train` training rows (None: not given).

        ``error="auto"`` asks this before it tries one of the estimates of the package.
        """
        return n_train is not None or not self.needs_training_rows

    @abstractmethod
    def statistics(self, forest: Forest, data: ErrorRows) -> Sequence[NodeStatistics]:
        """Statistics, at each node of averaged trees, of the rows that errors are measured on.

        Returns
        -------
        statistics : sequence of float64 arrays of shape (n_nodes, n_classes) or (n_nodes, 3)
            Weight of each class; for regression weight, mean and scatter of the targets. With several
            arrays, their losses and weights are added.
        """

    def check_boosted(self, forest: Forest, has_train: bool) -> None:
        """Raise InvalidInputError unless `gains` can be measured on this boosted ensemble."""
        raise InvalidInputError(
            f"error={self.name!r} is for averaged trees; use another error estimate for a boosted ensemble."
        )

    def gains(self, forest: Forest, data: ErrorRows) -> Sequence[SplitGains]:
        """Gains of the splits of boosted trees on these rows; several items are added up."""
        raise NotImplementedError


ERROR_ESTIMATES: Registry[ErrorEstimate] = Registry(
    "error estimate",
    ("budgetprune.problem.estimates:BUILT_IN",),
    base=ErrorEstimate,
    reserved=("auto",),
)
register_error_estimate = ERROR_ESTIMATES.register
unregister_error_estimate = ERROR_ESTIMATES.unregister
find_error_estimate = ERROR_ESTIMATES.find
