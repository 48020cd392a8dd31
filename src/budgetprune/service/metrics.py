"""Prometheus metrics of the service."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from budgetprune.service.columns import OTHER, STATUSES, Columns
from budgetprune.service.counts import CONNECTIONS, REPLACED, SERVING, STREAMS, Counts, OwnRow
from budgetprune.service.model_description import ModelDescription


class Metrics:
    """Metrics of one app, in a separate registry.

    An answer is *final* if it has no next source. Only final answers count as decisions, with all sources
    acquired, so a dialogue counts once for any number of steps. The service is stateless, so a repeated last
    step counts twice.

    Counters are numbers in a row of `Counts`, which one thread updates; `collect` adds the rows of all
    workers. The client library's counters take a lock, and a decision updates one counter per source.

    Parameters
    ----------
    description : ModelDescription
    row : OwnRow, optional
        Where to count, as a worker of `run`. None: the app counts alone, and its server is unknown.
    """

    def __init__(self, description: ModelDescription, row: OwnRow | None = None) -> None:
        self.registry = CollectorRegistry()
        self._columns = Columns(description)
        self._has_server = row is not None
        row = row or OwnRow(Counts(1, self._columns.n_columns))
        self._counts, self._row, self.own_row = row.counts, row.numbers, row
        self.registry.register(self)

    def count_answer(self, answer: dict[str, Any]) -> None:
        """Count an answer if it is final."""
        if answer["next"] is None:
            row, columns = self._row, self._columns
            row[columns.reasons[answer["reason"]]] += 1.0
            columns.cost.observe(row, answer["cost"])
            for source in answer["acquired"]:
                row[columns.sources[source]] += 1.0

    def count_line(self, *, is_answered: bool) -> None:
        """Count a row of a stream."""
        self._row[self._columns.lines[is_answered]] += 1.0

    def count_request(self, path: str, status: int, seconds: float) -> None:
        """Count a finished request."""
        row, columns = self._row, self._columns
        endpoint = path if path in columns.seconds else OTHER
        columns.seconds[endpoint].observe(row, seconds)
        row[columns.statuses[endpoint] + STATUSES.index(status)] += 1.0

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics, for the registry."""
        columns, total = self._columns, self._counts.total()
        decisions = CounterMetricFamily("budgetprune_decisions", "Final answers.", labels=["reason"])
        for reason, column in columns.reasons.items():
            if total[column]:
                decisions.add_metric([reason], float(total[column]))
        yield decisions
        cost = HistogramMetricFamily("budgetprune_decision_cost", "Of what was acquired for a final answer.")
        cost.add_metric([], *columns.cost.contents(total))
        yield cost
        sources = CounterMetricFamily(
            "budgetprune_sources_acquired", "Sources acquired for final answers.", labels=["source"]
        )
        for name, column in columns.labelled.items():
            sources.add_metric([name], float(total[column]))
        if columns.has_others:
            sources.add_metric([OTHER], float(total[columns.others]))
        yield sources
        seconds = HistogramMetricFamily(
            "budgetprune_request_seconds",
            "Time from the headers of a request to the end of its response.",
            labels=["endpoint"],
        )
        for endpoint, histogram in columns.seconds.items():
            seconds.add_metric([endpoint], *histogram.contents(total))
        yield seconds
        requests = CounterMetricFamily("budgetprune_requests", "Requests.", labels=["endpoint", "status"])
        for endpoint, first in columns.statuses.items():
            for k in np.flatnonzero(total[first : first + len(STATUSES)]).tolist():
                requests.add_metric([endpoint, str(STATUSES[k])], float(total[first + k]))
        yield requests
        lines = CounterMetricFamily("budgetprune_stream_rows", "Rows of streams.", labels=["result"])
        for is_answered, column in columns.lines.items():
            lines.add_metric(["answered" if is_answered else "refused"], float(total[column]))
        yield lines
        yield GaugeMetricFamily("budgetprune_streams", "Open streams.", total[STREAMS])
        if self._has_server:
            yield GaugeMetricFamily("budgetprune_workers", "Processes that serve.", total[SERVING])
            yield GaugeMetricFamily("budgetprune_connections", "Open connections.", total[CONNECTIONS])
            yield CounterMetricFamily(
                "budgetprune_workers_replaced", "Workers that died and were replaced.", total[REPLACED]
            )

    def text(self) -> bytes:
        """Return all metrics in Prometheus's text format."""
        return generate_latest(self.registry)
