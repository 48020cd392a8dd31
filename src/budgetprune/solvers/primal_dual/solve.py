"""The primal-dual solver for one lambda of a problem in memory."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from numbers import Integral

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from budgetprune.errors import InvalidInputError
from budgetprune.problem import Pruning, PruningProblem
from budgetprune.solvers.incidences import first_rows
from budgetprune.solvers.primal_dual.block import Block, BlockRows, as_units, units_of_weight
from budgetprune.solvers.primal_dual.potentials import weights
from budgetprune.solvers.primal_dual.row_kernels import write_shares
from budgetprune.solvers.primal_dual.search import Search, Target, relevant_uses
from budgetprune.utils.parts import in_parts


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
    check_options(gap, max_iterations)
    problem.objective(np.zeros_like(problem.unpruned), lam)  # raises if lam is invalid
    relevant = relevant_uses(problem)
    rows = rows_of(problem, relevant)
    search = Search(problem, relevant, rows, [lam])
    target, state = search.targets[0], search.start()
    objective, bound = [], []
    with tqdm(total=max_iterations, disable=not verbose, desc="primal-dual", unit="iteration") as progress:
        while True:
            search.iterate(state, target)
            objective.append(target.objective)
            bound.append(target.bound)
            progress.update()
            progress.set_postfix(gap=f"{target.gap:.2%}", refresh=False)
            if target.gap <= gap or len(bound) == max_iterations:
                break
    report = PrimalDualReport(len(bound), target.gap <= gap, target.gap, np.array(objective), np.array(bound))
    if not report.converged:
        warn_of_gap(target.gap, gap, max_iterations)
    return problem.pruning(target.keep, lam, explicit_dual(problem, relevant, rows, target), report)


def rows_of(problem: PruningProblem, relevant: NDArray[np.int64]) -> BlockRows:
    """Let the iterations read the rows of a problem where they are: as one block."""
    power = units_of_weight(problem.n_examples, float(problem.row_weight.max()))
    block = Block.of(
        problem.order.ravel().view(np.uint32),
        first_rows(problem)[relevant],
        np.diff(problem.use_start)[relevant],
        problem.use_source[relevant],
        problem.n_sources,
        as_units(problem.row_weight, power),
    )
    return BlockRows([block], relevant.size, problem.n_sources)


def explicit_dual(
    problem: PruningProblem, relevant: NDArray[np.int64], rows: BlockRows, target: Target
) -> NDArray[np.float64]:
    """The beta of the best bound: one number for each incidence."""
    beta = np.zeros(problem.n_incidences)
    if target.potential is None:
        return beta
    first, weight, block = problem.use_start[relevant], weights(target.potential, rows.powers), rows.blocks[0]
    unit = target.lam * problem.costs.price / rows.n_units

    def work(s: int) -> None:
        write_shares(s, block.uses, block.rows, weight, unit[s], first, beta)

    in_parts(work, range(problem.n_sources), 2 * block.n_incidences)
    return beta


def warn_of_gap(reached: float, gap: float, max_iterations: int, stacklevel: int = 3) -> None:
    """Warn that iterations ended at a larger gap than requested."""
    from sklearn.exceptions import ConvergenceWarning

    warnings.warn(
        f"primal-dual stopped after {max_iterations} iterations at a gap of {reached:.2%}, "
        f"not {gap:.2%}; raise max_iterations or gap, or use solver='parametric', which is exact.",
        ConvergenceWarning,
        stacklevel=stacklevel,
    )


def check_options(gap: float, max_iterations: int) -> None:
    """Raise unless the options of the iterations make sense."""
    if not gap >= 0:
        raise InvalidInputError(f"gap must be a number of at least 0, not {gap!r}.")
    if not isinstance(max_iterations, Integral) or max_iterations < 1:
        raise InvalidInputError(f"max_iterations must be an integer of at least 1, not {max_iterations!r}.")
