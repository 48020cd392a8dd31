"""Create an `Outcome` for each point and way to count costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.report.judge import Judge
from budgetprune.report.measure import Measured, Taken
from budgetprune.report.numbers import nice, short
from budgetprune.report.summary import Bars, Change, Counting, Expected, Outcome, Words
from budgetprune.report.words import Language

N_BARS = 20
# Finest resolution of prices.
FINEST = 1e-3
# Outliers: at most this share of the rows, costing more than this multiple of the others.
MOST_BEYOND, FAR = 0.02, 2.0
STEP = 0.1


@dataclass(frozen=True, eq=False)
class Along:
    """Points of the path, most expensive first, for comparison with their neighbours.

    Attributes
    ----------
    path : sequence of Measured
        From expensive to cheap, all on the same rows.
    position : sequence of int
        Index of each of them among the points of the summary.
    whole : Measured
        The unpruned ensemble on these rows.
    expected : Expected or None
    price : float64 array of shape (n_sources,)
    listed : int array
        Sources shown.
    is_refitted : bool
        Whether the delivered model's leaf values differ from those of its pruning on the path.
    language : Language
    """

    path: Sequence[Measured]
    position: Sequence[int]
    whole: Measured
    expected: Expected | None
    price: NDArray[np.float64]
    listed: NDArray[np.intp]
    is_refitted: bool
    language: Language

    def outcome(
        self, name: str, measured: Measured, counting: Counting, whole: Measured, anchor: int | None
    ) -> Outcome:
        """Describe one point in numbers and sentences.

        Parameters
        ----------
        name : name of the point
        measured : Measured
        counting : {"full", "decided"}
        whole : the unpruned ensemble on the rows of `measured`
        anchor : index in `path` of the same pruning with leaves as grown; None for the unpruned ensemble
        """
        taken, judge, say = measured.taken(counting), measured.judge, self.language
        gained, gained_error = difference(taken, whole.full)
        confusion, mean_off = judge.confusion(taken.answer), judge.mean_off(taken.answer)
        more, words_more = self._change(measured, counting, anchor, 1 + STEP)
        less, words_less = self._change(measured, counting, anchor, 1 - STEP)
        return Outcome(
            **figures(taken, whole.full, judge, self.price, self.listed),
            more=more,
            less=less,
            words=Words(
                value=say.value(name, taken),
                verdict=say.verdict(measured.kind, counting, taken, whole.full, gained, gained_error),
                spread=say.spread(taken),
                bought=say.bought(taken, whole.full, self.price),
                wrong=say.wrong(taken, confusion, mean_off),
                more=words_more,
                less=words_less,
            ),
        )

    def _change(
        self, measured: Measured, counting: Counting, anchor: int | None, factor: float
    ) -> tuple[Change, str]:
        """Compare with the point at a slightly larger or smaller budget.

        Costs are compared with those of the point shown. Scores are compared with leaves as grown on both
        sides, so that refitting does not affect the difference.
        """
        taken = measured.taken(counting)
        base = (self.whole if anchor is None else self.path[anchor]).taken(counting)
        cost = np.array([each.taken(counting).mean_cost for each in self.path])
        k, is_within = neighbour(cost, anchor, taken.mean_cost, factor)
        other = base if k is None else self.path[k].taken(counting)
        gained, gained_error = difference(other, base)
        change = Change(
            budget=short(factor * taken.mean_cost),
            point=None if k is None else self.position[k],
            is_within=is_within,
            cost=short(other.mean_cost),
            gained=short(gained),
            gained_error=short(gained_error, 3),
            expected=None if k is None else self._expected(taken.mean_cost, other.mean_cost, counting),
        )
        is_refitted = measured.kind == "delivered" and self.is_refitted
        words = self.language.change(
            change,
            taken.mean_cost,
            factor > 1,
            other.share - taken.share,
            float(other.quality.mean() - taken.quality.mean()) if is_refitted else None,
        )
        return change, words

    def _expected(self, cost: float, other_cost: float, counting: Counting) -> float | None:
        """Return the change in score on the validation curve."""
        if self.expected is None:
            return None
        costs = self.expected.full_cost if counting == "full" else self.expected.cost
        if not costs:
            return None
        # Stored from expensive to cheap; interpolation needs increasing costs.
        now, then = np.interp([cost, other_cost], costs[::-1], self.expected.score[::-1])
        return short(then - now, 3)


def figures(
    taken: Taken, whole: Taken, judge: Judge, price: NDArray[np.float64], listed: NDArray[np.intp]
) -> dict[str, Any]:
    """Return the fields that the outcomes of all models share.

    Parameters
    ----------
    taken : Taken
    whole : reference model on the same rows
    judge : Judge
        The rows.
    price : float64 array of shape (n_sources,)
    listed : int array
        Sources shown.
    """
    gained, gained_error = difference(taken, whole)
    confusion, mean_off = judge.confusion(taken.answer), judge.mean_off(taken.answer)
    median, ninetieth = np.quantile(taken.cost, [0.5, 0.9], method="inverted_cdf")
    money = taken.share * price
    return {
        "cost": short(taken.mean_cost),
        "median": short(median),
        "ninetieth": short(ninetieth),
        "largest": short(taken.cost.max()),
        "bars": bars(taken.cost),
        "n_bought": short(taken.share.sum()),
        "of_rows": tuple(short(part, 3) for part in taken.share[listed]),
        "of_money": tuple(
            short(part, 3) for part in [*money[listed], max(money.sum() - money[listed].sum(), 0.0)]
        ),
        "score": short(taken.quality.mean()),
        "score_error": short(_standard_error(taken.quality), 3),
        "gained": short(gained),
        "gained_error": short(gained_error, 3),
        "n_wrong": None if confusion is None else round(float((1 - taken.quality).sum())),
        "mean_off": None if mean_off is None else short(mean_off),
        "confusion": confusion,
        "residuals": judge.residuals(taken.answer),
        "undecided": short(taken.undecided, 3),
    }


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
        dearer = within[(within < here) & (cost[within] > base)]
        if dearer.size:
            return int(dearer[0]), True
        beyond = np.flatnonzero(cost[: max(here, 0)] > base)
        return (int(beyond[-1]), False) if beyond.size else (None, False)
    cheaper = within[within > here]
    return (int(cheaper[0]), True) if cheaper.size else (None, False)


def difference(taken: Taken, other: Taken) -> tuple[float, float]:
    """Return the mean difference in score on the same rows, and its standard error."""
    better = taken.quality - other.quality
    return float(better.mean()), _standard_error(better)


def _standard_error(quality: NDArray[np.float64]) -> float:
    return float(quality.std() / np.sqrt(quality.size))


def bars(cost: NDArray[np.float64]) -> Bars:
    """Return a histogram of cost: a bar per cost if there are few, else bars of equal round width.

    Outliers are collected in the last bar, so that they do not compress the others.
    """
    largest = float(cost.max())
    if largest == 0:
        return Bars((0.0,), 1.0, (1.0,), False)
    usual = float(np.quantile(cost, 1 - MOST_BEYOND, method="inverted_cdf"))
    is_open = FAR * usual < largest and usual > 0
    # Sums of a few prices are multiples of a common step, which is the bar width then.
    multiples = np.round(np.unique(cost) / FINEST)
    step = float(np.gcd.reduce(multiples.astype(np.int64))) * FINEST if multiples[-1] < 2**53 else 0.0
    n_steps = np.round(cost / step) if step > 0 else cost
    reach = usual if is_open else largest
    if 0 < reach <= 2 * N_BARS * step and np.allclose(n_steps * step, cost, rtol=0, atol=1e-3 * step):
        place, width, first = n_steps, step, -0.5
    else:
        width, first = nice(reach / N_BARS), 0.0
        place = np.floor(cost / width)
    if is_open:
        place = np.minimum(place, np.max(place[cost <= usual]) + 1)
    count = np.bincount(place.astype(np.int64))
    return Bars(
        tuple(short(width * (first + k)) for k in range(count.size)),
        short(width),
        tuple(short(part, 4) for part in (count / cost.size).tolist()),
        is_open,
    )
