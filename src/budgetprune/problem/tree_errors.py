"""`TreeErrors`: the part of a problem that needs no rows: forest, prices, and errors of nodes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from budgetprune.costs import CostTable
from budgetprune.forest import Forest, check_keep
from budgetprune.problem.checks import check_critical_lambda
from budgetprune.problem.errors import NodeErrors
from budgetprune.problem.pruning import Pruning
from budgetprune.problem.tradeoff import errors_along
from budgetprune.utils.arrays import frozen
from budgetprune.utils.numbers import all_at_least_zero, at_least_zero


class TreeErrors(ABC):
    """Forest with prices and node errors; base class of problems, wherever their rows are.

    For the attributes see `budgetprune.problem.PruningProblem`.
    """

    forest: Forest
    costs: CostTable
    lost: NDArray[np.float64]
    lost_gain: NDArray[np.float64]
    counted: NDArray[np.float64]
    denominator: NDArray[np.float64]
    error: NDArray[np.float64]
    gain: NDArray[np.float64]
    computation: NDArray[np.float64]
    use_node: NDArray[np.int32]
    use_source: NDArray[np.int32]

    def _set_errors(self, errors: NodeErrors) -> None:
        self.lost, self.lost_gain, self.counted, self.denominator = map(frozen, errors)
        per_node = self.denominator[self.forest.tree_of_node]
        self.error, self.gain = frozen(self.lost / per_node), frozen(self.lost_gain / per_node)

    @property
    def n_sources(self) -> int:
        return self.costs.n_sources

    @property
    def n_uses(self) -> int:
        return len(self.use_node)

    @property
    def scale(self) -> float:
        """Scale of gaps: the error of the forest that is pruned to its roots.

        The error of a boosted ensemble is relative to the unpruned one, and negative if pruned splits are
        harmful. There the scale is the sum of the absolute gains of all splits: the same, if none is harmful.
        """
        if self.forest.is_boosted:
            return float(np.abs(self.gain).sum())
        return self.error_of(np.zeros_like(self.unpruned))

    @property
    def unpruned(self) -> NDArray[np.bool_]:
        """The pruning that keeps every split."""
        return self.forest.is_split

    def check_keep(self, keep: ArrayLike) -> NDArray[np.bool_]:
        """Return `keep` as a mask if it is a pruning, else raise an error with the reason."""
        return check_keep(self.forest, keep)

    def error_of(self, keep: ArrayLike) -> float:
        """Average error of the pruned trees; for boosted ones, the loss that pruning adds."""
        keep = self.check_keep(keep)
        parent = self.forest.parent
        is_leaf = ~keep & ((parent < 0) | keep[parent])
        return float(self.error[is_leaf].sum())

    @abstractmethod
    def cost_of(self, keep: ArrayLike) -> float:
        """Average cost of an example's sources (full cost)."""

    def computation_of(self, keep: ArrayLike) -> float:
        """Average number of splits on an example's paths through all pruned trees, times its weight."""
        return float(self.computation[self.check_keep(keep)].sum())

    def objective(self, keep: ArrayLike, lam: float) -> float:
        """Objective: error plus `lam` times cost and computation."""
        lam = at_least_zero(lam, "lam")
        return self.error_of(keep) + lam * (self.cost_of(keep) + self.computation_of(keep))

    def trade_off(
        self, critical_lambda: ArrayLike, lams: ArrayLike
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
        """Error, cost and number of splits of the prunings ``critical_lambda > lam``, one for each of `lams`.

        Parameters
        ----------
        critical_lambda : float64 array of shape (n_nodes,)
            0 at leaves, at least 0 at splits and nowhere above the parent's: the prunings are nested.
        lams : float64 array, in any order
        """
        critical = check_critical_lambda(self.forest, critical_lambda)
        points, place = np.unique(all_at_least_zero(lams, "lam"), return_inverse=True)
        error, n_splits = errors_along(self, critical, points)
        return error[place], self._costs_along(critical, points)[place], n_splits[place]

    @abstractmethod
    def _costs_along(
        self, critical_lambda: NDArray[np.float64], lams: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Cost of the prunings ``critical_lambda > lam``, for ascending `lams`."""

    def pruning(
        self, keep: ArrayLike, lam: float, dual: NDArray[np.float64] | None = None, report: Any = None
    ) -> Pruning:
        """Create a `Pruning` from a solver's mask, with its error and its cost."""
        mask = frozen(self.check_keep(keep).copy())
        lam = at_least_zero(lam, "lam")
        return Pruning(self.forest, mask, lam, self.error_of(mask), self.cost_of(mask), dual, report)
