"""`Chain`: stages that follow each other, and how far rows follow them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from budgetprune.forest import Forest
from budgetprune.forest._routing import chunk_bounds, sum_values
from budgetprune.staged._expected import expected_values
from budgetprune.staged._objective import Objective

Outputs = NDArray[np.float64]
Link = Literal["logistic", "softmax", "identity"]
# Logarithm of the largest expected squared error, about 1e200: its product with a price is finite.
LARGEST_LOG_ERROR = 460.0


@dataclass(frozen=True, eq=False)
class Stage:
    """Sources that are bought together, and the trees that use them.

    Attributes
    ----------
    sources : tuple of int
        That are bought for this stage. The first stage buys none.
    forest : Forest
        What is added to the scores; its trees test only features that are available at this stage.
    scale : float
        By what scores are multiplied before they become probabilities, so that these are calibrated.
    spread : Forest, or None
        Regression only: its score is the logarithm of the expected squared error.
    """

    sources: tuple[int, ...]
    forest: Forest
    scale: float = 1.0
    spread: Forest | None = None


@dataclass(frozen=True, eq=False)
class Chain:
    """Stages that follow each other. A stage adds to the scores of the one before, multiplied by `decay`.

    Attributes
    ----------
    stages : tuple of Stage
    decay : float
    link : {"logistic", "softmax", "identity"}
        From scores to probabilities; "identity" for regression.
    """

    stages: tuple[Stage, ...]
    decay: float
    link: Link

    def __len__(self) -> int:
        return len(self.stages)

    def advance(
        self,
        k: int,
        rows: NDArray[np.float64],
        scores: NDArray[np.float64] | None,
        known: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.float64]:
        """Compute the scores of stage `k` from those of the stage before.

        Parameters
        ----------
        k : int
        rows : of shape (n_rows, n_features)
        scores : of the stage before, of shape (n_rows, n_outputs); None for the first stage
        known : bool array of shape (n_features,), optional
            Features whose values are known; where a tree tests others, the mean of both sides is taken.
        """
        stage = self.stages[k]
        added = _sums(stage.forest, rows, known)
        return added if scores is None else self.decay * scores + added

    def outputs(
        self,
        k: int,
        rows: NDArray[np.float64],
        scores: NDArray[np.float64],
        known: NDArray[np.bool_] | None = None,
    ) -> Outputs:
        """Turn scores of stage `k` into probabilities, or into the target and its expected squared error."""
        stage = self.stages[k]
        if self.link == "identity":
            assert stage.spread is not None
            spread = _sums(stage.spread, rows, known)
            return np.column_stack([scores[:, 0], np.exp(np.minimum(spread[:, 0], LARGEST_LOG_ERROR))])
        return probabilities(scores * stage.scale, self.link)

    def follow(
        self, rows: NDArray[np.float64], thresholds: NDArray[np.float64], objective: Objective, first: int = 0
    ) -> tuple[NDArray[np.intp], Outputs]:
        """Let each row go on until its uncertainty is not above the threshold of its stage.

        Parameters
        ----------
        rows : of shape (n_rows, n_features)
        thresholds : of shape (n_stages,)
        objective : Objective
        first : int
            The first stage where rows may stop: all that it needs is at hand.

        Returns
        -------
        stage : where each row stops
        outputs : of that stage
        """
        n = len(rows)
        stopped = np.empty(n, dtype=np.intp)
        final: Outputs | None = None
        active, scores = np.arange(n), None
        for k in range(len(self)):
            scores = self.advance(k, rows, scores)
            if k < first:
                continue
            outputs = self.outputs(k, rows, scores)
            if final is None:
                final = np.empty((n, outputs.shape[1]))
            goes_on = objective.uncertainty(outputs) > thresholds[k]
            if k == len(self) - 1:
                goes_on[:] = False
            stops = ~goes_on
            stopped[active[stops]], final[active[stops]] = k, outputs[stops]
            if not goes_on.any():
                break
            if stops.any():
                active, rows, scores = active[goes_on], rows[goes_on], scores[goes_on]
        assert final is not None
        return stopped, final


def probabilities(scores: NDArray[np.float64], link: Link) -> Outputs:
    """Turn scores into probabilities of classes."""
    if link == "logistic":
        return np.column_stack([expit(-scores[:, 0]), expit(scores[:, 0])])
    found: Outputs = softmax(scores, axis=1)
    return found


def _sums(forest: Forest, rows: NDArray[np.float64], known: NDArray[np.bool_] | None) -> NDArray[np.float64]:
    if known is not None and not known[forest.feature[forest.is_split]].all():
        return expected_values(forest, rows, known)
    found: NDArray[np.float64] = sum_values(
        rows, chunk_bounds(len(rows)), forest._packed, forest.value, forest.tree_output, forest.base
    )
    return found
