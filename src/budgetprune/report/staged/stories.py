"""Example rows, and how a staged model decides them stage by stage."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetprune.report.numbers import short
from budgetprune.report.staged.measure import Followed
from budgetprune.report.staged.summary import StagedStory, StoryStep
from budgetprune.report.staged.words import StagedLanguage
from budgetprune.report.stories import Places, value_text, values_of, values_text
from budgetprune.staged.prediction import StagedEngine


def choose_rows(own: Followed, everything: Followed, n_stories: int) -> list[tuple[str, int]]:
    """Choose rows that stop early, midway and late, and wrong ones, each with a title."""
    quality, stage = own.taken.quality, own.stage
    uncertainty = own.at_end(own.seen.uncertainty)
    is_classifier = own.seen.judge.classes is not None
    # For regression, the better half counts as right.
    is_good = quality == 1 if is_classifier else quality >= np.median(quality)
    first, last = int(stage.min()), int(stage.max())
    avoided = ~is_good & (everything.taken.quality > quality)
    is_between = is_good & (stage > first) & (stage < last)
    middle = np.abs(stage - (first + last) / 2)
    wanted = [
        ("One that stops early", is_good & (stage == first)),
        ("One that goes on to the middle", is_between & (middle == middle[is_between].min(initial=np.inf))),
        ("One that goes on to the end", is_good & (stage == last) & (last > first)),
        ("A mistake" if is_classifier else "One that is far off", ~is_good),
        ("A mistake that buying everything avoids" if is_classifier else "One that more would help", avoided),
    ]
    chosen: dict[int, str] = {}
    for title, is_candidate in wanted[:n_stories]:
        candidates = np.setdiff1d(np.flatnonzero(is_candidate), list(chosen))
        if candidates.size:
            # Median uncertainty.
            order = np.argsort(uncertainty[candidates], kind="stable")
            chosen[int(candidates[order[order.size // 2]])] = title
    return [(title, row) for row, title in chosen.items()]


class Teller:
    """Describe how single rows are decided.

    Parameters
    ----------
    engine : StagedEngine
        Engine of the delivered model.
    own, everything : Followed
        All rows with its stopping rule, and with all sources.
    place : mapping from sources to their indices in the summary
    language : StagedLanguage
    """

    def __init__(
        self,
        engine: StagedEngine,
        own: Followed,
        everything: Followed,
        place: Places,
        language: StagedLanguage,
    ) -> None:
        self.engine, self.own, self.everything = engine, own, everything
        self.place, self.language = place, language

    def __call__(self, title: str, row: int) -> StagedStory:
        """Describe one row, given its index."""
        own, judge = self.own, self.own.seen.judge
        end = int(own.stage[row])
        cost = float(own.rule.paid[end])
        full_answer = value_text(self.everything.taken.answer[row])
        return StagedStory(
            title=title,
            row=row + 1,
            truth=value_text(judge.truth_of(row)),
            answer=value_text(own.taken.answer[row]),
            is_right=None if judge.classes is None else bool(own.taken.quality[row] == 1),
            cost=short(cost),
            steps=self._steps(row, end),
            ending=self.language.with_everything(full_answer, cost, float(self.everything.taken.cost[row])),
        )

    def _steps(self, row: int, end: int) -> tuple[StoryStep, ...]:
        rule, seen, chain = self.own.rule, self.own.seen, self.engine.model.chain
        rows: NDArray[np.float64] = seen.judge.rows[[row]]
        values, scores, steps = values_of(self.engine.forest, rows[0]), None, []
        names = list(values)
        for k in range(end + 1):
            scores = chain.advance(k, rows, scores)
            outputs = chain.outputs(k, rows, scores)[0]
            is_classifier = seen.judge.classes is not None
            threshold, uncertainty = float(rule.thresholds[k]), float(seen.uncertainty[row, k])
            answer = seen.answer[row, k]
            steps.append(
                StoryStep(
                    sources=tuple(self.place[s] for s in chain.stages[k].sources),
                    # A value is known once all sources that it needs are acquired.
                    values=values_text(values, [names[i] for i in self.engine.features_of_stage(k)]),
                    cost=short(rule.paid[k]),
                    answer=value_text(answer),
                    probability=short(outputs[seen.judge.classes == answer][0]) if is_classifier else None,
                    expected_error=None if is_classifier else short(np.sqrt(outputs[1])),
                    uncertainty=short(uncertainty),
                    threshold=short(threshold) if np.isfinite(threshold) else None,
                    goes_on=k < end,
                    why=self.language.why(rule, k, uncertainty),
                )
            )
        return tuple(steps)
