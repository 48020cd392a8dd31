"""Example rows of a staged model, and its decisions about them stage by stage."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetprune.report.measure.examples import Positions
from budgetprune.report.measure.stopping import StagedStoppingRule, StoppedRows
from budgetprune.report.measure.values import first_values, named_values, plain_value
from budgetprune.report.summary.staged import ExampleKind, ExampleStep, StagedExample, StepReason
from budgetprune.staged import StagedEngine


def choose_staged_examples(
    own: StoppedRows, everything: StoppedRows, n_examples: int
) -> list[tuple[ExampleKind, int]]:
    """Choose rows that stop early, midway and late, and wrong ones; if all stop at one stage, a right one."""
    score, stage = own.results.score, own.stage
    uncertainty = own.at_end(own.predictions.uncertainty)
    is_classifier = own.predictions.rows.classes is not None
    # For regression, the better half counts as right.
    is_right = score == 1 if is_classifier else score >= np.median(score)
    first, last = int(stage.min()), int(stage.max())
    is_between = is_right & (stage > first) & (stage < last)
    middle = np.abs(stage - (first + last) / 2)
    wanted: list[tuple[ExampleKind, NDArray[np.bool_]]] = [
        ("early" if first < last else "typical", is_right & (stage == first)),
        ("middle", is_between & (middle == middle[is_between].min(initial=np.inf))),
        ("late", is_right & (stage == last) & (last > first)),
        ("wrong", ~is_right),
        ("avoidable", ~is_right & (everything.results.score > score)),
    ]
    chosen: dict[int, ExampleKind] = {}
    for kind, is_candidate in wanted[:n_examples]:
        candidates = np.setdiff1d(np.flatnonzero(is_candidate), list(chosen))
        if candidates.size:
            # Median uncertainty.
            order = np.argsort(uncertainty[candidates], kind="stable")
            chosen[int(candidates[order[order.size // 2]])] = kind
    return [(kind, row) for row, kind in chosen.items()]


@dataclass(frozen=True, eq=False)
class StagedExampleReader:
    """Read the stage-by-stage decisions about single rows.

    Attributes
    ----------
    engine : StagedEngine
        Engine of the delivered model.
    own, everything : StoppedRows
        All rows with its stopping rule, and with all sources.
    position : mapping from sources to their indices in the summary
    """

    engine: StagedEngine
    own: StoppedRows
    everything: StoppedRows
    position: Positions

    def read(self, kind: ExampleKind, row: int) -> StagedExample:
        """Return the decision about one row, given its index."""
        own, rows = self.own, self.own.predictions.rows
        end = int(own.stage[row])
        return StagedExample(
            kind=kind,
            row=row + 1,
            truth=plain_value(rows.target_of(row)),
            answer=plain_value(own.results.answer[row]),
            is_right=None if rows.classes is None else bool(own.results.score[row] == 1),
            cost=float(own.rule.paid[end]),
            steps=self._steps(row, end),
            full_answer=plain_value(self.everything.results.answer[row]),
            full_cost=float(self.everything.results.cost[row]),
        )

    def _steps(self, row: int, end: int) -> tuple[ExampleStep, ...]:
        rule, predictions, chain = self.own.rule, self.own.predictions, self.engine.model.chain
        classes = predictions.rows.classes
        rows: NDArray[np.float64] = predictions.rows.rows[[row]]
        values, scores, steps = named_values(self.engine.forest, rows[0]), None, []
        names = list(values)
        for k in range(end + 1):
            scores = chain.advance(k, rows, scores)
            outputs = chain.outputs(k, rows, scores)[0]
            threshold, uncertainty = float(rule.thresholds[k]), float(predictions.uncertainty[row, k])
            answer = predictions.answer[row, k]
            steps.append(
                ExampleStep(
                    sources=tuple(self.position[s] for s in chain.stages[k].sources),
                    # A value is known once all sources that it needs are acquired.
                    values=first_values(values, [names[i] for i in self.engine.features_of_stage(k)]),
                    cost=float(rule.paid[k]),
                    answer=plain_value(answer),
                    probability=None if classes is None else float(outputs[classes == answer][0]),
                    expected_error=float(np.sqrt(outputs[1])) if classes is None else None,
                    uncertainty=uncertainty,
                    threshold=threshold if np.isfinite(threshold) else None,
                    goes_on=k < end,
                    reason=step_reason(rule, k, uncertainty),
                )
            )
        return tuple(steps)


def step_reason(rule: StagedStoppingRule, k: int, uncertainty: float) -> StepReason:
    """Return why a row stopped at a stage or went on."""
    threshold = float(rule.thresholds[k])
    if k == rule.price.size - 1:
        return "last"
    if rule.price[k + 1] == 0:
        return "free"
    if np.isposinf(threshold):
        return "stop"
    if k == rule.last and uncertainty > threshold:
        return "limit"
    if np.isneginf(threshold):
        return "continue"
    return "above" if uncertainty > threshold else "below"
