"""What a service counts, for Prometheus."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from budgetprune.service._catalogue import Catalogue

# A time series for each source is fine for a price list, and too much for ten thousand columns.
MOST_SOURCES = 200
OTHER = "(other)"

_SHARES_OF_TOTAL = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_SECONDS = (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


class Metrics:
    """Counters of one app, in a registry of its own.

    A *final* answer is one with which the dialogue ends: nothing is next. Only those count as decisions, with
    all that was acquired on the way, so that a dialogue counts once however many steps it had. (Nothing is
    remembered: whoever sends the last step twice is counted twice.)

    Parameters
    ----------
    catalogue : Catalogue
    endpoints : paths; all others are counted together
    """

    def __init__(self, catalogue: Catalogue, endpoints: tuple[str, ...]) -> None:
        self.registry = CollectorRegistry()
        self._decisions = Counter(
            "budgetprune_decisions", "Final answers, by reason.", ["reason"], registry=self.registry
        )
        self._cost = Histogram(
            "budgetprune_decision_cost",
            "Cost of what was acquired for a final answer.",
            buckets=_cost_buckets(catalogue.total_price),
            registry=self.registry,
        )
        self._sources = Counter(
            "budgetprune_sources_acquired",
            "Sources that were acquired for final answers.",
            ["source"],
            registry=self.registry,
        )
        self._seconds = Histogram(
            "budgetprune_request_seconds",
            "Time from the head of a request to the end of its answer, by endpoint.",
            ["endpoint"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._requests = Counter(
            "budgetprune_requests",
            "Requests, by endpoint and status.",
            ["endpoint", "status"],
            registry=self.registry,
        )
        priced = [name for name, source in catalogue.sources.items() if source.price > 0 and source.features]
        self._by_source = {name: self._sources.labels(name) for name in priced[:MOST_SOURCES]}
        self._other_source = self._sources.labels(OTHER) if len(priced) > MOST_SOURCES else None
        self._by_endpoint = {path: self._seconds.labels(path) for path in (*endpoints, OTHER)}

    def count_answer(self, answer: dict[str, Any]) -> None:
        """Count an answer, if it is final."""
        if answer["next"] is not None:
            return
        self._decisions.labels(answer["reason"]).inc()
        self._cost.observe(answer["cost"])
        for name in answer["acquired"]:
            counter = self._by_source.get(name, self._other_source)
            if counter is not None:
                counter.inc()

    def count_request(self, path: str, status: int, seconds: float) -> None:
        """Count a request that is over."""
        endpoint = path if path in self._by_endpoint else OTHER
        self._by_endpoint[endpoint].observe(seconds)
        self._requests.labels(endpoint, str(status)).inc()

    def text(self) -> bytes:
        """All counters, in the format that Prometheus reads."""
        return generate_latest(self.registry)


class CountRequests:
    """Middleware that times every request and notes how it ended."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 500  # if nothing is sent at all

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
    """Shares of what all sources together cost, rounded to be readable."""
    return tuple(sorted({float(f"{share * total:.3g}") for share in _SHARES_OF_TOTAL}))
