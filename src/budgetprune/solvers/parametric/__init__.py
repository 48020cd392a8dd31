"""The exact solver: all optimal prunings from one parametric maximum flow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from tqdm.auto import tqdm

from budgetprune.errors import InvalidInputError
from budgetprune.path import ROUNDING, PruningPath, breakpoints
from budgetprune.problem import Pruning
from budgetprune.solvers.parametric.answer import incidence_flow, node_levels
from budgetprune.solvers.parametric.complete import complete_levels
from budgetprune.solvers.parametric.graph import Closure, build_closure
from budgetprune.solvers.parametric.kernels import Network
from budgetprune.solvers.parametric.levels import Choice, Levels, at_density, find_levels
from budgetprune.solvers.parametric.slice_kernels import resolve_ties
from budgetprune.utils.numbers import all_at_least_zero, at_least_zero

if TYPE_CHECKING:
    from budgetprune.problem import PruningProblem

__all__ = ["path", "solve"]


def solve(problem: PruningProblem, lam: float, *, verbose: bool = False) -> Pruning:
    """Find the best pruning for one `lam`, with a dual solution as its certificate.

    If several are optimal, the smallest one.
    """
    lam = at_least_zero(lam, "lam")
    closure, net, levels = _run(problem, on_grid(np.array([lam])), verbose)
    critical = node_levels(problem, closure, levels.critical)
    return problem.pruning(critical > lam, lam, dual=incidence_flow(problem, closure, net))


def path(
    problem: PruningProblem,
    *,
    lams: ArrayLike | None = None,
    budgets: ArrayLike | None = None,
    resolution: float | None = None,
    certify: bool = False,
    verbose: bool = False,
) -> PruningPath:
    """Find the best prunings for all `lam`, or for some.

    Parameters
    ----------
    lams : array-like, optional
        Only these are solved for.
    budgets : array-like, optional
        Only the points next to these average costs are computed: those that ``path.at(budget=)`` selects from
        the complete path, and the next more expensive ones.
    resolution : float, optional
        Neighbouring points may differ by this much in cost: breakpoints that lie closer together are merged.
        Without any of these three, the path is complete.
    certify : bool
        Compute a lower bound for every point. One flow proves all points of a complete path, so that path is
        computed; `lams`, `budgets` and `resolution` select some of its points.
    verbose : bool
        Show progress.
    """
    if sum(option is not None for option in (lams, budgets, resolution)) > 1:
        raise InvalidInputError("give only one of lams, budgets and resolution.")
    grid = None if lams is None else np.unique(all_at_least_zero(lams, "lam"))
    if grid is not None and not grid.size:
        raise InvalidInputError("lams is empty; name at least one, or leave it out for the complete path.")
    if resolution is not None and at_least_zero(resolution, "resolution") == 0:
        raise InvalidInputError("resolution must be a positive amount of cost; leave it out for all points.")
    wanted = None if budgets is None else all_at_least_zero(budgets, "budget")
    if wanted is not None and problem.computation.any():
        raise InvalidInputError("budgets limit cost alone; with a computation_weight, leave them out.")
    if certify:
        return _certified_path(problem, grid, wanted, resolution, verbose)
    if grid is None and wanted is None and resolution is None:
        closure = build_closure(problem)
        of_block = complete_levels(closure, problem.forest.tree_of_node[closure.top], verbose)
        return PruningPath.of(problem, node_levels(problem, closure, of_block), lams=None, complete=True)
    choose = at_density if grid is None else on_grid(grid)
    if wanted is not None:
        choose = around_budgets(wanted)
    if resolution is not None:
        choose = to_resolution(resolution)
    closure, _, levels = _run(problem, choose, verbose)
    critical = node_levels(problem, closure, levels.critical)
    if resolution is not None or wanted is not None:
        grid = where_changed(critical, np.unique([0.0, *levels.tested]))
    return PruningPath.of(problem, critical, lams=grid, complete=grid is None)


def _certified_path(
    problem: PruningProblem,
    grid: NDArray[np.float64] | None,
    budgets: NDArray[np.float64] | None,
    resolution: float | None,
    verbose: bool,
) -> PruningPath:
    """Compute a complete path, and a bound for each of the selected points."""
    closure, net, levels = _run(problem, at_density, verbose)
    critical = node_levels(problem, closure, levels.critical)
    is_complete = grid is None and budgets is None and resolution is None
    if grid is None:
        grid = breakpoints(critical)
    if resolution is not None:
        _, cost, _ = problem.trade_off(critical, grid)
        grid = grid[thin_points(cost, resolution)]
    if budgets is not None:
        _, cost, _ = problem.trade_off(critical, grid)
        within = np.searchsorted(-cost, -budgets * (1 + ROUNDING))
        grid = grid[np.unique(np.clip(np.append(within, within - 1), 0, grid.size - 1))]
    # The flow fills the pairs of a slice at the slice's own level. Scaled down, it fills them at any lower
    # level, and at any higher level it is feasible, so one flow certifies the whole path.
    level = np.full(problem.forest.n_nodes, np.inf)
    level[closure.top] = np.where(np.isnan(levels.routed), np.inf, levels.routed)
    bound = problem.bounds(incidence_flow(problem, closure, net), level, grid)
    return PruningPath.of(problem, critical, lams=grid, complete=is_complete, bound=bound)


def _run(problem: PruningProblem, choose: Choice, verbose: bool) -> tuple[Closure, Network, Levels]:
    closure = build_closure(problem)
    net = Network(
        closure.parent, closure.gain, closure.arc_start, closure.arc_pair, closure.price * closure.unit
    )
    with tqdm(
        total=len(closure.gain), desc="path", unit="split", leave=None, disable=not verbose
    ) as progress:
        levels = find_levels(net, closure.gain, closure.unit, choose, progress)
    resolve_ties(net.parent, net.up, levels.worthwhile, levels.critical)
    return closure, net, levels


def where_changed(critical: NDArray[np.float64], lams: NDArray[np.float64]) -> NDArray[np.float64]:
    """Keep the first of several increasing lambdas with the same pruning."""
    n_pruned = np.searchsorted(np.sort(critical), lams, side="right")
    return lams[np.unique(n_pruned, return_index=True)[1]]


def thin_points(cost: NDArray[np.float64], resolution: float) -> list[int]:
    """Points of a path such that costs fall by at most `resolution`, unless one breakpoint does."""
    chosen = [0]
    while chosen[-1] + 1 < len(cost):
        in_reach = np.flatnonzero(cost >= cost[chosen[-1]] - resolution)[-1]
        chosen.append(max(int(in_reach), chosen[-1] + 1))
    return chosen


# --- Choice of the next level to test in a slice ------------------------------------------------------------


def on_grid(grid: NDArray[np.float64]) -> Choice:
    """Test the levels of a grid."""

    def choose(gain: float, cost: float, low: float, high: float, spent: float) -> float | None:
        first, last = np.searchsorted(grid, low, side="right"), np.searchsorted(grid, high)
        return float(grid[(first + last) // 2]) if first < last else None

    return choose


def to_resolution(resolution: float) -> Choice:
    """Find every breakpoint, but do not divide slices that cost no more than `resolution`."""

    def choose(gain: float, cost: float, low: float, high: float, spent: float) -> float | None:
        return None if cost <= resolution and high < np.inf else at_density(gain, cost, low, high)

    return choose


def around_budgets(budgets: NDArray[np.float64]) -> Choice:
    """Find the breakpoints on both sides of each budget; divide no other slices."""

    def choose(gain: float, cost: float, low: float, high: float, spent: float) -> float | None:
        is_divided = ((spent < budgets) & (budgets * (1 + ROUNDING) < spent + cost)).any()
        return at_density(gain, cost, low, high) if is_divided or high == np.inf else None

    return choose
