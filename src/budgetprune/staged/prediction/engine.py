"""Prediction engine of staged models: next source and stopping, for one example or many rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.predictor import (
    COMPLETE,
    NO_LABEL,
    STOPPED,
    TOO_EXPENSIVE,
    UNAVAILABLE,
    WAITING,
    Decision,
    Simulation,
    SourceIndex,
    StepResult,
)
from budgetprune.staged.model.staged_model import StagedModel
from budgetprune.staged.stopping.thresholds import effective_thresholds

_REASONS = {
    WAITING: "waiting",
    STOPPED: "stopped",
    COMPLETE: "complete",
    TOO_EXPENSIVE: "max_cost",
    UNAVAILABLE: "unavailable",
}


class StagedEngine(SourceIndex):
    """Decide from the known values whether to stop, or which source to acquire next.

    Has the interface of the engine in `budgetprune.predictor.engine`.
    """

    def __init__(self, model: StagedModel) -> None:
        super().__init__(model.trees(), model.costs)
        self.model = model
        self._features = self._features_of_stages()
        self._wanted = [np.array(each, dtype=np.intp) for each in self._sources_of_stages()]

    def _features_of_stages(self) -> list[NDArray[np.intp]]:
        """For each stage, the tested features that it makes available."""
        has = self.is_free.copy()
        before = np.zeros(self.forest.n_features, dtype=np.bool_)
        found = []
        for stage in self.model.chain.stages:
            has[list(stage.sources)] = True
            known = self.known_from(has)
            found.append(np.flatnonzero(known & ~before & self.is_used))
            before = known
        return found

    def _sources_of_stages(self) -> list[list[int]]:
        """For each stage, the sources to acquire; free ones at the first stage whose features need them."""
        free = np.flatnonzero(self.is_free).tolist()
        found = []
        for stage, features in zip(self.model.chain.stages, self._features, strict=True):
            needed = [s for s in free if np.isin(self.gives(s), features).any()]
            free = [s for s in free if s not in needed]
            found.append(needed + [s for s in stage.sources if not self.is_free[s]])
        return found

    def features_of_stage(self, k: int) -> list[int]:
        """Features that a stage makes available and that some tree of the chain tests."""
        found: list[int] = self._features[k].tolist()
        return found

    # --- One example ----------------------------------------------------------------------------------------

    def run(
        self,
        row: NDArray[Any],
        known: NDArray[np.bool_],
        acquired: NDArray[np.bool_],
        is_available: NDArray[np.bool_],
        price: NDArray[np.float64],
        cost_limit: float,
    ) -> StepResult:
        """Return the status and the next source of one example, without acquiring it."""
        is_unavailable = ~self.known_from(is_available | acquired)
        stage = self._stage(known | is_unavailable)
        outputs = self._outputs(row[np.newaxis], known)
        if stage == len(self._wanted) - 1:
            lacks_some = bool((is_unavailable & ~known & self.is_used).any())
            wanted, why, source = None, UNAVAILABLE if lacks_some else COMPLETE, -1
        else:
            wanted = self._wanted_next(stage, is_unavailable)
            open_sources = wanted[is_available[wanted] & ~acquired[wanted]]
            # A stage that is partly paid is still decided by the values known before it.
            before = self._known_before(stage + 1, known, price)
            seen = outputs if before is known else self._outputs(row[np.newaxis], before)
            why, source = self._next(stage, seen, open_sources, price, cost_limit)
        is_wanted = np.zeros(acquired.size, dtype=np.bool_)
        if why == WAITING:
            assert wanted is not None
            is_wanted[wanted[is_available[wanted]]] = True
        bounds = np.empty((2, 0))
        return StepResult(NO_LABEL, why, source, True, [], is_wanted, known, outputs[0], bounds)

    def _stage(self, is_settled: NDArray[np.bool_]) -> int:
        """Find the last stage up to which all features are settled: known or unavailable."""
        stage = -1
        for features in self._features:
            if not is_settled[features].all():
                break
            stage += 1
        return stage

    def _answering_stage(self, known: NDArray[np.bool_]) -> int:
        """Find the stage that predicts: the last one with new features of which some are known.

        If all new features of a stage are unknown, the stage before is better, because its trees were grown
        for exactly the known features.
        """
        found = 0
        for k, features in enumerate(self._features):
            if known[features].any() if features.size else found == k - 1:
                found = k
        return found

    def _known_before(
        self, k: int, known: NDArray[np.bool_], price: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Features that were known before stage `k` was partly paid."""
        features = self._features[k]
        paid = features[known[features] & ~self.known_from(price == 0)[features]]
        if not paid.size:
            return known
        before = known.copy()
        before[paid] = False
        return before

    def _wanted_next(self, stage: int, is_unavailable: NDArray[np.bool_]) -> NDArray[np.intp]:
        """List the sources of the next stage, without those that are useful only with unavailable ones.

        A source that was left out at an earlier stage may be useful now, so these are checked again.
        """
        features = self._features[stage + 1]
        if not any(is_unavailable[each].any() for each in self._features[: stage + 2]):
            return self._wanted[stage + 1]
        is_useful = np.zeros(is_unavailable.size, dtype=np.bool_)
        is_useful[features] = ~is_unavailable[features]
        so_far = np.concatenate(self._wanted[: stage + 2])
        return so_far[[bool(is_useful[self.gives(s)].any()) for s in so_far.tolist()]]

    def _outputs(self, rows: NDArray[Any], known: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Compute outputs of rows from the known features, at the stage that suits them."""
        return self.model.chain.outputs_if_known(self._answering_stage(known), rows, known)

    def _next(
        self,
        stage: int,
        outputs: NDArray[np.float64],
        open_sources: NDArray[np.intp],
        price: NDArray[np.float64],
        cost_limit: float,
    ) -> tuple[int, int]:
        """Return the reason to stop or wait, and the next of the open sources; -1 for none."""
        still_to_pay = float(price[open_sources].sum())
        if stage >= 0 and still_to_pay > 0:
            uncertainty = float(self.model.objective.uncertainty(outputs)[0])
            if not uncertainty > self.model.thresholds[stage]:
                return STOPPED, -1
            if still_to_pay > cost_limit:
                return TOO_EXPENSIVE, -1
        return WAITING, int(open_sources[0]) if open_sources.size else -1

    def finish(self, row: NDArray[Any], cost_limit: float) -> Decision:
        """Decide one example whose values are all given."""
        simulation, stage = self._simulate(row[np.newaxis].astype(np.float64), self.is_free, cost_limit)
        order = [s for k in range(stage[0] + 1) for s in self._wanted[k].tolist() if not self.is_free[s]]
        outputs = simulation.probabilities
        if outputs is None:
            outputs = np.array([[simulation.label[0], np.nan]])
        why = STOPPED if simulation.decided[0] else TOO_EXPENSIVE
        if stage[0] == len(self._wanted) - 1:
            why = COMPLETE
        result = StepResult(NO_LABEL, why, -1, True, order, self.is_free, self.is_free, outputs[0], outputs)
        return self.decision(row, result, self.price, float(simulation.cost[0]), order)

    def decision(
        self, row: NDArray[Any], result: StepResult, price: NDArray[np.float64], cost: float, order: list[int]
    ) -> Decision:
        """Build a `Decision` from the result of `run`; `order` lists the paid sources."""
        del row
        model, names, outputs = self.model, self.source_names, result.scores
        is_classifier = model.classes is not None
        is_waiting = result.why == WAITING
        n = outputs.size if is_classifier else 1
        return Decision(
            label=model.answers(outputs[np.newaxis])[0],
            probabilities=outputs if is_classifier else None,
            lower=np.zeros(n) if is_classifier else np.full(n, -np.inf),
            upper=np.ones(n) if is_classifier else np.full(n, np.inf),
            cost=cost,
            acquired=tuple([names[s] for s in order]),
            decided=result.why in (STOPPED, COMPLETE),
            reason=_REASONS[result.why],
            next=names[result.source] if is_waiting and result.source >= 0 else None,
            next_cost=float(price[result.source]) if is_waiting and result.source >= 0 else 0.0,
        )

    # --- Many rows ------------------------------------------------------------------------------------------

    def simulate(self, X: Any, at_hand: NDArray[np.bool_], cost_limit: float) -> Simulation:
        """Simulate acquisition for many rows; see `BudgetPredictor.simulate`."""
        return self._simulate(self.forest.prepare_rows(X), at_hand, cost_limit)[0]

    def _simulate(
        self, rows: NDArray[np.float64], at_hand: NDArray[np.bool_], cost_limit: float
    ) -> tuple[Simulation, NDArray[np.intp]]:
        model, n_sources = self.model, self.costs.n_sources
        first = max(self._stage(self.known_from(at_hand)), 0)
        price = np.array([self.price[each[~at_hand[each]]].sum() for each in self._wanted])
        price[: first + 1] = 0.0
        thresholds, last = effective_thresholds(model.thresholds, price, cost_limit)
        limited = thresholds.copy()
        limited[last] = np.inf
        known = self.known_from(at_hand)
        if any(known[features].any() for features in self._features[first + 1 :]):
            stage, outputs = self._follow_if_known(rows, limited, at_hand, first)
        else:
            stage, outputs = model.chain.follow(rows, limited, model.objective, first)
        wanted_more = (stage == last) & (last < len(self._wanted) - 1)
        decided = ~wanted_more | (model.objective.uncertainty(outputs) <= thresholds[last])
        bought = np.zeros((len(self._wanted), n_sources), dtype=np.bool_)
        for k in range(first + 1, len(self._wanted)):
            bought[k] = bought[k - 1]
            mine = [s for s in self._wanted[k] if not at_hand[s]]
            bought[k, mine] = True
        acquired = bought[stage]
        simulation = Simulation(
            label=model.answers(outputs),
            cost=self.costs.total(acquired),
            acquired=acquired,
            decided=decided,
            probabilities=outputs if model.classes is not None else None,
            expected_error=None if model.classes is not None else outputs[:, 1],
        )
        return simulation, stage

    def _follow_if_known(
        self,
        rows: NDArray[np.float64],
        thresholds: NDArray[np.float64],
        at_hand: NDArray[np.bool_],
        first: int,
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Evaluate rows like `Chain.follow`, if some features of later stages are already known."""
        stopped = np.empty(len(rows), dtype=np.intp)
        has, active = at_hand.copy(), np.arange(len(rows))
        final: NDArray[np.float64] | None = None
        for k, wanted in enumerate(self._wanted):
            has[wanted] = True
            if k < first:
                continue
            outputs = self._outputs(rows[active], self.known_from(has))
            final = np.empty((len(rows), outputs.shape[1])) if final is None else final
            stopped[active], final[active] = k, outputs
            active = active[self.model.objective.uncertainty(outputs) > thresholds[k]]
            if not active.size:
                break
        assert final is not None
        return stopped, final
