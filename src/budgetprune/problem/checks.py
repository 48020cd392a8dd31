"""Validation of numbers and arrays that describe prunings and certificates."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from budgetprune.costs import PRICE_RANGE, is_price
from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.utils.numbers import at_least_zero


def check_multipliers(beta: ArrayLike, n_incidences: int, name: str) -> NDArray[np.float64]:
    """Return `beta` as an array that a bound can be computed from."""
    multipliers = np.ascontiguousarray(beta, dtype=np.float64)
    if multipliers.shape != (n_incidences,) or not np.all(multipliers >= 0):
        raise InvalidInputError(f"{name} must have one entry >= 0 for each of the {n_incidences} incidences.")
    return multipliers


def check_computation_weight(value: float) -> float:
    """Return the price of a split if it is 0 or in the range of prices."""
    weight = at_least_zero(value, "computation_weight")
    if not is_price(weight):
        raise InvalidInputError(
            f"computation_weight must be 0 or {PRICE_RANGE}, like a price, not {weight:g}."
        )
    return weight


def check_critical_lambda(
    forest: Forest, critical_lambda: ArrayLike, name: str = "critical_lambda"
) -> NDArray[np.float64]:
    """Return `critical_lambda` as an array if ``critical_lambda > lam`` is a pruning for every lambda."""
    critical = np.ascontiguousarray(critical_lambda, dtype=np.float64)
    if critical.shape != (forest.n_nodes,) or not np.all(critical >= 0):
        raise InvalidInputError(f"{name} must have one entry >= 0 for each of the {forest.n_nodes} nodes.")
    leaves = np.flatnonzero(~forest.is_split & (critical > 0))
    if leaves.size:
        raise InvalidInputError(f"{name} is not 0 at node {leaves[0]}, which is a leaf.")
    orphans = np.flatnonzero((forest.parent >= 0) & (critical > critical[forest.parent]))
    if orphans.size:
        raise InvalidInputError(
            f"{name} is larger at node {orphans[0]} than at its parent "
            f"{forest.parent[orphans[0]]}; a split can stay only if its parent stays."
        )
    return critical
