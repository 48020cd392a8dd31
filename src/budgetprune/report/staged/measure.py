"""Predictions of each stage on test rows, and the stage where rows stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.report.judge import Judge
from budgetprune.report.measure import Taken
from budgetprune.report.staged.summary import LossKind
from budgetprune.staged.model import Chain, LogLoss, SquaredError, StagedModel
from budgetprune.staged.stopping import effective_thresholds, stopping_stage


@dataclass(frozen=True, eq=False)
class Seen:
    """Predictions of all stages of a chain for all rows.

    Attributes
    ----------
    judge : Judge
        The rows.
    answer : array of shape (n_rows, n_stages)
        Labels, or targets.
    uncertainty, quality : float64 arrays of shape (n_rows, n_stages)
    loss : float64 array of shape (n_rows, n_stages)
        NaN for labels unknown to the model, whose errors have no cost.
    """

    judge: Judge
    answer: NDArray[Any]
    uncertainty: NDArray[np.float64]
    quality: NDArray[np.float64]
    loss: NDArray[np.float64]

    def part(self, rows: NDArray[np.intp]) -> Seen:
        """Return a subset of the rows."""
        arrays = (self.answer, self.uncertainty, self.quality, self.loss)
        return Seen(self.judge.part(rows), *(array[rows] for array in arrays))


def loss_kind(model: StagedModel) -> LossKind:
    """Return the kind of loss that the stopping rules reduce."""
    if isinstance(model.objective, LogLoss):
        return "log loss"
    if model.has_error_costs:
        return "cost"
    return "squared error" if isinstance(model.objective, SquaredError) else "errors"


def look(model: StagedModel, chain: Chain, judge: Judge) -> Seen:
    """Evaluate all stages of a chain on all rows."""
    kind, scores = loss_kind(model), None
    columns: list[tuple[NDArray[Any], ...]] = []
    for k in range(len(chain)):
        scores = chain.advance(k, judge.rows, scores)
        outputs = chain.outputs(k, judge.rows, scores)
        answer = model.answers(outputs)
        quality = judge.quality(answer)
        loss = 1 - quality if kind == "errors" else _loss(model, outputs, judge)
        columns.append((answer, model.objective.uncertainty(outputs), quality, loss))
    return Seen(judge, *(np.column_stack(column) for column in zip(*columns, strict=True)))


def _loss(model: StagedModel, outputs: NDArray[np.float64], judge: Judge) -> NDArray[np.float64]:
    found = np.full(len(judge), np.nan)
    is_known = np.ones(len(judge), dtype=np.bool_) if judge.classes is None else judge.truth >= 0
    found[is_known] = model.objective.loss(outputs[is_known], judge.truth[is_known])
    return found


@dataclass(frozen=True, eq=False)
class Rule:
    """A stopping rule with its stages' prices.

    Attributes
    ----------
    chain : int
    thresholds : float64 array of shape (n_stages,)
        As returned by `budgetprune.staged.stopping.effective_thresholds`.
    last : int
        The last stage that `max_cost` allows.
    price, paid : float64 arrays of shape (n_stages,)
    """

    chain: int
    thresholds: NDArray[np.float64]
    last: int
    price: NDArray[np.float64]
    paid: NDArray[np.float64]

    @classmethod
    def of(
        cls, model: StagedModel, chain: int, thresholds: NDArray[np.float64], max_cost: float | None
    ) -> Rule:
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

    @property
    def is_limited(self) -> bool:
        """Whether rows can reach a stage whose successor exceeds `max_cost`."""
        return self.last < self.price.size - 1 and self.n_reachable == self.last + 1

    def stops(self, uncertainty: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the stage where each row stops."""
        limited = self.thresholds.copy()
        limited[self.last] = np.inf
        return stopping_stage(uncertainty, limited)


@dataclass(frozen=True, eq=False)
class Followed:
    """Results of a stopping rule on rows.

    Attributes
    ----------
    rule : Rule
    seen : Seen
        Predictions of the rule's chain.
    stage : int array of shape (n_rows,)
        Stage where each row stops.
    taken : Taken
    """

    rule: Rule
    seen: Seen
    stage: NDArray[np.intp]
    taken: Taken

    def at_end(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the values at the stage where each row stops."""
        found: NDArray[Any] = values[np.arange(self.stage.size), self.stage]
        return found

    @property
    def loss(self) -> NDArray[np.float64]:
        """Loss of each row at the stage where it stops."""
        return self.at_end(self.seen.loss)


def follow(model: StagedModel, rule: Rule, seen: Seen) -> Followed:
    """Apply a stopping rule to rows."""
    stage = rule.stops(seen.uncertainty)
    bought = np.zeros((rule.price.size, model.costs.n_sources), dtype=np.bool_)
    for k, each in enumerate(model.chains[rule.chain].stages):
        bought[k:, list(each.sources)] = True
    rows = np.arange(stage.size)
    wanted_more = (stage == rule.last) & (seen.uncertainty[rows, stage] > rule.thresholds[rule.last])
    is_limited = rule.last < rule.price.size - 1
    reached = np.bincount(stage, minlength=rule.price.size) / stage.size
    taken = Taken(
        answer=seen.answer[rows, stage],
        quality=seen.quality[rows, stage],
        cost=rule.paid[stage],
        share=reached @ bought,
        undecided=float(wanted_more.mean()) if is_limited else 0.0,
    )
    return Followed(rule, seen, stage, taken)
