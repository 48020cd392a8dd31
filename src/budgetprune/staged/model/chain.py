"""`Chain`: a sequence of stages, and the evaluation of rows along it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import Forest, expected_values, sum_values
from budgetprune.staged.model.links import Link, log_shares, probabilities
from budgetprune.staged.model.objective import Objective, Outputs

# Largest logarithm of an expected squared error (about 1e200), so that its product with a price is finite.
LARGEST_LOG_ERROR = 460.0


@dataclass(frozen=True, eq=False)
class Stage:
    """Sources that are acquired together, and the trees that use them.

    Attributes
    ----------
    sources : tuple of int
        Sources acquired at this stage; none at the first stage.
    forest : Forest
        Trees that add to the scores; they test only features that are available at this stage.
    scale : float
        Calibration: factor of the scores before they are converted to probabilities.
    spread : Forest, or None
        Regression only: predicts the logarithm of the expected squared error.
    """

    sources: tuple[int, ...]
    forest: Forest
    scale: float = 1.0
    spread: Forest | None = None


@dataclass(frozen=True, eq=False)
class Chain:
    """Sequence of stages. The scores of a stage are `decay` times those of the one before, plus its trees.

    Attributes
    ----------
    stages : tuple of Stage
    decay : float
    link : {"logistic", "softmax", "shares", "identity"}
        Conversion of scores to probabilities. "shares": scores are class shares, and probabilities are
        proportional to ``share ** scale``. "identity": regression.
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
    ) -> NDArray[np.float64]:
        """Compute the scores of stage `k` from those of the stage before.

        Parameters
        ----------
        k : int
        rows : of shape (n_rows, n_features)
        scores : of the stage before, of shape (n_rows, n_outputs); None for the first stage
        """
        added = _sums(self.stages[k].forest, rows)
        return added if scores is None else self.decay * scores + added

    def outputs(self, k: int, rows: NDArray[np.float64], scores: NDArray[np.float64]) -> Outputs:
        """Convert scores of stage `k` to probabilities, or to the target and its expected squared error."""
        spread = self.stages[k].spread
        return self._outputs(k, scores, None if spread is None else _sums(spread, rows))

    def outputs_if_known(self, last: int, rows: NDArray[np.float64], known: NDArray[np.bool_]) -> Outputs:
        """Compute the outputs of a stage if some features are unknown.

        At tests of unknown features, both sides are averaged with their training weights. So a score has a
        mean and a standard deviation. The probability is its expectation, by the usual approximation for a
        normal distribution: the mean is divided by the square root of 1 + π/8 times the variance.

        Parameters
        ----------
        last : index of the stage
        rows : of shape (n_rows, n_features)
        known : bool array of shape (n_features,)
        """
        scores, deviation = np.zeros(0), np.zeros(0)
        for k, stage in enumerate(self.stages[: last + 1]):
            added, more = _expected(stage.forest, rows, known)
            scores = self.decay * scores + added if k else added
            deviation = self.decay * deviation + more if k else more
        stage = self.stages[last]
        if self.link in ("logistic", "softmax"):
            scores = scores / np.sqrt(1 + np.pi / 8 * (stage.scale * deviation) ** 2)
        spread = None if stage.spread is None else _expected(stage.spread, rows, known)[0]
        return self._outputs(last, scores, spread)

    def _outputs(self, k: int, scores: NDArray[np.float64], spread: NDArray[np.float64] | None) -> Outputs:
        if spread is not None:
            return np.column_stack([scores[:, 0], np.exp(np.minimum(spread[:, 0], LARGEST_LOG_ERROR))])
        if self.link == "shares":
            scores = log_shares(scores)
        return probabilities(scores * self.stages[k].scale, self.link)

    def follow(
        self, rows: NDArray[np.float64], thresholds: NDArray[np.float64], objective: Objective, first: int = 0
    ) -> tuple[NDArray[np.intp], Outputs]:
        """Evaluate each row until its uncertainty is not above the threshold of its stage.

        Parameters
        ----------
        rows : of shape (n_rows, n_features)
        thresholds : of shape (n_stages,)
        objective : Objective
        first : int
            First stage at which rows may stop.

        Returns
        -------
        stage : stage at which each row stops
        outputs : outputs of that stage
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


def _sums(forest: Forest, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    # Stages may read rows in another precision than the model does.
    exact = np.ascontiguousarray(rows, dtype=forest.input_dtype)
    found: NDArray[np.float64] = sum_values(
        exact, forest._packed, forest.value, forest.tree_output, forest.base
    )
    return found


def _expected(
    forest: Forest, rows: NDArray[np.float64], known: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of scores."""
    if known[forest.used_features].all():
        scores = _sums(forest, rows)
        return scores, np.zeros_like(scores)
    return expected_values(forest, rows, known)
