"""Result of a minimiser, and the scale of its remaining gradient."""

from __future__ import annotations

from typing import NamedTuple

from budgetprune.refit.conjugate import length
from budgetprune.refit.leaves import Array, Leaves

# A gradient this much shorter than the sum of its terms' lengths is mostly rounding error.
CANCELLED = 1e-9


class Minimum(NamedTuple):
    """New values of the leaves, and how close to the minimum they are."""

    value: Array
    gradient_norm: float  # relative to that of the old values
    n_steps: int


def reference_norm(leaves: Leaves, norm: float, by_row: Array) -> float:
    """Reference gradient norm: that of the old values, unless these are optimal already.

    Parameters
    ----------
    norm : length of the gradient of the old values
    by_row : term of each row in the gradient, of shape (n_rows, n_outputs)
    """
    return max(norm, CANCELLED * length(leaves.sums(abs(by_row)))) or 1.0
