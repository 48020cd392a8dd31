"""Evaluation of all chains of a staged model on test rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetprune.report.judge import Judge
from budgetprune.report.numbers import short
from budgetprune.report.staged.measure import Followed, Rule, Seen, follow, look
from budgetprune.report.staged.summary import ChainStage
from budgetprune.staged import StagedPredictor


class Survey:
    """Results of all chains and stopping rules.

    The chain in use is evaluated on all rows, the others on a sample.
    """

    def __init__(self, predictor: StagedPredictor, judge: Judge, sample: NDArray[np.intp] | None) -> None:
        self.model, self.max_cost = predictor.model, predictor.max_cost
        self.part = judge if sample is None else judge.part(sample)
        self.own_chain = int(self.model.trade_off.chain[self.model.point])
        own = look(self.model, self.model.chain, judge)
        self.seen: list[Seen] = [
            (own if sample is None else own.part(sample))
            if number == self.own_chain
            else look(self.model, chain, self.part)
            for number, chain in enumerate(self.model.chains)
        ]
        self.own = follow(self.model, self.rule(self.model.point), own)
        self.everything = follow(self.model, self._buy_all(), own)
        self.everything_on_part = (
            self.everything
            if sample is None
            else follow(self.model, self._buy_all(), self.seen[self.own_chain])
        )

    def rule(self, point: int) -> Rule:
        """Return the stopping rule of a point of the curve."""
        curve = self.model.trade_off
        return Rule.of(self.model, int(curve.chain[point]), curve.thresholds[point], self.max_cost)

    def _buy_all(self) -> Rule:
        thresholds = np.full(len(self.model.chain), -np.inf)
        thresholds[-1] = np.inf
        return Rule.of(self.model, self.own_chain, thresholds, self.max_cost)

    def at(self, point: int) -> Followed:
        """Return the results of a point: on all rows for the one in use, else on the sample."""
        if point == self.model.point:
            return self.own
        rule = self.rule(point)
        return follow(self.model, rule, self.seen[rule.chain])

    def describe_chain(self, number: int, place: dict[int, int]) -> tuple[ChainStage, ...]:
        """Return the sources of each stage of a chain, and the score if all rows stop there."""
        rule = Rule.of(self.model, number, np.full(len(self.model.chains[number]), np.inf), None)
        seen = self.own.seen if number == self.own_chain else self.seen[number]
        return tuple(
            ChainStage(
                tuple(place[s] for s in stage.sources),
                short(rule.price[k]),
                short(rule.paid[k]),
                short(seen.quality[:, k].mean()),
            )
            for k, stage in enumerate(self.model.chains[number].stages)
        )
