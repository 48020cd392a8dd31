"""`PruningCurve`: nested prunings of a forest by a baseline method."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.problem import PruningProblem, check_critical_lambda
from budgetprune.utils.arrays import frozen
from budgetprune.utils.numbers import at_least_zero


def check_is_forest(forest: object) -> None:
    """Raise unless `forest` is a Forest; models of other libraries must be imported first."""
    if not isinstance(forest, Forest):
        raise InvalidInputError(
            f"forest must be a Forest, not {type(forest).__name__}; write Forest.from_model(model)."
        )


@dataclass(frozen=True, eq=False, repr=False)
class PruningCurve:
    """All prunings of a forest by one method, so that one can be chosen on other rows.

    The prunings are nested, and the first one keeps every split, so one number per node describes them.

    Attributes
    ----------
    unpruned : Forest
    parameter : float64 array of shape (n_points,)
        Parameter of the method at each point, increasing from 0: alpha, or the number of steps.
    until : int64 array of shape (n_nodes,)
        Number of leading points that keep the split; 0 at leaves.
    removed : tuple of str
        If points differ by one source each: the source removed at each point but the first.
    """

    unpruned: Forest
    parameter: NDArray[np.float64]
    until: NDArray[np.int64]
    removed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_is_forest(self.unpruned)
        for name, dtype in (("parameter", np.float64), ("until", np.int64)):
            object.__setattr__(self, name, frozen(np.array(getattr(self, name), dtype=dtype)))
        check_critical_lambda(self.unpruned, self.until, "until")
        if not self.parameter.size or self.parameter[0] != 0 or not np.all(np.diff(self.parameter) > 0):
            raise InvalidInputError("parameter must increase from 0: the first point is the unpruned forest.")
        if not np.all(self.until[self.unpruned.is_split] > 0):
            raise InvalidInputError("until must be at least 1 at splits: the first point keeps them all.")

    def __len__(self) -> int:
        return self.parameter.size

    def __repr__(self) -> str:
        return (
            f"PruningCurve({len(self)} points, parameter 0 to {self.parameter[-1]:.4g}: "
            f"{self.n_splits[0]} to {self.n_splits[-1]} splits)"
        )

    @cached_property
    def n_splits(self) -> NDArray[np.int64]:
        """Number of splits at each point."""
        ends = np.sort(self.until[self.unpruned.is_split])
        return frozen(ends.size - np.searchsorted(ends, np.arange(len(self)), side="right"))

    def keep(self, point: int) -> NDArray[np.bool_]:
        """Mask of the splits kept at a point."""
        return np.asarray(self.until > range(len(self))[operator.index(point)])

    def forest(self, point: int) -> Forest:
        """Pruned forest at a point, without the removed nodes."""
        return self.unpruned.prune(self.keep(point))

    def at(self, parameter: float) -> int:
        """Index of the last point whose parameter is not above the given value."""
        amount = at_least_zero(parameter, "parameter")
        return int(np.searchsorted(self.parameter, amount, side="right")) - 1

    def trade_off(self, problem: PruningProblem) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Average error and cost of every point on a problem of the same forest, in one pass."""
        if problem.forest is not self.unpruned:
            raise InvalidInputError("the problem has another forest; create it with the curve's `unpruned`.")
        error, cost, _ = problem.trade_off(self.until, np.arange(len(self)))
        return error, cost
