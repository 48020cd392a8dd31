"""`PruningPath`: all optimal prunings, stored as one number per node."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest, check_same_forest
from budgetprune.path.budgets import check_budget, first_within, warn_that_budget_buys_nothing
from budgetprune.path.decided import DecidedCosts
from budgetprune.persistence import load_section, save_sections
from budgetprune.problem import Certificate, Pruning, TreeErrors, check_critical_lambda, sum_of_kept
from budgetprune.utils.arrays import frozen
from budgetprune.utils.html_tables import html_table
from budgetprune.utils.numbers import all_at_least_zero, at_least_zero

if TYPE_CHECKING:
    import pandas as pd

ARRAYS: dict[str, Any] = {
    "critical_lambda": np.float64,
    "lam": np.float64,
    "error": np.float64,
    "cost": np.float64,
    "n_splits": np.int64,
    "objective": np.float64,
    "bound": np.float64,
    "gap": np.float64,
}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class PruningPath:
    """Optimal prunings for all values of lambda, and so the best pruning for each budget.

    Optimal prunings are nested: a split that is pruned at one lambda stays pruned at every larger one. So one
    number per node describes the whole path, and the pruning at `lam` keeps the splits with
    ``critical_lambda > lam``.

    A path is a sequence of points, in the order of increasing lambda: the first point is the best pruning if
    costs do not matter, and the last keeps only splits on free features.

    Attributes
    ----------
    forest : Forest
        The unpruned forest.
    critical_lambda : float64 array of shape (n_nodes,)
        A split is kept at every lambda below this. 0: the split is never worth its cost; infinity: it is
        useful and free.
    lam, error, cost : float64 arrays of shape (n_points,)
        Lambda, average error of the trees, and average (full) cost of a row, of each point. `cost` does not
        increase. The error of a boosted ensemble is the loss that pruning adds to that of the unpruned one.
    n_splits : int64 array of shape (n_points,)
        Number of splits that are kept.
    unpruned : Pruning
        The whole forest, for comparison. It is not a point of the path, and its `lam` is NaN: even at lambda
        0, splits without a gain are pruned.
    complete : bool
        Whether every breakpoint is a point. If not, the optimum is known at the points only.
    objective, bound, gap : float64 arrays of shape (n_points,); the latter two None if not certified
        Objective of each point, a lower bound on the objective of all prunings, and their difference relative
        to the objective of the forest that is pruned to its roots (to all gains, for boosted trees).
    source_names : tuple of str
        Sources that the problem has prices for.
    """

    forest: Forest
    critical_lambda: NDArray[np.float64]
    lam: NDArray[np.float64]
    error: NDArray[np.float64]
    cost: NDArray[np.float64]
    n_splits: NDArray[np.int64]
    unpruned: Pruning
    complete: bool
    objective: NDArray[np.float64]
    bound: NDArray[np.float64] | None = None
    gap: NDArray[np.float64] | None = None
    source_names: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        check_critical_lambda(self.forest, self.critical_lambda)
        for name, dtype in ARRAYS.items():
            if getattr(self, name) is None and name in ("bound", "gap"):
                continue
            # The view is read-only; the array of the caller stays writable.
            array = np.ascontiguousarray(getattr(self, name), dtype=dtype).view()
            array.flags.writeable = False
            if name != "critical_lambda" and array.shape != np.shape(self.lam):
                raise InvalidInputError(f"{name} must have one entry for each of {np.size(self.lam)} points.")
            object.__setattr__(self, name, array)
        if not self.lam.size or not np.all(np.diff(self.lam) > 0) or not np.all(np.diff(self.cost) <= 0):
            raise InvalidInputError("a path needs points, with increasing lam and without increasing cost.")

    @classmethod
    def of(
        cls,
        problem: TreeErrors,
        critical_lambda: ArrayLike,
        *,
        complete: bool,
        lams: ArrayLike | None = None,
        bound: ArrayLike | None = None,
    ) -> PruningPath:
        """Create a path from the solution of a solver; compute error and cost of each point.

        Parameters
        ----------
        problem : PruningProblem, or another problem with node errors
        critical_lambda : float64 array of shape (n_nodes,)
        complete : bool
            Whether each entry is the exact lambda up to which its split is worth its cost.
        lams : float64 array, optional
            Lambdas of the points; by default 0 and all breakpoints.
        bound : float64 array with one entry for each point, optional
            Lower bound on the objective of all prunings.
        """
        critical = check_critical_lambda(problem.forest, critical_lambda)
        listed = breakpoints(critical) if lams is None else all_at_least_zero(lams, "lam")
        lam, place = np.unique(listed, return_index=True)
        if complete and not np.array_equal(lam, breakpoints(critical)):
            raise InvalidInputError("a complete path has all breakpoints as its points; leave lams out.")
        error, cost, n_splits = problem.trade_off(critical, lam)
        objective = error + lam * (cost + sum_of_kept(problem.computation, critical, lam))
        gap = None
        if bound is not None:
            bound = np.asarray(bound, dtype=np.float64)[place]
            scale = problem.scale
            pairs = zip(objective.tolist(), bound.tolist(), strict=True)
            gap = np.array([Certificate.of(reached, least, scale).gap for reached, least in pairs])
        whole = problem.unpruned
        return cls(
            forest=problem.forest,
            critical_lambda=critical,
            lam=lam,
            error=error,
            cost=cost,
            n_splits=n_splits,
            unpruned=Pruning(problem.forest, whole, np.nan, problem.error_of(whole), problem.cost_of(whole)),
            complete=complete,
            objective=objective,
            bound=bound,
            gap=gap,
            source_names=problem.costs.source_names,
        )

    # --- A sequence of prunings -----------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.lam.size

    def __getitem__(self, point: int) -> Pruning:
        k = range(len(self))[operator.index(point)]
        return self._pruning(k, float(self.lam[k]))

    def __iter__(self) -> Iterator[Pruning]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        kind = "complete" if self.complete else "on a grid"
        proof = "" if self.gap is None else f", gap <= {self.gap.max():.1e}"
        return (
            f"PruningPath({len(self)} points, {kind}{proof}: {self.n_splits[0]} to {self.n_splits[-1]} of "
            f"{self.unpruned.n_splits} splits, cost {self.cost[0]:.4g} to {self.cost[-1]:.4g}, "
            f"error {self.error[0]:.4g} to {self.error[-1]:.4g})"
        )

    def _repr_html_(self) -> str:
        """Table for notebooks."""
        columns = {"cost": self.cost, "error": self.error, "splits": self.n_splits, "lam": self.lam}
        return html_table(repr(self), columns)

    # --- Choice of a point ----------------------------------------------------------------------------------

    @property
    def cheapest_useful(self) -> int | None:
        """Index of the cheapest point that a budget can buy; None if there is none.

        The last point of a complete path keeps only splits on free features, so it is the next one. Otherwise
        it is the cheapest point that costs anything.
        """
        useful = np.flatnonzero(self.cost > (self.cost[-1] if self.complete else 0.0))
        return int(useful[-1]) if useful.size else None

    def at(self, *, lam: float | None = None, budget: float | None = None) -> Pruning:
        """Return the best pruning for a `lam`, or for a budget.

        Parameters
        ----------
        lam : float
            Price of a unit of cost, in units of error.
        budget : float
            Largest average cost of a row: its full cost, on the rows of the problem. For the cost of
            predictions that stop early, see `decided`.

        Returns
        -------
        pruning : Pruning
            For `lam`, the optimum; of several optima, the smallest. For `budget`, the most expensive point
            within it: no pruning of the same cost has a smaller error. But the points are the lower convex
            hull of the costs and errors of all prunings, not solutions of a knapsack problem: between two
            points, there may be a pruning that uses more of the budget and has a smaller error.
        """
        if (lam is None) == (budget is None):
            raise InvalidInputError("use either at(lam=...) or at(budget=...).")
        return self._at_budget(budget) if lam is None else self._at_lam(lam)

    def _at_lam(self, lam: float) -> Pruning:
        lam = at_least_zero(lam, "lam")
        k = int(np.searchsorted(self.lam, lam, side="right")) - 1  # the last point at or below lam
        if not self.complete and (k < 0 or self.lam[k] < lam):
            self._check_between(k, lam)
        return self._pruning(max(k, 0), lam)

    def _check_between(self, k: int, lam: float) -> None:
        """Raise if several prunings are possible for a lambda between points `k` and `k + 1`."""
        most = self.unpruned.n_splits if k < 0 else self.n_splits[k]
        least = 0 if k + 1 == len(self) else self.n_splits[k + 1]
        if most > least:
            near = [f"{point:.6g}" for point in self.lam[max(k, 0) : k + 2]]
            raise InvalidInputError(
                f"this path was computed for {len(self)} values of lam only, and {lam:.6g} is not among them "
                f"(next to it: {' and '.join(near)}); use problem.solve({lam:.6g}), or problem.path() "
                "without lams, which has the optimum for every lam."
            )

    def _at_budget(self, budget: Any) -> Pruning:
        amount = check_budget(budget)
        if self.cost[-1] > amount:
            raise InvalidInputError(
                f"every point of this path costs more than {amount:.6g}, the cheapest {self.cost[-1]:.6g}; "
                "compute the path for larger lams, or for all: problem.path()."
            )
        k = first_within(self.cost, amount)
        useful = self.cheapest_useful
        if useful is not None and amount < self.cost[useful]:
            warn_that_budget_buys_nothing(amount, float(self.cost[useful]), self[k], stacklevel=4)
        return self[k]

    def decided(
        self,
        X: Any,
        costs: Any = None,
        *,
        slack: float = 0.0,
        threshold: float | None = None,
        tolerance: float | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> DecidedCosts:
        """Compute *decided* costs: average costs of predictions that stop once they are decided.

        ``path.decided(X, costs)[k]`` is the decided cost of point `k`, and
        ``path.decided(X, costs).at(budget=12.0)`` is the most expensive point whose decided cost is at most
        12. For the parameters see `budgetprune.path.decided.DecidedCosts`.
        """
        return DecidedCosts(
            self,
            X,
            costs,
            slack=slack,
            threshold=threshold,
            tolerance=tolerance,
            sample_weight=sample_weight,
        )

    def _pruning(self, k: int, lam: float) -> Pruning:
        keep = frozen(self.critical_lambda > self.lam[k])
        return Pruning(self.forest, keep, lam, float(self.error[k]), float(self.cost[k]))

    # --- Tables and files -----------------------------------------------------------------------------------

    def to_frame(self) -> pd.DataFrame:
        """Return a table with one row per point: lam, splits, cost, error; bound and gap if certified."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install 'budgetprune[pandas]'") from error
        columns: dict[str, Any] = {
            "lam": self.lam,
            "splits": self.n_splits,
            "cost": self.cost,
            "error": self.error,
        }
        if self.bound is not None:
            columns |= {"bound": self.bound, "gap": self.gap}
        return pd.DataFrame(columns)

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the path and its forest to one file, without pickle.

        The format is described in docs/model-format.md. The original model is not stored. The arrays are
        compressed, unless they compress so well (several hundred times, as with thousands of classes) that
        `load` would refuse the file.
        """
        save_sections(file, {"path": self}, compress=True)

    @classmethod
    def load(cls, file: str | os.PathLike[str], forest: Forest | None = None) -> PruningPath:
        """Read a file written by `save`, or the path of a file written by `BudgetModel.save`.

        Untrusted files are safe: only numbers and names are read, and the numbers agree with each other.
        Sizes are checked before anything is unpacked: a file is refused if it unpacks to more than 64 MiB and
        to more than 256 times its length, or if it has more nodes than bytes. The ``.npz`` files of release
        0.1 can be read as well.

        Parameters
        ----------
        file : path of the file
        forest : Forest, optional
            The forest that was pruned. It is needed for exports to its library (`to_sklearn`), and must equal
            the one that was saved. Without it, prunings predict as before, but have no origin.
        """
        path: PruningPath = load_section(file, "path")
        if forest is None:
            return path
        check_same_forest(path.forest, forest)
        unpruned = replace(path.unpruned, unpruned=forest, keep=forest.is_split)
        return replace(path, forest=forest, unpruned=unpruned)


def breakpoints(critical_lambda: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 0 and the lambdas at which the pruning changes: the points of a complete path."""
    finite = critical_lambda[np.isfinite(critical_lambda)]
    return np.unique(np.append(finite, 0.0))
