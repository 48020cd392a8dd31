"""Division of an order of sources into stages."""

from __future__ import annotations

from budgetprune.costs import CostTable
from budgetprune.staged.ordering.acquired_sources import AcquiredSources, Step
from budgetprune.staged.training.plan import StagePlan

# Each of the first steps is a stage. Later steps are joined until the total cost has grown by a factor.
N_SINGLE_SOURCE_STAGES, COST_GROWTH = 10, 1.12


def join_steps(order: list[Step], most: int) -> list[tuple[int, ...]]:
    """Join consecutive steps into stages; return the sources of each stage.

    Parameters
    ----------
    order : list of Step
    most : int
        Maximum number of stages.
    """
    n_single, growth = min(N_SINGLE_SOURCE_STAGES, most), COST_GROWTH
    while True:
        stages = _join_with(order, n_single, growth)
        if len(stages) <= most:
            return stages
        n_single, growth = max(1, n_single - 1), growth * 1.05


def _join_with(order: list[Step], n_single: int, growth: float) -> list[tuple[int, ...]]:
    stages: list[tuple[int, ...]] = []
    sources: tuple[int, ...] = ()
    cost = last = 0.0
    for i, step in enumerate(order):
        sources, cost = sources + step.sources, cost + step.price
        if i < n_single or cost >= growth * last or i == len(order) - 1:
            stages.append(sources)
            sources, last = (), cost
    return stages


def plan_stages(costs: CostTable, order: list[Step], n_stages: int) -> StagePlan:
    """Divide an order into stages, after a first stage that acquires nothing."""
    acquired = AcquiredSources(costs)
    sources = [(), *join_steps(order, n_stages)]
    columns = []
    for each in sources:
        acquired.has[list(each)] = True
        columns.append(acquired.columns())
    return StagePlan(tuple(sources), tuple(columns))
