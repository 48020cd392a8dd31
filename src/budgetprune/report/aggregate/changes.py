"""Effects of a slightly larger or smaller budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetprune.report.aggregate.outcomes import MOST_NAMED, SourceTable
from budgetprune.report.measure.pruned import ModelResults
from budgetprune.report.measure.results import Results, difference
from budgetprune.report.numbers import SMALL_SHARE, short, short_amount
from budgetprune.report.summary.outcome import SourceShare
from budgetprune.report.summary.pruned import Change, Counting, ExpectedPoint

# Relative change of the budget.
STEP = 0.1


@dataclass(frozen=True, eq=False)
class PathComparison:
    """Points of the path, most expensive first, for comparison with their neighbours.

    Attributes
    ----------
    points : sequence of ModelResults
        From expensive to cheap, all on the same rows.
    position : sequence of int
        Index of each of them among the points of the summary.
    unpruned : ModelResults
        The unpruned ensemble on these rows.
    expected : sequence of ExpectedPoint or None
        Cross-fitted score of each of them; None if there is no validation curve.
    is_refitted : bool
        Whether the delivered model's leaf values differ from those of its pruning on the path.
    sources : SourceTable
    """

    points: Sequence[ModelResults]
    position: Sequence[int]
    unpruned: ModelResults
    expected: Sequence[ExpectedPoint | None]
    is_refitted: bool
    sources: SourceTable

    def changes(self, model: ModelResults, counting: Counting, anchor: int | None) -> tuple[Change, Change]:
        """Return the effects of a larger and of a smaller budget.

        Parameters
        ----------
        model : the point shown
        counting : {"full", "decided"}
        anchor : index in `points` of the same pruning with leaves as grown; None for the unpruned ensemble
        """
        return self._change(model, counting, anchor, 1 + STEP), self._change(
            model, counting, anchor, 1 - STEP
        )

    def _change(self, model: ModelResults, counting: Counting, anchor: int | None, factor: float) -> Change:
        """Compare with the point at a changed budget.

        Costs are compared with those of the point shown. Scores are compared with leaves as grown on both
        sides, so that refitting does not affect the difference.
        """
        results = model.results(counting)
        base = (self.unpruned if anchor is None else self.points[anchor]).results(counting)
        cost = np.array([each.results(counting).mean_cost for each in self.points])
        k, is_within = neighbour(cost, anchor, results.mean_cost, factor)
        other = base if k is None else self.points[k].results(counting)
        gained, gained_error = difference(other, base)
        compares_refitted = model.kind == "delivered" and self.is_refitted
        return Change(
            budget=short_amount(factor * results.mean_cost),
            point=None if k is None else self.position[k],
            is_within=is_within,
            cost=short_amount(other.mean_cost),
            gained=short(gained),
            gained_error=short(gained_error, 3),
            expected=self._expected(k, anchor),
            sources=self._changed_sources(results, other, 1 if factor > 1 else -1),
            gained_to_refitted=other.mean_score - results.mean_score if compares_refitted else None,
        )

    def _expected(self, k: int | None, anchor: int | None) -> float | None:
        """Return the difference of the cross-fitted scores of two points."""
        there = None if k is None else self.expected[k]
        here = None if anchor is None else self.expected[anchor]
        return None if there is None or here is None else short(there.score - here.score, 3)

    def _changed_sources(self, results: Results, other: Results, sign: int) -> tuple[SourceShare, ...]:
        """Return the sources that most rows acquire in addition (sign 1) or no longer (sign -1)."""
        change = sign * (other.share - results.share)
        top = np.argsort(-change, kind="stable")[:MOST_NAMED]
        return self.sources.shares(top[change[top] >= SMALL_SHARE], change)


def neighbour(
    cost: NDArray[np.float64], anchor: int | None, base: float, factor: float
) -> tuple[int | None, bool]:
    """Find the most expensive other point within a changed budget, else the next more expensive.

    Also returns whether the point is within the budget.

    Parameters
    ----------
    cost : costs of the points of a path, from expensive to cheap
    anchor : index of the current point; None for the unpruned ensemble
    base : cost of the current point
    factor : budget relative to `base`
    """
    within = np.flatnonzero(cost <= factor * base * (1 + 1e-9))
    here = -1 if anchor is None else anchor
    if factor > 1:
        larger = within[(within < here) & (cost[within] > base)]
        if larger.size:
            return int(larger[0]), True
        beyond = np.flatnonzero(cost[: max(here, 0)] > base)
        return (int(beyond[-1]), False) if beyond.size else (None, False)
    smaller = within[within > here]
    return (int(smaller[0]), True) if smaller.size else (None, False)
