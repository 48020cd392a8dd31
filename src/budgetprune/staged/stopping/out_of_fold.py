"""Out-of-fold results of the stages of a chain, from which stopping rules are learnt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class StoppingData:
    """Inputs for learning stopping rules: out-of-fold uncertainty and loss of each row at each stage.

    Attributes
    ----------
    uncertainty, loss : float64 arrays of shape (n_rows, n_stages)
    price : float64 array of shape (n_stages,)
        Price of the sources of each stage; 0 for the first one.
    weight : float64 array of shape (n_rows,)
    """

    uncertainty: NDArray[np.float64]
    loss: NDArray[np.float64]
    price: NDArray[np.float64]
    weight: NDArray[np.float64]

    def __getitem__(self, rows: NDArray[np.intp]) -> StoppingData:
        """Return the data of some rows."""
        return StoppingData(self.uncertainty[rows], self.loss[rows], self.price, self.weight[rows])


@dataclass(frozen=True, eq=False)
class OutOfFoldResults:
    """Cross-fitting results of one chain.

    Attributes
    ----------
    stopping_data : StoppingData
        Its loss is smoothed.
    loss : float64 array of shape (n_rows, n_stages)
        Without smoothing.
    outputs : sequence of float64 arrays of shape (n_rows, n_outputs)
        One for each stage.
    best : int
        Index of the stage with the lowest training loss.
    """

    stopping_data: StoppingData
    loss: NDArray[np.float64]
    outputs: Sequence[NDArray[np.float64]]
    best: int
