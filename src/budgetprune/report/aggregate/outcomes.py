"""Outcomes: costs and errors of one model, aggregated over rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.report.aggregate.classes import class_measures
from budgetprune.report.measure.results import Results, difference, standard_error
from budgetprune.report.measure.rows import EvaluationRows
from budgetprune.report.measure.values import plain_value
from budgetprune.report.numbers import nice
from budgetprune.report.summary.outcome import CostHistogram, OtherSources, Reference, SourceLine, SourceShare
from budgetprune.report.summary.values import Value

N_BARS = 20
# Finest resolution of prices.
FINEST = 1e-3
# Outliers: at most this share of the rows, costing more than this multiple of the others.
MOST_BEYOND, FAR = 0.02, 2.0
# Number of sources named in a sentence, and with a line of their own.
MOST_NAMED = 3
MOST_LISTED = 30


@dataclass(frozen=True, eq=False)
class SourceTable:
    """Sources of a report.

    Attributes
    ----------
    names : tuple of str
        All sources.
    price : float64 array of shape (n_sources,)
    order : int array
        Sources with a price, in the order of the summary's list.
    """

    names: tuple[str, ...]
    price: NDArray[np.float64]
    order: NDArray[np.intp]

    def shares(self, order: NDArray[np.intp], share: NDArray[np.float64]) -> tuple[SourceShare, ...]:
        """Return the names and shares of some sources."""
        return tuple(SourceShare(self.names[s], float(share[s])) for s in order.tolist())

    def lines(
        self, share: NDArray[np.float64], reference: NDArray[np.float64]
    ) -> tuple[tuple[SourceLine, ...], OtherSources]:
        """Select the sources that most rows acquire, or that make up most of the cost; collect the others.

        Parameters
        ----------
        share, reference : shares of the rows that acquire each source, for a model and for its reference
        """
        share, reference, price = share[self.order], reference[self.order], self.price[self.order]
        cost, reference_cost = share * price, reference * price
        rank = np.max([share, _parts(cost), _parts(reference_cost)], axis=0, initial=0)
        top = np.lexsort((-reference_cost, -cost, -rank))[:MOST_LISTED]
        is_listed = np.zeros(share.size, dtype=np.bool_)
        is_listed[top] = rank[top] > 0
        columns = (share, cost, reference, reference_cost)
        lines = tuple(
            SourceLine(i, *[float(column[i]) for column in columns])
            for i in np.flatnonzero(is_listed).tolist()
        )
        others = OtherSources(
            number=int(np.count_nonzero(~is_listed)),
            largest_share=float(share[~is_listed].max(initial=0)),
            cost=float(cost[~is_listed].sum()),
            reference_cost=float(reference_cost[~is_listed].sum()),
        )
        return lines, others


def _parts(cost: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the parts of a total cost."""
    total = float(cost.sum())
    return cost / total if total > 0 else cost


def outcome_fields(
    results: Results, reference: Results, rows: EvaluationRows, sources: SourceTable
) -> dict[str, Any]:
    """Return the fields of `Outcome`.

    Parameters
    ----------
    results : Results
    reference : Results
        The reference model on the same rows, with costs counted in the same way.
    rows : EvaluationRows
    sources : SourceTable
    """
    gained, gained_error = difference(results, reference)
    confusion = rows.confusion(results.answer)
    cost = results.cost
    lines, others = sources.lines(results.share, reference.share)
    median, ninetieth = np.quantile(cost, [0.5, 0.9], method="inverted_cdf").tolist()
    by_source = results.share * sources.price
    return {
        "cost": results.mean_cost,
        "smallest": float(cost.min()),
        "median": median,
        "ninetieth": ninetieth,
        "largest": float(cost.max()),
        "free": float(np.mean(cost == 0)),
        "costs": histogram(cost),
        "n_acquired": float(results.share.sum()),
        "lines": lines,
        "others": others,
        "top_sources": _top_sources(by_source, sources),
        "score": results.mean_score,
        "score_error": standard_error(results.score),
        "gained": gained,
        "gained_error": gained_error,
        "n_wrong": None if confusion is None else round(float((1 - results.score).sum())),
        "mean_error": rows.mean_absolute_error(results.answer),
        "error_cost": rows.error_cost(results.answer),
        "by_class": class_measures(rows, results.answer),
        "probabilities": results.probabilities,
        "confusion": confusion,
        "residuals": rows.residuals(results.answer),
        "undecided": results.undecided,
        "only_answer": _only_answer(results),
        "reference": Reference(reference.mean_cost, reference.mean_score, float(reference.share.sum())),
    }


def _only_answer(results: Results) -> Value:
    """Return the answer to all rows if it is the same; else None."""
    first = results.answer[0]
    return plain_value(first) if np.all(results.answer == first) else None


def _top_sources(cost: NDArray[np.float64], sources: SourceTable) -> tuple[SourceShare, ...]:
    """Return the sources with the highest cost, and their shares of it."""
    if not cost.sum() > 0:
        return ()
    top = np.argsort(-cost, kind="stable")[:MOST_NAMED]
    return sources.shares(top[cost[top] > 0], cost / cost.sum())


def histogram(cost: NDArray[np.float64]) -> CostHistogram:
    """Return a histogram of cost: a bar per cost if there are few, else bars of equal round width.

    Outliers are collected in the last bar, so that they do not compress the others.
    """
    largest = float(cost.max())
    if largest == 0:
        return CostHistogram((0.0,), 1.0, (1.0,), False)
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
    left = tuple(width * (first + k) for k in range(count.size))
    return CostHistogram(left, width, tuple((count / cost.size).tolist()), is_open)
