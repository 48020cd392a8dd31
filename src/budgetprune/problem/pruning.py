"""`Pruning`: the splits that stay, with error and cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import Forest


@dataclass(frozen=True, eq=False)
class Pruning:
    """Pruning of a forest for one lambda.

    Attributes
    ----------
    unpruned : Forest
        The forest that was pruned.
    keep : bool array of shape (n_nodes,)
        The splits of `unpruned` that stay. (The paper's z marks the nodes that are leaves then.)
    lam : float
        Price of a unit of cost, in units of error.
    error, cost : float
        Average error of the trees (of boosted ones, the loss that pruning adds), and average cost of a row,
        as the problem counts them.
    dual : float64 array of shape (n_incidences,), or None
        Multipliers (beta in the paper) for the certificate of the pruning.
    report : report of the solver, or None
    """

    unpruned: Forest = field(repr=False)
    keep: NDArray[np.bool_] = field(repr=False)
    lam: float
    error: float
    cost: float
    dual: NDArray[np.float64] | None = field(default=None, repr=False)
    report: Any | None = None

    @property
    def n_splits(self) -> int:
        """Number of splits that stay."""
        return int(np.count_nonzero(self.keep))

    @cached_property
    def forest(self) -> Forest:
        """The pruned forest, with only the remaining nodes."""
        return self.unpruned.prune(self.keep)
