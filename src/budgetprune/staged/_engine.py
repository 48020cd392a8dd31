"""Staged models one example at a time: which source is next, and when it is enough."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.predictor._bounds import Told
from budgetprune.predictor._catalogue import Catalogue
from budgetprune.predictor._decision import Decision, Simulation
from budgetprune.predictor._kernels import COMPLETE, NO_LABEL, STOPPED, TOO_EXPENSIVE, UNAVAILABLE, WAITING
from budgetprune.predictor._tables import Sources
from budgetprune.staged._model import StagedModel
from budgetprune.staged._stopping import applied

_REASONS = {
    WAITING: "waiting",
    STOPPED: "stopped",
    COMPLETE: "complete",
    TOO_EXPENSIVE: "max_cost",
    UNAVAILABLE: "unavailable",
}


class StagedEngine(Catalogue):
    """Answer "these values are known: enough, or which source next?" for one example, or for many rows."""

    def __init__(self, model: StagedModel) -> None:
        super().__init__(model.trees(), model.costs)
        self.model = model
        self._wanted = [np.array(each, dtype=np.intp) for each in self._sources_of_stages()]
        self._features = self._features_of_stages()

    def _sources_of_stages(self) -> list[list[int]]:
        """Sources that are asked for at each stage; the first one asks for what is free, if it is used."""
        free = [s for s in np.flatnonzero(self.is_free).tolist() if self.is_used[self.gives(s)].any()]
        stages = [list(stage.sources) for stage in self.model.chain.stages]
        stages[0] = free + [s for s in stages[0] if s not in free]
        return [stages[0], *([s for s in stage if not self.is_free[s]] for stage in stages[1:])]

    def _features_of_stages(self) -> list[NDArray[np.intp]]:
        """Features that each stage makes available, and that some tree tests."""
        has = np.zeros(self.is_free.size, dtype=np.bool_)
        before = np.zeros(self.forest.n_features, dtype=np.bool_)
        found = []
        for sources in self._wanted:
            has[sources] = True
            has |= self.is_free
            known = self.known_from(has)
            found.append(np.flatnonzero(known & ~before & self.is_used))
            before = known
        return found

    def features_of_stage(self, k: int) -> list[int]:
        """Features that become known at a stage, and that some tree of the chain tests."""
        found: list[int] = self._features[k].tolist()
        return found

    # --- One example ----------------------------------------------------------------------------------------

    def run(
        self,
        row: NDArray[Any],
        known: NDArray[np.bool_],
        acquired: NDArray[np.bool_],
        is_available: NDArray[np.bool_],
        sources: Sources,
        money: float,
        n_steps: int,
    ) -> Told:
        """Say where one example stands; no step is taken (`n_steps` is 0)."""
        del n_steps
        cannot_be_had = ~self.known_from(is_available | acquired)
        stage = self._stage(known | cannot_be_had)
        outputs = self._outputs(row, known, max(stage, 0))
        why, source = self._next(stage, outputs, acquired, is_available, sources, money)
        is_wanted = np.zeros(acquired.size, dtype=np.bool_)
        if why == WAITING:
            wanted = self._wanted[stage + 1]
            is_wanted[wanted[is_available[wanted]]] = True
        bounds = np.empty((2, 0))
        return Told(NO_LABEL, why, source, True, [], is_wanted, known, outputs[0], bounds)

    def _stage(self, is_settled: NDArray[np.bool_]) -> int:
        """Find the last stage whose features, and those of all earlier ones, are known or cannot be had."""
        stage = -1
        for features in self._features:
            if not is_settled[features].all():
                break
            stage += 1
        return stage

    def _outputs(self, row: NDArray[Any], known: NDArray[np.bool_], stage: int) -> NDArray[np.float64]:
        return self.model.chain.outputs_if_known(stage, row[np.newaxis], known)

    def _next(
        self,
        stage: int,
        outputs: NDArray[np.float64],
        acquired: NDArray[np.bool_],
        is_available: NDArray[np.bool_],
        sources: Sources,
        money: float,
    ) -> tuple[int, int]:
        """Say why it ends here, or which source is next."""
        n_stages = len(self._wanted)
        if stage == n_stages - 1:
            return COMPLETE if is_available.all() else UNAVAILABLE, -1
        wanted = self._wanted[stage + 1]
        open_ones = wanted[is_available[wanted] & ~acquired[wanted]]
        price = float(sources.price[open_ones].sum())
        if stage >= 0 and price > 0:
            uncertainty = float(self.model.objective.uncertainty(outputs)[0])
            # A stage that has begun is paid for in part; that does not change what was worth it.
            if not uncertainty > self.model.thresholds[stage]:
                return STOPPED, -1
            if price > money:
                return TOO_EXPENSIVE, -1
        return WAITING, int(open_ones[0]) if open_ones.size else -1

    def finish(self, row: NDArray[Any], money: float) -> Decision:
        """Decide one example whose values are all at hand."""
        simulation, stage = self._simulate(row[np.newaxis].astype(np.float64), self.is_free, money)
        order = [s for k in range(stage[0] + 1) for s in self._wanted[k].tolist() if not self.is_free[s]]
        outputs = simulation.probabilities
        if outputs is None:
            outputs = np.array([[simulation.label[0], np.nan]])
        why = STOPPED if simulation.decided[0] else TOO_EXPENSIVE
        if stage[0] == len(self._wanted) - 1:
            why = COMPLETE
        told = Told(NO_LABEL, why, -1, True, order, self.is_free, self.is_free, outputs[0], outputs)
        return self.decision(row, told, self.sources, float(simulation.cost[0]), order)

    def decision(
        self, row: NDArray[Any], told: Told, sources: Sources, cost: float, order: list[int]
    ) -> Decision:
        """Put what `run` told into words; `order` is what was paid for."""
        del row
        model, names, outputs = self.model, self.source_names, told.scores
        is_classifier = model.classes is not None
        is_waiting = told.why == WAITING
        n = outputs.size if is_classifier else 1
        return Decision(
            label=model.answers(outputs[np.newaxis])[0],
            probabilities=outputs if is_classifier else None,
            lower=np.zeros(n) if is_classifier else np.full(n, -np.inf),
            upper=np.ones(n) if is_classifier else np.full(n, np.inf),
            cost=cost,
            acquired=tuple([names[s] for s in order]),
            decided=told.why in (STOPPED, COMPLETE),
            reason=_REASONS[told.why],
            next=names[told.source] if is_waiting and told.source >= 0 else None,
            next_cost=float(sources.price[told.source]) if is_waiting and told.source >= 0 else 0.0,
        )

    # --- Many rows ------------------------------------------------------------------------------------------

    def simulate(self, X: Any, at_hand: NDArray[np.bool_], money: float) -> Simulation:
        """Replay rows; see `BudgetPredictor.simulate`."""
        return self._simulate(self.forest.prepare_rows(X), at_hand, money)[0]

    def _simulate(
        self, rows: NDArray[np.float64], at_hand: NDArray[np.bool_], money: float
    ) -> tuple[Simulation, NDArray[np.intp]]:
        model, n_sources = self.model, self.costs.n_sources
        first = max(self._stage(self.known_from(at_hand)), 0)
        price = np.array([self.sources.price[each[~at_hand[each]]].sum() for each in self._wanted])
        price[: first + 1] = 0.0
        thresholds, last = applied(model.thresholds, price, money)
        limited = thresholds.copy()
        limited[last] = np.inf
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
        )
        return simulation, stage
