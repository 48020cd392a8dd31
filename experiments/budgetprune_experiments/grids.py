"""Tuning grids of all methods, from coarse to fine; a time limit may end tuning early.

Weights of costs are in units of one feature of average price.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class BoostingGrid:
    """Grid of boosted trees: weight of the costs, size of the trees, and number of rounds.

    Attributes
    ----------
    weights : tuple of float
        GreedyMiser's lambda; CEGB's tradeoff for each row that pays.
    sizes : tuple of int
        Leaves of a tree (CEGB), depth (GreedyMiser); the best guess first.
    rounds : tuple of int
        A model is trained for the largest number, and evaluated after each number of rounds.
    least_hessian : float
        Per leaf; with less, LightGBM may diverge on rare classes.
    """

    weights: tuple[float, ...]
    sizes: tuple[int, ...]
    rounds: tuple[int, ...]
    learning_rate: float = 0.1
    least_hessian: float = 1e-3


@dataclass(frozen=True)
class Grids:
    """The grids of all methods.

    Attributes
    ----------
    n_reported : int
        Points of a curve that are reported on test rows.
    n_prunings : int
        Points of a path of prunings that are evaluated, for each method that prunes the forest.
    depths : limits of the depth of forests
    budgets : shares of the unpruned forest's cost at which our estimators make their choices
    bits, pairs : thresholds of BudgetRF: entropy in bits, and rows of a class as shares of all rows
    miser, lazy, coupled : BoostingGrid
    subsets : BoostingGrid
        LightGBM on subsets of the sources; it has no weights, because prices choose the subsets.
    l1 : inverse strengths C of the cost-weighted penalty
    """

    n_reported: int = 10
    n_prunings: int = 40
    depths: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20)
    budgets: tuple[float, ...] = (0.3, 0.1, 0.6, 0.2, 0.45, 0.8, 0.05)
    bits: tuple[float, ...] = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.4)
    pairs: tuple[float, ...] = (0.0, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1)
    miser: BoostingGrid = field(
        default_factory=lambda: BoostingGrid(
            (0.0, 1e-5, 3e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.03),
            (4, 6, 3),
            (5, 10, 25, 50, 100, 200),
            learning_rate=0.2,
        )
    )
    lazy: BoostingGrid = field(
        default_factory=lambda: BoostingGrid(
            (1e-3, 3e-3, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2), (31, 63), (5, 10, 20, 50, 100)
        )
    )
    coupled: BoostingGrid = field(
        default_factory=lambda: BoostingGrid(
            (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03), (31, 63), (5, 10, 20, 50, 100, 200)
        )
    )
    subsets: BoostingGrid = field(default_factory=lambda: BoostingGrid((), (31, 63), (10, 20, 50, 100, 200)))
    l1: tuple[float, ...] = (3e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)


QUICK = Grids(
    n_reported=3,
    n_prunings=6,
    depths=(2, 6),
    budgets=(0.4,),
    bits=(0.0, 0.5),
    pairs=(0.0, 0.1),
    miser=BoostingGrid((0.0, 1e-3), (3,), (3, 10)),
    lazy=BoostingGrid((0.01, 0.1), (7,), (3, 10)),
    coupled=BoostingGrid((1e-4, 0.01), (7,), (3, 10)),
    subsets=BoostingGrid((), (7,), (3, 10)),
    l1=(0.01, 1.0),
)
