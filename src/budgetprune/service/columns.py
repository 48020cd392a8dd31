"""Columns of `Counts` that the metrics take."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from budgetprune.service.counts import N_STATES
from budgetprune.service.endpoints import ENDPOINTS
from budgetprune.service.model_description import ModelDescription

# Sources with their own time series; thousands of series would be too many.
MOST_SOURCES = 200
OTHER = "(other)"
REASONS = ("certain", "slack", "stopped", "complete", "waiting", "max_cost", "unavailable")

_SHARES_OF_TOTAL = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_SECONDS = (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
STATUSES = range(100, 600)


class Columns:
    """Columns of `Counts` that the metrics of a model take. All workers compute the same.

    Parameters
    ----------
    description : ModelDescription
    """

    def __init__(self, description: ModelDescription) -> None:
        self.n_columns = N_STATES
        self.reasons = {reason: self._take(1) for reason in REASONS}
        self.cost = self._take_histogram(_cost_buckets(description.total_price))
        priced = [
            name for name, source in description.sources.items() if source.price > 0 and source.features
        ]
        self.labelled = {name: self._take(1) for name in priced[:MOST_SOURCES]}
        self.others = self._take(1)
        self.has_others = len(priced) > MOST_SOURCES
        self.sources = dict.fromkeys(description.sources, self.others) | self.labelled
        self.lines = {is_answered: self._take(1) for is_answered in (True, False)}
        self.seconds = {path: self._take_histogram(_SECONDS) for path in (*ENDPOINTS, OTHER)}
        self.statuses = {path: self._take(len(STATUSES)) for path in self.seconds}

    def _take(self, n: int) -> int:
        first = self.n_columns
        self.n_columns += n
        return first

    def _take_histogram(self, bounds: Sequence[float]) -> HistogramColumns:
        return HistogramColumns(self._take(len(bounds) + 2), bounds)


class HistogramColumns:
    """Columns of a histogram: a count per bucket, and the sum of all numbers."""

    def __init__(self, first: int, bounds: Sequence[float]) -> None:
        self._bounds, self._first, self._sum = bounds, first, first + len(bounds) + 1

    def observe(self, row: memoryview[float], number: float) -> None:
        """Count one number."""
        row[self._first + bisect_left(self._bounds, number)] += 1.0
        row[self._sum] += number

    def contents(self, total: NDArray[np.float64]) -> tuple[list[tuple[str, float]], float]:
        """Return (upper bound, cumulative count) pairs and the sum of all numbers, as in Prometheus."""
        names = [*(str(bound) for bound in self._bounds), "+Inf"]
        counts = accumulate(total[self._first : self._sum].tolist())
        return list(zip(names, counts, strict=True)), float(total[self._sum])


def _cost_buckets(total: float) -> tuple[float, ...]:
    """Return rounded shares of the total price of all sources."""
    return tuple(sorted({float(f"{share * total:.3g}") for share in _SHARES_OF_TOTAL}))
