"""Prometheus metrics of the service."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from time import perf_counter
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from budgetprune.service.model_description import ModelDescription

# Sources with their own time series; thousands of series would be too many.
MOST_SOURCES = 200
OTHER = "(other)"

_SHARES_OF_TOTAL = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_SECONDS = (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


class Metrics:
    """Metrics of one app, in a separate registry.

    An answer is *final* if it has no next source. Only final answers count as decisions, with all sources
    acquired, so a dialogue counts once for any number of steps. The service is stateless, so a repeated last
    step counts twice.

    Counters are plain numbers, because one thread updates them; `collect` converts them to metrics. The
    client library's counters take a lock, and a decision updates one counter per source.

    Parameters
    ----------
    description : ModelDescription
    endpoints : sequence of str
        Paths to count separately; other paths are counted together.
    """

    def __init__(self, description: ModelDescription, endpoints: Sequence[str]) -> None:
        self.registry = CollectorRegistry()
        self._reasons: Counter[str] = Counter()
        self._cost = CumulativeHistogram(_cost_buckets(description.total_price))
        priced = [
            name for name, source in description.sources.items() if source.price > 0 and source.features
        ]
        self._labelled = priced[:MOST_SOURCES]
        self._has_others = len(priced) > MOST_SOURCES
        self._sources: Counter[str] = Counter()
        self._seconds = {path: CumulativeHistogram(_SECONDS) for path in (*endpoints, OTHER)}
        self._requests: Counter[tuple[str, int]] = Counter()
        self.registry.register(self)

    def count_answer(self, answer: dict[str, Any]) -> None:
        """Count an answer if it is final."""
        if answer["next"] is None:
            self._reasons[answer["reason"]] += 1
            self._cost.observe(answer["cost"])
            self._sources.update(answer["acquired"])

    def count_request(self, path: str, status: int, seconds: float) -> None:
        """Count a finished request."""
        endpoint = path if path in self._seconds else OTHER
        self._seconds[endpoint].observe(seconds)
        self._requests[endpoint, status] += 1

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics, for the registry."""
        decisions = CounterMetricFamily("budgetprune_decisions", "Final answers.", labels=["reason"])
        for reason, n in self._reasons.items():
            decisions.add_metric([reason], n)
        yield decisions
        cost = HistogramMetricFamily("budgetprune_decision_cost", "Of what was acquired for a final answer.")
        cost.add_metric([], *self._cost.contents())
        yield cost
        sources = CounterMetricFamily(
            "budgetprune_sources_acquired", "Sources acquired for final answers.", labels=["source"]
        )
        for name in self._labelled:
            sources.add_metric([name], self._sources[name])
        if self._has_others:
            sources.add_metric([OTHER], self._sources.total() - sum(self._sources[s] for s in self._labelled))
        yield sources
        seconds = HistogramMetricFamily(
            "budgetprune_request_seconds",
            "Time from the headers of a request to the end of its response.",
            labels=["endpoint"],
        )
        for endpoint, histogram in self._seconds.items():
            seconds.add_metric([endpoint], *histogram.contents())
        yield seconds
        requests = CounterMetricFamily("budgetprune_requests", "Requests.", labels=["endpoint", "status"])
        for (endpoint, status), n in self._requests.items():
            requests.add_metric([endpoint, str(status)], n)
        yield requests

    def text(self) -> bytes:
        """Return all metrics in Prometheus's text format."""
        return generate_latest(self.registry)


class CumulativeHistogram:
    """Histogram with cumulative counts, as in Prometheus."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, number: float) -> None:
        """Count one number."""
        self._counts[bisect_left(self._bounds, number)] += 1
        self._sum += number

    def contents(self) -> tuple[list[tuple[str, float]], float]:
        """Return (upper bound, cumulative count) pairs and the sum of all numbers."""
        names = [*(str(bound) for bound in self._bounds), "+Inf"]
        return list(zip(names, map(float, accumulate(self._counts)), strict=True)), self._sum


class CountRequests:
    """Middleware that records the time and status of every request."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 500  # if no response is sent

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        start = perf_counter()
        try:
            await self._app(scope, receive, noting)
        finally:
            self._metrics.count_request(scope["path"], status, perf_counter() - start)


def _cost_buckets(total: float) -> tuple[float, ...]:
    """Return rounded shares of the total price of all sources."""
    return tuple(sorted({float(f"{share * total:.3g}") for share in _SHARES_OF_TOTAL}))
