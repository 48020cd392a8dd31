"""`primal-dual`: the paper's Algorithm 1, which prunes each tree separately and shares prices."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from numbers import Integral
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from tqdm import tqdm

from budgetprune.errors import InvalidInputError
from budgetprune.problem import Certificate, Pruning, PruningProblem
from budgetprune.solvers import primal_dual_kernels as kernels
from budgetprune.solvers.incidences import first_rows
from budgetprune.utils.threads import in_threads

Part = TypeVar("Part")

# Increase of a use's potential in one iteration if its split is kept with probability 1, before any stall.
STEP = 3.0
# Least weight of the newest usage in the average over iterations.
NEWEST = 0.1
# Iterations without a better bound that count as a stall. Then steps get shorter, and the minima less soft.
PATIENCE = 3
# With fewer incidences, starting threads takes longer than it saves.
FEWEST_OF_THREADS = 200_000
# Trees are divided into this many parts.
PARTS = 16


@dataclass(frozen=True, eq=False)
class PrimalDualReport:
    """Report of the primal-dual solver.

    Attributes
    ----------
    iterations : int
    converged : bool
        Whether the requested gap was reached.
    gap : float
        The gap at the end.
    objective, bound : float64 arrays of shape (iterations,)
        The best ones so far, after each iteration.
    """

    iterations: int
    converged: bool
    gap: float
    objective: NDArray[np.float64] = field(repr=False)
    bound: NDArray[np.float64] = field(repr=False)


def solve(
    problem: PruningProblem,
    lam: float,
    *,
    gap: float = 0.01,
    max_iterations: int = 500,
    verbose: bool = False,
) -> Pruning:
    """Find a pruning with a small certified gap, by iterations that decompose by tree.

    The trees that use a source for a row share its price: beta is the share of each tree. Given beta, each
    tree is pruned on its own, and the sum of their errors and payments is a lower bound of the objective of
    every pruning. In the next iteration, trees pay more for the sources that they use more than other trees
    do.

    Parameters
    ----------
    problem : PruningProblem
    lam : float
    gap : float
        Stop when objective and bound differ by at most this, relative to the objective of the forest that is
        pruned to its roots (`PruningProblem.scale`).
    max_iterations : int
        Stop after this many, with a `ConvergenceWarning`.
    verbose : bool
        Show a progress bar.

    Returns
    -------
    pruning : Pruning
        With the beta of the best bound as its `dual`, and a `PrimalDualReport` as its `report`.

    Notes
    -----
    This is Algorithm 1 of the paper. Its open choices are made so that tens of iterations suffice:

    - *w.* Trees that pay more or less than the price of a pair (a source and a row) never give a better
      bound than trees that pay just the price. Then mu is 0, and any w in [0, 1] is a minimiser: we take the
      mean of the w^(t), with which step 3 leaves the sum of the shares as it is.
    - *Step 3* is taken in logarithms (mirror ascent, with entropy in the place of squared distance). Each
      use has a potential, the sum of its w^(t) so far times the step length, and shares are in proportion to
      exp(potential), which replaces [.]_+. As w^(t) is the same for all rows of a use, beta has one parameter
      per use, and is not stored at all. All trees start with even shares.
    - *Step length.* Logarithms of shares have no units, so a constant suffices; it is reduced after stalls
    such that
      the sum of all steps has no limit.
    - *w^(t).* A tree's best pruning jumps with beta, and the bound has kinks. The direction is therefore
      that of a smooth bound: minima are soft, at a temperature in proportion to the gap and to what the
      subtree can gain, and usage is averaged over the iterations. The bound itself is always the exact one.
    - *Pruning.* The trees' own prunings need different sources, and together acquire too much. In the
      average, a split's usage is a number in [0, 1], at most its parent's, so that the splits above any level
      are a pruning. The objective of (IP) at the average is the mean of theirs over all levels: the best
      level is at least as good. (If trees share nothing, their own prunings are the optimum at once.)
    """
    _check_options(gap, max_iterations)
    search = _Search(problem, lam)
    objective, bound = [], []
    with tqdm(total=max_iterations, disable=not verbose, desc="primal-dual", unit="iteration") as progress:
        while True:
            search.share_prices()
            search.prune_trees()
            objective.append(search.objective)
            bound.append(search.bound)
            progress.update()
            progress.set_postfix(gap=f"{search.gap:.2%}", refresh=False)
            if search.gap <= gap or len(bound) == max_iterations:
                break
            search.update_potentials()
    report = PrimalDualReport(len(bound), search.gap <= gap, search.gap, np.array(objective), np.array(bound))
    if not report.converged:
        warnings.warn(
            f"primal-dual stopped after {max_iterations} iterations at a gap of {search.gap:.2%}, "
            f"not {gap:.2%}; raise max_iterations or gap, or use solver='parametric', which is exact.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return problem.pruning(search.keep, lam, search.dual, report)


class _Search:
    """State of the iterations: payments and usage of the trees, best bound and pruning so far."""

    def __init__(self, problem: PruningProblem, lam: float) -> None:
        n_nodes = problem.forest.n_nodes
        self.keep = np.zeros(n_nodes, dtype=np.bool_)
        self.bound, self.objective = -np.inf, problem.objective(self.keep, lam)
        self._problem, self._lam, self._scale, self._at_roots = problem, lam, problem.scale, self.objective
        self._computation = lam * problem.computation
        self._trees = np.unique(np.linspace(0, problem.forest.n_trees, PARTS + 1).astype(int)).tolist()
        free = np.zeros(n_nodes)
        self._at_stake = problem.error - self._prune_trees(free, temperature=free)[0]
        self._uses, self._use, self._sources = _list_uses(problem, lam, self._at_stake)
        self._node = problem.use_node[self._use]
        self._potential = self._best_potential = np.zeros(self._use.size)
        self._usage = np.zeros(n_nodes)
        self._age = self._waiting = self._stalls = 0

    @property
    def gap(self) -> float:
        return Certificate.of(self.objective, self.bound, self._scale).gap

    @property
    def dual(self) -> NDArray[np.float64]:
        """The beta of the best bound."""
        beta = np.zeros(self._problem.n_incidences)
        first = self._problem.use_start[self._use]
        weight = _weights(self._best_potential)
        self._for_each(lambda s: kernels.write_shares(s, self._uses, weight, first, beta), self._sources)
        return beta

    def share_prices(self) -> None:
        """Share the prices, and evaluate the prunings given by thresholds on the last usage."""
        level = np.ceil(kernels.N_LEVELS * self._usage).astype(np.int16)
        weight, level_of_use = _weights(self._potential), level[self._node]
        self._paid = paid = np.empty(weight.size)
        cost_by_level = np.zeros((self._problem.n_sources, kernels.N_LEVELS + 1))
        self._for_each(
            lambda s: kernels.share_prices(s, self._uses, weight, level_of_use, paid, cost_by_level),
            self._sources,
        )
        saved = self._problem.gain - self._computation
        loss = cost_by_level.sum(axis=0) - np.bincount(level, saved, minlength=kernels.N_LEVELS + 1)
        from_top = np.cumsum(loss[:0:-1])  # losses of the highest level, the highest two, and so on
        best = int(np.argmin(from_top))
        self._keep_better(level >= kernels.N_LEVELS - best, self._at_roots + float(from_top[best]))

    def prune_trees(self) -> None:
        """Prune every tree on its own, given its payments (step 2 of Algorithm 1): a bound, and new usage."""
        charge = self._computation + np.bincount(self._node, self._paid, minlength=self._usage.size)
        temperature = min(self.gap, 1.0) / (1 + self._stalls) * self._at_stake
        value, keep, probability = self._prune_trees(charge, temperature)
        bound = float(value[self._problem.forest.tree_start[:-1]].sum())
        self._waiting += 1
        if bound > self.bound:
            self.bound, self._best_potential, self._waiting = bound, self._potential, 0
        if self._age == 0:  # optimal already if the trees share no source
            self._keep_better(keep, self._problem.objective(keep, self._lam))
        self._age += 1
        # Along each path both terms never increase, and neither does their rounded sum. So the splits whose
        # usage exceeds a level are a pruning.
        newest = max(NEWEST, 2 / (self._age + 1))
        self._usage = (1 - newest) * self._usage + newest * probability

    def update_potentials(self) -> None:
        """Increase the payments of trees that use a pair more than the other trees do (step 3)."""
        if self._waiting == PATIENCE:
            self._waiting, self._stalls = 0, self._stalls + 1
        self._potential = self._potential + STEP / (1 + self._stalls) * self._usage[self._node]

    def _keep_better(self, keep: NDArray[np.bool_], objective: float) -> None:
        if objective < self.objective:
            self.keep, self.objective = keep, objective

    def _prune_trees(
        self, charge: NDArray[np.float64], temperature: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
        forest, error = self._problem.forest, self._problem.error
        value, probability = np.empty((2, forest.n_nodes))
        keep = np.empty(forest.n_nodes, np.bool_)

        def prune(trees: tuple[int, int]) -> None:
            kernels.prune_trees(
                forest.tree_start,
                *trees,
                forest.parent,
                forest.right,
                error,
                charge,
                temperature,
                value,
                keep,
                probability,
            )

        self._for_each(prune, list(pairwise(self._trees)))
        return value, keep, probability

    def _for_each(self, work: Callable[[Part], None], parts: Sequence[Part]) -> None:
        if self._problem.n_incidences >= FEWEST_OF_THREADS:
            in_threads(work, parts)
        else:
            for part in parts:
                work(part)


def _weights(potential: NDArray[np.float64]) -> NDArray[np.float64]:
    """exp(potential), up to a common factor, and never so small that a sum of weights could vanish."""
    weight: NDArray[np.float64] = np.exp(np.maximum(potential - potential.max(initial=0.0), -600.0))
    return weight


def _list_uses(
    problem: PruningProblem, lam: float, at_stake: NDArray[np.float64]
) -> tuple[kernels.Uses, NDArray[np.int64], list[int]]:
    """List the uses source by source, without those of splits that are pruned even if free.

    Returns
    -------
    uses : kernels.Uses
    use : the number of each of these uses in the problem
    sources : all sources, those with most incidences first
    """
    n_sources = problem.n_sources
    use = np.flatnonzero(at_stake[problem.use_node] > 0)
    use = use[np.argsort(problem.use_source[use], kind="stable")]
    source, size = problem.use_source[use], np.diff(problem.use_start)[use]
    start = first_rows(problem)[use]
    uses = kernels.Uses(
        np.searchsorted(source, np.arange(n_sources + 1)),
        start,
        start + size,
        problem.order.ravel().view(np.uint32),
        lam * problem.costs.price,
        problem.row_weight,
    )
    busiest = np.argsort(-np.bincount(source, size, minlength=n_sources), kind="stable")
    return uses, use, busiest.tolist()


def _check_options(gap: float, max_iterations: int) -> None:
    if not gap >= 0:
        raise InvalidInputError(f"gap must be a number of at least 0, not {gap!r}.")
    if not isinstance(max_iterations, Integral) or max_iterations < 1:
        raise InvalidInputError(f"max_iterations must be an integer of at least 1, not {max_iterations!r}.")
