"""The points of a staged model, from cheap to expensive."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetprune.report.numbers import short
from budgetprune.report.staged.measure import Followed
from budgetprune.report.staged.outcomes import gained_by, outcome, stage_outcomes
from budgetprune.report.staged.summary import Kind, StagedPoint, StagedWords
from budgetprune.report.staged.survey import Survey
from budgetprune.report.staged.words import StagedLanguage
from budgetprune.report.wishes import Progress
from budgetprune.selection import evenly_spaced
from budgetprune.staged.model import StagedModel

MOST_POINTS = 80


@dataclass(frozen=True, eq=False)
class Points:
    """Describe points of the curve.

    Attributes
    ----------
    survey : Survey
    language : StagedLanguage
    listed : int array
        Sources shown.
    has_scores : bool
        Whether the cross-fitted scores use the metric of the report.
    """

    survey: Survey
    language: StagedLanguage
    listed: NDArray[np.intp]
    has_scores: bool

    def all(self, progress: Progress) -> tuple[StagedPoint, ...]:
        """Describe points evenly spaced in cost, including the one in use; all sources last."""
        model = self.survey.model
        shown = np.union1d(evenly_spaced(model.trade_off.cost, MOST_POINTS - 1), [model.point]).tolist()
        made = []
        for n, point in enumerate(shown):
            made.append(self._of_curve(point))
            progress(n + 1, len(shown) + 1)
        made.append(self._everything())
        progress(len(shown) + 1, len(shown) + 1)
        return tuple(made)

    def _of_curve(self, point: int) -> StagedPoint:
        survey, model = self.survey, self.survey.model
        curve, is_own = model.trade_off, point == model.point
        followed = survey.at(point)
        everything = survey.everything if is_own else survey.everything_on_part
        kind: Kind = "delivered" if is_own else "point"
        name = "Your model" if is_own else f"Point {point + 1} of {len(curve)}"
        budget = budget_of(model, point)
        words = self._words(kind, name, followed, everything, point, budget)
        return StagedPoint(
            kind=kind,
            name=name,
            chain=followed.rule.chain,
            lam=float(curve.lam[point]),
            budget=budget,
            expected_cost=short(curve.cost[point]),
            expected_score=short(curve.score[point]) if self.has_scores else None,
            expected_score_std=short(curve.score_std[point]) if self.has_scores else None,
            n_rows=followed.stage.size,
            decided=outcome(followed, everything, words, model.costs.price, self.listed),
            stages=stage_outcomes(followed, curve.stops[point], self.language),
        )

    def _everything(self) -> StagedPoint:
        followed, name = self.survey.everything, f"All {self.language.noun}"
        words = self._words("everything", name, followed, followed, None, None)
        return StagedPoint(
            kind="everything",
            name=name,
            chain=followed.rule.chain,
            lam=None,
            budget=None,
            expected_cost=None,
            expected_score=None,
            expected_score_std=None,
            n_rows=followed.stage.size,
            decided=outcome(followed, followed, words, self.survey.model.costs.price, self.listed),
            stages=stage_outcomes(followed, None, self.language),
        )

    def _words(
        self,
        kind: Kind,
        name: str,
        followed: Followed,
        everything: Followed,
        point: int | None,
        budget: str | None,
    ) -> StagedWords:
        say, model = self.language, self.survey.model
        lam = None if point is None else float(model.trade_off.lam[point])
        is_best = say.loss_kind == "cost" and point == model.best
        judge, answer = followed.seen.judge, followed.taken.answer
        payable = model.chains[followed.rule.chain].stages[: followed.rule.last + 1]
        n_in_stages = sum(len(stage.sources) for stage in payable)
        return StagedWords(
            value=say.value(name, followed.taken),
            verdict=say.staged_verdict(followed, everything, *gained_by(followed, everything)),
            stages=say.staged_stages(followed),
            next=say.staged_next(followed.rule, lam, is_cheapest_in_all=is_best),
            bought=say.staged_bought(followed, model.costs.price, n_in_stages),
            wrong=say.staged_wrong(followed, judge.confusion(answer), judge.mean_off(answer)),
            use=say.use(kind, budget),
            command="" if budget is None else f"budgetprune rebudget MODEL --budget {budget} --out OTHER",
        )


def budget_of(model: StagedModel, point: int) -> str | None:
    """Find a budget with which `budgetprune rebudget` chooses a point; None if there is none."""
    from budgetprune.workflow.making import rounded_up

    there = model.at(point)
    if point > model.best or not there.trees(there.n_reachable).n_splits:
        return None
    cost = model.cost(point)
    texts = (rounded_up(cost), repr(cost))
    return next((text for text in texts if model.trade_off.within(float(text)) == point), None)
