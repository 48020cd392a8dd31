"""`primal-dual`: the paper's Algorithm 1, which prunes each tree separately and shares prices."""

from __future__ import annotations

from budgetprune.solvers.primal_dual.block import Block, BlockRows, as_units, units_of_weight
from budgetprune.solvers.primal_dual.potentials import STEPS_PER_DOUBLING, fractional_powers
from budgetprune.solvers.primal_dual.search import Iterate, RowSums, Search, Target, Trees, relevant_uses
from budgetprune.solvers.primal_dual.solve import PrimalDualReport, check_options, rows_of, solve, warn_of_gap

__all__ = [
    "STEPS_PER_DOUBLING",
    "Block",
    "BlockRows",
    "Iterate",
    "PrimalDualReport",
    "RowSums",
    "Search",
    "Target",
    "Trees",
    "as_units",
    "check_options",
    "fractional_powers",
    "relevant_uses",
    "rows_of",
    "solve",
    "units_of_weight",
    "warn_of_gap",
]
