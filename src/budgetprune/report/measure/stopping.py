"""Predictions of each stage on test rows, and the stage where rows stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.report.measure.probabilities import measure_probabilities
from budgetprune.report.measure.results import Results
from budgetprune.report.measure.rows import EvaluationRows
from budgetprune.report.summary.staged import LossKind
from budgetprune.staged import (
    Chain,
    LogLossObjective,
    SquaredErrorObjective,
    StagedModel,
    effective_thresholds,
    stopping_stage,
)


@dataclass(frozen=True, eq=False)
class StagePredictions:
    """Predictions of all stages of a chain for all rows.

    Attributes
    ----------
    rows : EvaluationRows
    answer : array of shape (n_rows, n_stages)
        Labels, or targets.
    uncertainty, score : float64 arrays of shape (n_rows, n_stages)
    loss : float64 array of shape (n_rows, n_stages)
        NaN for labels unknown to the model, whose errors have no cost.
    probabilities : float32 array of shape (n_rows, n_stages, n_classes), or None for regression
    """

    rows: EvaluationRows
    answer: NDArray[Any]
    uncertainty: NDArray[np.float64]
    score: NDArray[np.float64]
    loss: NDArray[np.float64]
    probabilities: NDArray[np.float32] | None

    def subset(self, index: NDArray[np.intp]) -> StagePredictions:
        """Return the predictions for some of the rows."""
        probabilities = None if self.probabilities is None else self.probabilities[index]
        return StagePredictions(
            rows=self.rows.subset(index),
            answer=self.answer[index],
            uncertainty=self.uncertainty[index],
            score=self.score[index],
            loss=self.loss[index],
            probabilities=probabilities,
        )


def loss_kind(model: StagedModel) -> LossKind:
    """Return the kind of loss that the stopping rules reduce."""
    if isinstance(model.objective, LogLossObjective):
        return "log loss"
    if model.has_error_costs:
        return "cost"
    return "squared error" if isinstance(model.objective, SquaredErrorObjective) else "errors"


def predict_stages(model: StagedModel, chain: Chain, rows: EvaluationRows) -> StagePredictions:
    """Evaluate all stages of a chain on all rows."""
    kind, scores = loss_kind(model), None
    columns: list[tuple[NDArray[Any], ...]] = []
    probabilities: list[NDArray[np.float32]] = []
    for k in range(len(chain)):
        scores = chain.advance(k, rows.rows, scores)
        outputs = chain.outputs(k, rows.rows, scores)
        answer = model.answers(outputs)
        score = rows.score(answer)
        loss = 1 - score if kind == "errors" else _loss(model, outputs, rows)
        probabilities.append(outputs.astype(np.float32))
        columns.append((answer, model.objective.uncertainty(outputs), score, loss))
    answer, uncertainty, score, loss = map(np.column_stack, zip(*columns, strict=True))
    stacked = None if rows.classes is None else np.stack(probabilities, axis=1)
    return StagePredictions(rows, answer, uncertainty, score, loss, stacked)


def _loss(model: StagedModel, outputs: NDArray[np.float64], rows: EvaluationRows) -> NDArray[np.float64]:
    loss = np.full(len(rows), np.nan)
    is_known = np.ones(len(rows), dtype=np.bool_) if rows.classes is None else rows.truth >= 0
    loss[is_known] = model.objective.loss(outputs[is_known], rows.truth[is_known])
    return loss


@dataclass(frozen=True, eq=False)
class StagedStoppingRule:
    """A stopping rule with the prices of its stages.

    Attributes
    ----------
    chain : int
    thresholds : float64 array of shape (n_stages,)
        As returned by `budgetprune.staged.stopping.effective_thresholds`.
    last : int
        The last stage that `max_cost` allows.
    price, paid : float64 arrays of shape (n_stages,)
        Price of each stage, and of all stages up to it.
    """

    chain: int
    thresholds: NDArray[np.float64]
    last: int
    price: NDArray[np.float64]
    paid: NDArray[np.float64]

    @classmethod
    def of(
        cls, model: StagedModel, chain: int, thresholds: NDArray[np.float64], max_cost: float | None
    ) -> StagedStoppingRule:
        """Apply thresholds to a chain of a model."""
        price = np.array(
            [model.costs.price[list(stage.sources)].sum() for stage in model.chains[chain].stages]
        )
        found, last = effective_thresholds(thresholds, price, np.inf if max_cost is None else max_cost)
        return cls(chain, found, last, price, np.cumsum(price))

    @property
    def n_reachable(self) -> int:
        """Number of stages that rows can reach."""
        ends = np.flatnonzero(np.isposinf(self.thresholds[: self.last + 1]))
        return int(ends[0]) + 1 if ends.size else self.last + 1

    def stops(self, uncertainty: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the stage where each row stops."""
        limited = self.thresholds.copy()
        limited[self.last] = np.inf
        return stopping_stage(uncertainty, limited)


@dataclass(frozen=True, eq=False)
class StoppedRows:
    """Results of a stopping rule on rows.

    Attributes
    ----------
    rule : StagedStoppingRule
    predictions : StagePredictions
        Predictions of the rule's chain.
    stage : int array of shape (n_rows,)
        Stage where each row stops.
    results : Results
    """

    rule: StagedStoppingRule
    predictions: StagePredictions
    stage: NDArray[np.intp]
    results: Results

    def at_end(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the values at the stage where each row stops."""
        found: NDArray[Any] = values[np.arange(self.stage.size), self.stage]
        return found

    @property
    def loss(self) -> NDArray[np.float64]:
        """Loss of each row at the stage where it stops."""
        return self.at_end(self.predictions.loss)


def stop_rows(model: StagedModel, rule: StagedStoppingRule, predictions: StagePredictions) -> StoppedRows:
    """Apply a stopping rule to rows."""
    stage = rule.stops(predictions.uncertainty)
    acquired = np.zeros((rule.price.size, model.costs.n_sources), dtype=np.bool_)
    for k, each in enumerate(model.chains[rule.chain].stages):
        acquired[k:, list(each.sources)] = True
    rows = np.arange(stage.size)
    would_continue = (stage == rule.last) & (
        predictions.uncertainty[rows, stage] > rule.thresholds[rule.last]
    )
    is_limited = rule.last < rule.price.size - 1
    share = np.bincount(stage, minlength=rule.price.size) / stage.size
    probabilities = None if predictions.probabilities is None else predictions.probabilities[rows, stage]
    results = Results(
        answer=predictions.answer[rows, stage],
        score=predictions.score[rows, stage],
        cost=rule.paid[stage],
        share=share @ acquired,
        undecided=float(would_continue.mean()) if is_limited else 0.0,
        probabilities=measure_probabilities(predictions.rows, probabilities),
    )
    return StoppedRows(rule, predictions, stage, results)
