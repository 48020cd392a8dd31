"""Prediction engine without I/O: a forest, its prices and a rule, prepared for the kernels."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import ROUNDING, CostTable
from budgetprune.forest import Forest
from budgetprune.predictor import kernels
from budgetprune.predictor.bounds import ProbabilityBounds, StepResult
from budgetprune.predictor.decision import Decision, Simulation
from budgetprune.predictor.rules import Order, decision_rule_of
from budgetprune.predictor.source_index import SourceIndex
from budgetprune.predictor.state import State, initial_state
from budgetprune.predictor.tables import Sources, trees_of
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
        self.rule = decision_rule.stopping
        self.trees = trees_of(forest, decision_rule.value, decision_rule.direction, decision_rule.base)
        self.probability_bounds = ProbabilityBounds(forest, decision_rule)
        self._price = self.sources.price.tolist()
        self._decide_one: Callable[..., tuple[int, int, int, bool, int]] | None = None

    # --- One example ----------------------------------------------------------------------------------------

    def run(
        self,
        row: NDArray[Any],
        known: NDArray[np.bool_],
        acquired: NDArray[np.bool_],
        is_available: NDArray[np.bool_],
        sources: Sources,
        cost_limit: float,
        n_steps: int,
    ) -> StepResult:
        """Advance one example by at most `n_steps`.

        `sources` are this engine's, with the prices still to be paid.
        """
        order = np.empty(n_steps, np.int32)
        is_wanted, known_then = np.empty(acquired.size, np.bool_), np.empty(known.size, np.bool_)
        scores, bounds = np.empty(self.forest.n_outputs), np.empty(self.trees.base.shape)
        arguments = (
            row,
            known,
            acquired,
            is_available,
            self.trees,
            sources,
            self.rule,
            self.slack,
            cost_limit,
            self.forest.value,
            self.forest.tree_output,
            self.forest.base,
            self._initial_state,
            order,
            is_wanted,
            known_then,
            scores,
            bounds,
        )
        if self._decide_one is None:
            self._decide_one = compiled_for(kernels.decide_one, arguments)
        label, why, source, is_certain, n_acquired = self._decide_one(*arguments)
        taken = order[:n_acquired].tolist()
        return StepResult(label, why, source, is_certain, taken, is_wanted, known_then, scores, bounds)

    @cached_property
    def _initial_state(self) -> State:
        n_features, n_sources = self.forest.n_features, self.is_free.size
        row = np.zeros(n_features, dtype=self.forest.input_dtype)
        state: State = initial_state(row, self.trees, self.rule, self.slack, n_features, n_sources)
        return state

    def finish(self, row: NDArray[Any], cost_limit: float) -> Decision:
        """Decide one example whose values are all given."""
        sources, free = self.sources, self.is_free
        result = self.run(
            row, self.is_known_for_free, free, self.all_available, sources, cost_limit, free.size
        )
        cost = sum([self._price[s] for s in result.order])
        return self.decision(row, result, sources, cost, result.order)

    def decision(
        self, row: NDArray[Any], result: StepResult, sources: Sources, cost: float, order: list[int]
    ) -> Decision:
        """Build a `Decision` from the result of `run`; `order` lists the paid sources."""
        forest, names = self.forest, self.source_names
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
            next_cost=float(sources.price[result.source]) if result.source >= 0 else 0.0,
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
        has = np.empty((len(rows), self.sources.price.size), dtype=np.bool_)
        scores = np.empty((len(rows), forest.n_outputs))

        def simulate_block(first: int) -> None:
            block = slice(first, first + BLOCK)
            kernels.simulate_rows(
                rows[block],
                known,
                at_hand,
                self.trees,
                self.sources,
                self.rule,
                self.slack,
                cost_limit * ROUNDING,
                forest.value,
                forest.tree_output,
                forest.base,
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


def compiled_for(kernel: Any, arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """Return the compiled function of a kernel for arguments of these types.

    Use it only if the argument types never change. Numba's dispatcher compares them with all compiled
    signatures, field by field, at every call: 5 microseconds for a kernel that takes tuples of arrays.
    """
    if not hasattr(kernel, "compile"):  # numba is switched off
        return kernel  # type: ignore[no-any-return]
    return kernel.compile(tuple(map(numba.typeof, arguments)))  # type: ignore[no-any-return]
