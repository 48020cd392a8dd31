"""Prediction engine without I/O: a forest, its prices and a rule, prepared for the kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import ROUNDING, CostTable
from budgetprune.forest import Forest, expected_values
from budgetprune.predictor import kernels
from budgetprune.predictor.bounds import ProbabilityBounds, StepResult
from budgetprune.predictor.choice_kernels import Needs
from budgetprune.predictor.decision import Decision, Simulation
from budgetprune.predictor.rules import Order, decision_rule_of
from budgetprune.predictor.source_index import SourceIndex
from budgetprune.predictor.state_kernels import State
from budgetprune.predictor.tables import trees_of
from budgetprune.utils.threads import in_threads

# Rows per thread and kernel call. They take milliseconds; the call itself takes some 50 microseconds.
BLOCK = 256

_REASONS = {
    kernels.WAITING: "waiting",
    kernels.CERTAIN: "certain",
    kernels.COMPLETE: "complete",
    kernels.TOO_EXPENSIVE: "max_cost",
    kernels.UNAVAILABLE: "unavailable",
}
DECIDED = (kernels.CERTAIN, kernels.COMPLETE, kernels.STOPPED)


class Engine(SourceIndex):
    """Decide one example or many rows from known values, or choose the next source."""

    def __init__(
        self,
        forest: Forest,
        costs: CostTable,
        *,
        slack: float,
        threshold: float | None,
        tolerance: float | None,
        order: Order,
        look_ahead: int,
    ) -> None:
        super().__init__(forest, costs)
        self.slack, self.threshold = slack, threshold
        decision_rule = decision_rule_of(forest, threshold, tolerance, order, look_ahead)
        self.trees = trees_of(forest, decision_rule.value, decision_rule.direction, decision_rule.base)
        self.probability_bounds = ProbabilityBounds(forest, decision_rule)
        self._decider = kernels.Decider(
            self.trees,
            Needs(*self.sources[1:]),
            decision_rule.stopping,
            slack,
            forest.value,
            forest.tree_output,
            forest.base,
            self.price,
            self.is_known_for_free,
            self.is_free,
        )
        # Workspaces that no thread uses at the moment.
        self._states: list[State] = []
        self._price_list = self.price.tolist()

    # --- One example ----------------------------------------------------------------------------------------

    def run(
        self,
        row: NDArray[np.float64],
        known: NDArray[np.bool_],
        acquired: NDArray[np.bool_],
        is_available: NDArray[np.bool_],
        price: NDArray[np.float64],
        cost_limit: float,
    ) -> StepResult:
        """Decide one example, or choose its next source; `price` is what is still to be paid for each."""
        state = self._states.pop() if self._states else self._decider.new_state()
        found = self._decider.step(row, known, acquired, is_available, price, cost_limit, state)
        self._states.append(state)
        return StepResult(*found)

    def finish(self, row: NDArray[np.float64], cost_limit: float) -> Decision:
        """Decide one example whose values are all given."""
        state = self._states.pop() if self._states else self._decider.new_state()
        result = StepResult(*self._decider.finish(row, cost_limit, state))
        self._states.append(state)
        cost = sum([self._price_list[s] for s in result.order])
        return self.decision(row, result, self.price, cost, result.order)

    def decision(
        self,
        row: NDArray[np.float64],
        result: StepResult,
        price: NDArray[np.float64],
        cost: float,
        order: list[int],
    ) -> Decision:
        """Build a `Decision` from the result of `run`; `order` lists the paid sources."""
        forest, names = self.forest, self.source_names
        if result.why == kernels.UNAVAILABLE:
            # Trees may stand at a test whose value never comes; known values below it count as well.
            (scores,), _ = expected_values(forest, row[np.newaxis], result.known)
            result = result._replace(scores=scores)
        now, low, high = self.probability_bounds(row, result)
        if forest.classes is not None and result.label != kernels.NO_LABEL:
            answer = forest.classes[result.label]
        else:
            answer = self.answers(result.scores[np.newaxis] / forest.divisor)[0]
        reason = _REASONS[result.why]
        if result.why == kernels.CERTAIN and not result.is_certain:
            reason = "slack"
        return Decision(
            label=answer,
            probabilities=now if forest.is_classifier else None,
            lower=low,
            upper=high,
            cost=cost,
            acquired=tuple([names[s] for s in order]),
            decided=result.why in DECIDED,
            reason=reason,
            next=names[result.source] if result.source >= 0 else None,
            next_cost=float(price[result.source]) if result.source >= 0 else 0.0,
        )

    # --- Many rows ------------------------------------------------------------------------------------------

    def simulate(self, X: Any, at_hand: NDArray[np.bool_], cost_limit: float) -> Simulation:
        """Simulate acquisition for many rows; see `BudgetPredictor.simulate`."""
        rows = self.forest.prepare_rows(X)
        label, why, has, scores = self._simulate_rows(rows, at_hand, cost_limit)
        acquired = (has & ~at_hand)[:, : self.costs.n_sources]
        scores /= self.forest.divisor
        return Simulation(
            label=self.final_answers(label, scores),
            cost=self.costs.total(acquired),
            acquired=acquired,
            decided=np.isin(why, DECIDED),
            probabilities=self.forest.probabilities(scores) if self.forest.is_classifier else None,
        )

    def _simulate_rows(
        self, rows: NDArray[Any], at_hand: NDArray[np.bool_], cost_limit: float
    ) -> tuple[NDArray[np.int64], NDArray[np.int8], NDArray[np.bool_], NDArray[np.float64]]:
        forest, known = self.forest, self.known_from(at_hand)
        label = np.empty(len(rows), dtype=np.int64)
        why = np.empty(len(rows), dtype=np.int8)
        has = np.empty((len(rows), self.price.size), dtype=np.bool_)
        scores = np.empty((len(rows), forest.n_outputs))

        def simulate_block(first: int) -> None:
            block = slice(first, first + BLOCK)
            self._decider.simulate(
                np.ascontiguousarray(rows[block], dtype=np.float64),
                known,
                at_hand,
                cost_limit * ROUNDING,
                label[block],
                why[block],
                has[block],
                scores[block],
            )

        in_threads(simulate_block, range(0, len(rows), BLOCK))
        return label, why, has, scores

    # --- Answers --------------------------------------------------------------------------------------------

    def answers(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        """Return labels or targets, from scores."""
        if self.threshold is None:
            return self.forest.answers(scores)
        assert self.forest.classes is not None
        is_second = self.forest.probabilities(scores)[:, 1] >= self.threshold
        labels: NDArray[Any] = self.forest.classes[is_second.astype(np.intp)]
        return labels

    def final_answers(self, label: NDArray[np.int64], scores: NDArray[np.float64]) -> NDArray[Any]:
        """Return labels by the numbers that the kernels found; undecided rows use their scores."""
        answers = self.answers(scores)
        if self.forest.classes is None:
            return answers
        is_found = label != kernels.NO_LABEL
        answers[is_found] = self.forest.classes[label[is_found]]
        return answers
