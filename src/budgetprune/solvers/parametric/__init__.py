"""The exact solver: all optimal prunings from one parametric maximum flow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.path import PruningPath, breakpoints
from budgetprune.pruning import Pruning
from budgetprune.solvers.parametric._answer import incidence_flow, node_levels
from budgetprune.solvers.parametric._graph import Closure, build_closure
from budgetprune.solvers.parametric._levels import Choice, Levels, at_density, find_levels
from budgetprune.solvers.parametric._network import Network, build_network

if TYPE_CHECKING:
    from budgetprune.problem import PruningProblem

__all__ = ["path", "solve"]


def solve(problem: PruningProblem, lam: float, *, verbose: bool = False) -> Pruning:
    """Find the best pruning for one `lam`, with a dual solution that proves it.

    Of several best ones, the smallest.
    """
    lam = _as_grid(lam).item()
    closure, net, levels = _run(problem, on_grid(np.array([lam])), verbose)
    critical = node_levels(problem, closure, levels.critical)
    return problem.pruning(critical > lam, lam, dual=incidence_flow(problem, closure, net))


def path(
    problem: PruningProblem,
    *,
    lams: ArrayLike | None = None,
    resolution: float | None = None,
    certify: bool = False,
    verbose: bool = False,
) -> PruningPath:
    """Find the best prunings for all `lam`, or for those that are asked for.

    Parameters
    ----------
    lams : array-like, optional
        Only these are solved for.
    resolution : float, optional
        Neighbouring points may differ by this much in cost: breakpoints that lie closer together are not told
        apart. With neither, the path is complete.
    certify : bool
        Prove every point. One flow proves all points of a complete path, so that is what is computed then;
        `lams` and `resolution` choose among its points.
    verbose : bool
        Show progress.
    """
    if lams is not None and resolution is not None:
        raise InvalidInputError("give lams or resolution, not both.")
    grid = None if lams is None else _as_grid(lams)
    if resolution is not None and not 0 < resolution < np.inf:
        raise InvalidInputError(f"resolution must be a positive amount of cost, not {resolution!r}.")
    if certify:
        return _certified_path(problem, grid, resolution, verbose)
    choose = at_density if grid is None else on_grid(grid)
    if resolution is not None:
        choose = down_to(resolution)
    closure, _, levels = _run(problem, choose, verbose)
    if resolution is not None:
        grid = np.unique([0.0, *levels.tested])
    critical = node_levels(problem, closure, levels.critical)
    return PruningPath.of(problem, critical, lams=grid, complete=grid is None)


def _certified_path(
    problem: PruningProblem, grid: NDArray[np.float64] | None, resolution: float | None, verbose: bool
) -> PruningPath:
    """Compute a complete path, and a bound for each of the points that are asked for."""
    closure, net, levels = _run(problem, at_density, verbose)
    critical = node_levels(problem, closure, levels.critical)
    is_complete = grid is None and resolution is None
    if grid is None:
        grid = breakpoints(critical)
    if resolution is not None:
        _, cost, _ = problem.trade_off(critical, grid)
        grid = grid[np.unique(cost // resolution, return_index=True)[1]][::-1]
    # The flow fills the pairs of a slice at the slice's own level, so scaled down it fills them at any lower
    # one, and at any higher one it fits: one flow proves the whole path.
    level = np.full(problem.forest.n_nodes, np.inf)
    level[closure.top] = np.where(np.isnan(levels.routed), np.inf, levels.routed)
    bound = problem.bounds(incidence_flow(problem, closure, net), level, grid)
    return PruningPath.of(problem, critical, lams=grid, complete=is_complete, bound=bound)


def _run(problem: PruningProblem, choose: Choice, verbose: bool) -> tuple[Closure, Network, Levels]:
    closure = build_closure(problem)
    net = build_network(
        closure.parent, closure.gain, closure.arc_start, closure.arc_pair, closure.price * closure.unit
    )
    return closure, net, find_levels(net, closure.gain, closure.unit, choose, verbose)


def _as_grid(lams: ArrayLike) -> NDArray[np.float64]:
    """Check lambdas, and sort them."""
    try:
        grid = np.unique(np.asarray(lams, dtype=np.float64))
    except (TypeError, ValueError):
        grid = np.array([np.nan])
    if not grid.size or not np.all((grid >= 0) & (grid < np.inf)):
        raise InvalidInputError(f"lambdas must be finite numbers of at least 0, not {lams!r}.")
    return grid


# --- Which level of a slice to test next --------------------------------------------------------------------


def on_grid(grid: NDArray[np.float64]) -> Choice:
    """Ask for what happens at the levels of a grid."""

    def choose(gain: float, cost: float, low: float, high: float) -> float | None:
        first, last = np.searchsorted(grid, low, side="right"), np.searchsorted(grid, high)
        return float(grid[(first + last) // 2]) if first < last else None

    return choose


def down_to(resolution: float) -> Choice:
    """Ask for every breakpoint, but do not take slices apart that cost no more than `resolution`."""

    def choose(gain: float, cost: float, low: float, high: float) -> float | None:
        return None if cost <= resolution and high < np.inf else at_density(gain, cost, low, high)

    return choose
