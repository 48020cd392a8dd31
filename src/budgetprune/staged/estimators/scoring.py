"""Scores of cross-fitted outputs: accuracy, R^2, or a scorer of scikit-learn."""

from __future__ import annotations

import inspect
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from budgetprune.selection import GivenClassifier, GivenRegressor
from budgetprune.staged.curve.points import Score
from budgetprune.staged.data.rows import TrainingRows
from budgetprune.staged.data.sample import LearningSample
from budgetprune.staged.model.objective import ErrorCostObjective

# Added to probabilities before some classes are left out, so that no sum is 0.
TINY_SHARE = 1e-12


def accuracy(sample: LearningSample, answer: ErrorCostObjective) -> Score:
    """Score by the share of correct labels."""
    weight = _weights(sample)

    def score(rows: NDArray[np.intp], outputs: NDArray[np.float64]) -> float:
        is_right = answer.answers(outputs) == sample.target[rows]
        return float(np.average(is_right, weights=weight[rows]))

    return score


def r_squared(sample: LearningSample) -> Score:
    """Score by R^2."""
    weight = _weights(sample)
    # The variance of all rows, because a fold may be too small to estimate it.
    variance = np.average((sample.target - np.average(sample.target, weights=weight)) ** 2, weights=weight)

    def score(rows: NDArray[np.intp], outputs: NDArray[np.float64]) -> float:
        error = np.average((sample.target[rows] - outputs[:, 0]) ** 2, weights=weight[rows])
        return float(1 - error / variance) if variance > 0 else 0.0

    return score


@dataclass(frozen=True, eq=False)
class WeightedScorer:
    """Scorer of scikit-learn, with the training rows whose queries and weights it gets."""

    scorer: Any
    given: TrainingRows

    def __call__(
        self, model: Any, outputs: NDArray[np.float64], labels: NDArray[Any], rows: NDArray[np.intp]
    ) -> float:
        """Score the outputs of a model for rows with labels."""
        arguments = {}
        if self.given.qid is not None and self._takes_queries:
            arguments["qid"] = self.given.qid[rows]
        # Functions that are not scorer objects get no weights.
        if self.given.weight is not None and hasattr(self.scorer, "set_score_request"):
            arguments["sample_weight"] = self.given.weight[rows]
        return float(self.scorer(model, outputs, labels, **arguments))

    @cached_property
    def _takes_queries(self) -> bool:
        """Whether the scorer, or the function that it wraps, accepts `qid`."""
        parameters = inspect.signature(getattr(self.scorer, "_score_func", self.scorer)).parameters
        takes_all = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())
        return "qid" in parameters or (takes_all and not hasattr(self.scorer, "_score_func"))


def score_of_classes(
    scorer: WeightedScorer,
    sample: LearningSample,
    classes: NDArray[Any],
    answer: ErrorCostObjective,
    *,
    by_labels: bool,
) -> Score:
    """Score class probabilities by a scorer, which uses their labels only (`by_labels`) or not."""

    def score(rows: NDArray[np.intp], outputs: NDArray[np.float64]) -> float:
        labels = classes[sample.target[rows]]
        model = GivenClassifier(classes, classes[answer.answers(outputs)], outputs)
        present = np.unique(sample.target[rows])
        if not by_labels and 1 < present.size < classes.size:
            # Metrics of probabilities raise for classes without rows, and a fold may lack rare classes.
            shares = outputs[:, present] + TINY_SHARE
            shares = shares / shares.sum(axis=1, keepdims=True)
            model = GivenClassifier(classes[present], classes[present][shares.argmax(axis=1)], shares)
        with warnings.catch_warnings():
            # Some of the compared rules never predict some class.
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            return scorer(model, outputs, labels, rows)

    return score


def score_of_targets(scorer: WeightedScorer, sample: LearningSample) -> Score:
    """Score predicted targets by a scorer."""

    def score(rows: NDArray[np.intp], outputs: NDArray[np.float64]) -> float:
        return scorer(GivenRegressor(outputs[:, 0]), outputs, sample.target[rows], rows)

    return score


def _weights(sample: LearningSample) -> NDArray[np.float64]:
    return np.ones(len(sample)) if sample.weight is None else sample.weight
