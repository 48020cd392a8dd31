"""Result of a minimiser, and the scale of its remaining gradient."""

from __future__ import annotations

from typing import NamedTuple

from budgetprune.refit.conjugate import length
from budgetprune.refit.leaves import Array, Leaves

# A gradient this much shorter than what it is the sum of is hardly more than rounding errors.
CANCELLED = 1e-9


class Minimum(NamedTuple):
    """New values of the leaves, and how close to the minimum they are."""

    value: Array
    gradient_norm: float  # relative to that of the old values
    n_steps: int


def yardstick(leaves: Leaves, norm: float, pull: Array) -> float:
    """Reference gradient norm: that of the old values, unless these are optimal already.

    Parameters
    ----------
    norm : length of the gradient of the old values
    pull : what each row adds to the gradient, of shape (n_rows, n_outputs)
    """
    return max(norm, CANCELLED * length(leaves.sums(abs(pull)))) or 1.0
