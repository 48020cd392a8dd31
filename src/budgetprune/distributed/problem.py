"""`DistributedProblem`: a pruning problem whose rows are divided among workers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from budgetprune.costs import FeatureCosts
from budgetprune.distributed.columns import Columns
from budgetprune.distributed.engine import Engine
from budgetprune.distributed.engines import as_engine
from budgetprune.distributed.errors import check_errors, errors_of_tally, recorded_errors
from budgetprune.distributed.points import path_of_points
from budgetprune.distributed.run import Limits, Run, histories
from budgetprune.distributed.shard import ShardPlan, Usage, block_size
from budgetprune.distributed.sharded_rows import ShardedRows
from budgetprune.distributed.start import SampleStart, choose_sample
from budgetprune.distributed.tables import as_source
from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.path import PruningPath, first_within
from budgetprune.problem import (
    Certificate,
    Pruning,
    TreeErrors,
    check_computation_weight,
    first_use_splits,
)
from budgetprune.solvers import (
    STEPS_PER_DOUBLING,
    Iterate,
    PrimalDualReport,
    Search,
    Target,
    check_options,
    relevant_uses,
    warn_of_gap,
)
from budgetprune.utils.arrays import frozen
from budgetprune.utils.files import File
from budgetprune.utils.numbers import all_at_least_zero, at_least_zero

# Rows of the sample that iterations start from.
SAMPLE_ROWS = 20_000
# Nested prunings whose costs are counted in one pass.
MOST_LEVELS = 255
# Of a weight that is given for a certificate.
LARGEST_LOGARITHM = 1e5


class DistributedProblem(TreeErrors):
    """Pruning problem like `budgetprune.PruningProblem`, with rows that no single machine has to hold.

    The rows are divided among workers. Only sums over rows leave a worker: 8 bytes for each split in each
    iteration, however many rows there are. All sums are exact integers, so the results are the same, bit for
    bit, for any number of workers and in any engine, and also if workers are lost and replaced.

    Use it in a ``with`` statement, or call `close`, so that the workers end.

    Parameters
    ----------
    forest : Forest
    rows : path, pattern, folder or list of Parquet files; Ray Dataset; or a table in memory
        Rows whose costs are counted. Columns of features have the names of `forest.feature_names`; without
        them, all columns other than `target` and `weight` are features, in their order.
    costs : FeatureCosts, or anything that `FeatureCosts.of` takes
        None means 1 per feature.
    error : {"in-bag", "held-out"}
        Errors of nodes that the model recorded in training, or those of all rows (classifiers with averaged
        trees only; needs `target`).
    loss : {"misclassification", "brier", "squared"}, or the name of a registered node loss, optional
    target, weight : str, optional
        Columns of labels and of sample weights.
    computation_weight : float
        Price of one more split on an example's path, in units of cost; summed over trees.
    engine : {"local", "ray"} or Engine
        Workers in this process, or actors of a Ray cluster; see `RayEngine` for its options.
    workers : int, optional
        Number of workers. By default 1, or for Ray the number of processors of the cluster.
    sample : int
        Number of rows that are solved first, as a start for all rows; 0: none.
    seed : int
        Chooses these rows.

    Attributes
    ----------
    forest, costs, lost, counted, denominator, error, gain, lost_gain, computation, use_node, use_source :
        As in `budgetprune.PruningProblem`.
    engine : Engine
    """

    def __init__(
        self,
        forest: Forest,
        rows: Any,
        *,
        costs: Any = None,
        error: str = "in-bag",
        loss: str | None = None,
        target: str | None = None,
        weight: str | None = None,
        computation_weight: float = 0.0,
        engine: str | Engine = "local",
        workers: int | None = None,
        sample: int = SAMPLE_ROWS,
        seed: int = 0,
    ) -> None:
        check_errors(forest, error, loss, target)
        computation_weight = check_computation_weight(computation_weight)
        self.forest = forest
        self.costs = FeatureCosts.of(costs).resolve(forest.n_features, forest.feature_names)
        self.use_node, self.use_source = first_use_splits(forest, self.costs)
        source = as_source(rows)
        plan = ShardPlan(
            forest=replace(forest, origin=None),
            costs=self.costs,
            rows=source,
            columns=Columns.find(source, forest, target, weight),
            block_rows=block_size(self.n_uses, forest.n_trees),
            has_errors=error == "held-out",
            has_computation=computation_weight > 0,
            sample=choose_sample(source.n_rows, sample, seed),
        )
        self.engine = as_engine(engine, workers)
        try:
            self._rows = ShardedRows(self.engine, plan)
            tally, reached = self._rows.load()
            if tally is None:
                self._set_errors(recorded_errors(forest, loss))
            else:
                self._set_errors(errors_of_tally(forest, loss, tally, self._rows.class_counts))
            self.computation = self._computation(computation_weight, reached)
            self._by_source = np.argsort(self.use_source, kind="stable")
            self._relevant = relevant_uses(self)
            self._is_relevant = np.zeros(self.n_uses, dtype=np.bool_)
            self._is_relevant[self._relevant] = True
            self._rows.select(self._is_relevant[self._by_source])
        except BaseException:
            self.engine.close()
            raise
        self._start: SampleStart | None = None
        self._fingerprint = fingerprint(self, self._rows)

    def _computation(self, weight: float, reached: NDArray[np.float64] | None) -> NDArray[np.float64]:
        if reached is None:
            return frozen(np.zeros(self.forest.n_nodes))
        share = reached / reached[0]  # all rows reach the first root
        return frozen(np.where(self.forest.is_split, weight * share, 0.0))

    def __enter__(self) -> DistributedProblem:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the workers."""
        self.engine.close()

    def __repr__(self) -> str:
        return (
            f"DistributedProblem({self.forest!r}, {self.n_examples} examples, {self.n_sources} sources, "
            f"{self.engine!r})"
        )

    @property
    def n_examples(self) -> int:
        return self._rows.plan.rows.n_rows

    def usage(self) -> list[Usage]:
        """Number of rows, first uses, memory and processor time of each worker."""
        return self._rows.usage()

    # --- Evaluating prunings --------------------------------------------------------------------------------

    def cost_of(self, keep: ArrayLike) -> float:
        """Average cost of an example's sources (full cost).

        Splits that are worse than a leaf even if all sources are free take no part in the iterations. The
        rows are read again if one of them is kept, unless all are.
        """
        mask = self.check_keep(keep)
        if np.array_equal(mask, self.unpruned):
            return float(self._cost(self._rows.acquired))
        used = mask[self.use_node]
        if np.any(used & ~self._is_relevant):
            return float(self._cost(self._rows.count_again(used[self._by_source])))
        counts = self._rows.count(mask[self.use_node[self._relevant]].astype(np.uint8))
        return float(self._cost(counts[:, 1:].sum(axis=1)))

    def _costs_along(
        self, critical_lambda: NDArray[np.float64], lams: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        until = np.searchsorted(lams, critical_lambda)
        cost = np.empty(lams.size)
        for first in range(0, lams.size, MOST_LEVELS):
            n_levels = min(MOST_LEVELS, lams.size - first)
            level = np.clip(until - first, 0, n_levels).astype(np.uint8)
            if np.any((level[self.use_node] > 0) & ~self._is_relevant):
                keeps = (critical_lambda > lam for lam in lams[first : first + n_levels])
                cost[first : first + n_levels] = [self.cost_of(keep) for keep in keeps]
                continue
            counts = np.zeros((self.n_sources, n_levels + 1), dtype=np.int64)
            found = self._rows.count(level[self.use_node[self._relevant]])
            counts[:, : found.shape[1]] = found
            cost[first : first + n_levels] = self._cost(np.cumsum(counts[:, :0:-1], axis=1)[:, ::-1])
        return cost

    def _cost(self, acquired: NDArray[np.int64]) -> Any:
        """Average cost, from the weight of the rows that acquire each source."""
        return self.costs.price @ (acquired / self._rows.n_units)

    def certify(self, pruning: Pruning, dual: ArrayLike | None = None) -> Certificate:
        """Certify a pruning on all rows, independently of the iterations that found it.

        The objective is recomputed from the pruning alone, and the bound from the dual alone; payments that
        exceed the price of a pair are found row by row, and subtracted.

        Parameters
        ----------
        pruning : Pruning
        dual : float64 array of shape (n_uses,), optional
            Logarithms (to base 2) of the weights by which the uses of a pair share its price; by default the
            pruning's own.
        """
        given = pruning.dual if dual is None else dual
        if given is None:
            raise InvalidInputError("this pruning has no dual to compute a bound from; pass dual.")
        logarithm = np.asarray(given, dtype=np.float64)
        if logarithm.shape != (self.n_uses,) or np.isnan(logarithm).any():
            raise InvalidInputError(f"dual must have one number for each of the {self.n_uses} first uses.")
        relevant = np.clip(logarithm[self._relevant], -LARGEST_LOGARITHM, LARGEST_LOGARITHM)
        paid, overpaid = self._rows.audit(np.rint(STEPS_PER_DOUBLING * relevant).astype(np.int32))
        search = self._search([])
        excess = pruning.lam * float(self._cost(overpaid))
        return Certificate.of(
            objective=self.objective(pruning.keep, pruning.lam),
            bound=search.bound(pruning.lam, search.payments(paid)) - excess,
            scale=self.scale,
        )

    # --- Solving --------------------------------------------------------------------------------------------

    def solve(
        self,
        lam: float,
        *,
        gap: float = 0.01,
        max_iterations: int = 500,
        checkpoint: File | None = None,
        verbose: bool = False,
    ) -> Pruning:
        """Find a pruning for one `lam`, with a small gap that is proved on all rows.

        Parameters
        ----------
        lam : float
            Price of a unit of cost, in units of error.
        gap : float
            Stop when objective and bound differ by at most this, relative to `scale`.
        max_iterations : int
            Stop after this many, with a `ConvergenceWarning`.
        checkpoint : path, optional
            File in which the state of the iterations is kept. If it exists, they go on from there; it is
            removed when they are complete.
        verbose : bool
            Show a progress bar.

        Returns
        -------
        pruning : Pruning
            Its `dual` can be used by `certify`; its `report` is a
            `budgetprune.solvers.PrimalDualReport`.
        """
        lam = at_least_zero(lam, "lam")
        run = self._run(self._search([lam]), Limits(gap, max_iterations), checkpoint, verbose)
        target, (objective, bound) = run.search.targets[0], histories(run)[0]
        report = PrimalDualReport(len(bound), target.gap <= gap, target.gap, objective, bound)
        if not report.converged:
            warn_of_gap(target.gap, gap, max_iterations)
        return self.pruning(target.keep, lam, self._dual(target), report)

    def path(
        self,
        *,
        budgets: ArrayLike | None = None,
        n_points: int | None = None,
        lams: ArrayLike | None = None,
        gap: float = 0.01,
        max_iterations: int = 100,
        checkpoint: File | None = None,
        verbose: bool = False,
    ) -> PruningPath:
        """Find prunings for some budgets or lambdas, each with a small gap that is proved on all rows.

        The exact path of the sample gives prunings for the budgets. Their costs are counted on all rows, and
        the most expensive one within each budget is chosen. Iterations on all rows then prove its gap, or
        find a better pruning.

        Parameters
        ----------
        budgets : array-like, optional
            Average costs.
        n_points : int, optional
            The same for this many budgets, evenly spaced up to the cost of the whole forest.
        lams : array-like, optional
            Points for these lambdas. Exactly one of the three must be given.
        gap, max_iterations, checkpoint, verbose
            As in `solve`, for each point.

        Returns
        -------
        path : PruningPath
            With the bound and the gap of each point.
        """
        if sum(option is not None for option in (budgets, n_points, lams)) != 1:
            raise InvalidInputError("give one of budgets, n_points and lams.")
        check_options(gap, max_iterations)
        if lams is not None:
            search = self._search(np.unique(all_at_least_zero(lams, "lam")).tolist())
        else:
            if n_points is not None:
                if not isinstance(n_points, Integral) or n_points < 1:
                    raise InvalidInputError(f"n_points must be an integer of at least 1, not {n_points!r}.")
                budgets = np.arange(1, n_points + 1) * self.cost_of(self.unpruned) / n_points
            search = self._search_budgets(all_at_least_zero(budgets if budgets is not None else [], "budget"))
        if not search.targets:
            raise InvalidInputError("budgets or lams is empty; name at least one.")
        run = self._run(search, Limits(gap, max_iterations), checkpoint, verbose)
        worst = max(target.gap for target in run.search.targets)
        if worst > gap:
            warn_of_gap(worst, gap, max_iterations)
        return path_of_points(self, run.search.targets)

    def _search(self, lams: Sequence[float]) -> Search:
        return Search(self, self._relevant, self._rows, lams)

    def _search_budgets(self, budgets: NDArray[np.float64]) -> Search:
        """Begin with the best points of the sample's path whose cost on all rows is within each budget."""
        if self.computation.any():
            raise InvalidInputError("budgets limit cost alone; with a computation_weight, leave them out.")
        start = self._sampled()
        if start is None:
            raise InvalidInputError("budgets need a sample to start from; leave sample=0 out, or pass lams.")
        points = start.path(budgets)
        error, cost, _ = self.trade_off(points.critical_lambda, points.lam)
        chosen: dict[int, float] = {}
        for budget in np.sort(budgets).tolist():
            chosen[min(first_within(cost, budget), len(points) - 1)] = budget
        numbers = sorted(chosen)
        search = self._search(points.lam[numbers].tolist())
        for target, k in zip(search.targets, numbers, strict=True):
            target.most_cost = max(chosen[k], float(cost[k]))
            target.keep = points[k].keep
            target.objective = float(error[k] + points.lam[k] * cost[k])
        return search

    def _sampled(self) -> SampleStart | None:
        if self._start is None and self._rows.plan.sample.size:
            rows, weight = self._rows.sample()
            if weight.any():
                self._start = SampleStart(self, rows, weight, self._relevant)
        return self._start

    def _run(self, search: Search, limits: Limits, checkpoint: File | None, verbose: bool) -> Run:
        check_options(limits.gap, limits.max_iterations)
        options = [(target.lam, target.most_cost) for target in search.targets]
        identity = hashlib.sha256(f"{self._fingerprint} {limits} {options}".encode()).hexdigest()
        run = Run(search, limits, identity, checkpoint)

        def begin(k: int) -> Iterate | None:
            sample = self._sampled()
            return None if sample is None else sample.iterate(search.targets[k].lam, limits.gap)

        run.proceed(begin, verbose)
        return run

    def _dual(self, target: Target) -> NDArray[np.float64]:
        dual = np.full(self.n_uses, -np.inf)
        if target.potential is not None:
            dual[self._relevant] = target.potential / STEPS_PER_DOUBLING
        return dual


def fingerprint(problem: DistributedProblem, rows: ShardedRows) -> str:
    """Hash of everything that the results depend on; of the rows, their number and their exact sums."""
    digest = hashlib.sha256()
    forest = problem.forest
    arrays = (forest.tree_start, forest.right, forest.feature, forest.threshold, problem.error, problem.gain)
    for array in (*arrays, problem.computation, problem.costs.price, problem.costs.needs, rows.acquired):
        digest.update(array.tobytes())
    digest.update(f"{rows.n_units} {rows.plan.rows!r} {rows.plan.sample.tolist()}".encode())
    return digest.hexdigest()
