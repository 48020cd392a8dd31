"""Out-of-fold results of all stages, from which stopping rules are learnt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class StoppingData:
    """What cross-fitting saw at each stage.

    Attributes
    ----------
    uncertainty, loss : float64 arrays of shape (n_rows, n_stages)
    price : float64 array of shape (n_stages,)
        What a row that goes on to a stage pays for it; 0 for the first one.
    weight : float64 array of shape (n_rows,)
    """

    uncertainty: NDArray[np.float64]
    loss: NDArray[np.float64]
    price: NDArray[np.float64]
    weight: NDArray[np.float64]

    def __getitem__(self, rows: NDArray[np.intp]) -> StoppingData:
        """Return the evidence of some rows."""
        return StoppingData(self.uncertainty[rows], self.loss[rows], self.price, self.weight[rows])


@dataclass(frozen=True, eq=False)
class OutOfFoldResults:
    """All that is known about one chain from cross-fitting.

    Attributes
    ----------
    evidence : for stopping rules
    loss : float64 array of shape (n_rows, n_stages)
        By the labels alone.
    outputs : for each stage, of shape (n_rows, n_outputs)
    best : number of the best stage
    """

    evidence: StoppingData
    loss: NDArray[np.float64]
    outputs: Sequence[NDArray[np.float64]]
    best: int
