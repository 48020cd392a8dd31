"""Metrics of several workers add up, and connections are shared."""

from __future__ import annotations

import asyncio
import os
import socket
from itertools import chain
from typing import get_args

import pytest

from budgetprune import InvalidInputError
from budgetprune.service import Limits, ServerOptions, options
from budgetprune.service.accept import Acceptor
from budgetprune.service.columns import REASONS, Columns
from budgetprune.service.connection import SharedState
from budgetprune.service.counts import N_STATES, Counts, OwnRow
from budgetprune.service.documents import Answer
from budgetprune.service.metrics import Metrics
from budgetprune.service.model_description import ModelDescription
from budgetprune.service.processes import nameless_file

from .models import as_answer, predictor, rows

DESCRIPTION = ModelDescription(predictor("classes"))


def lines(metrics: Metrics) -> list[str]:
    return metrics.text().decode().splitlines()


def test_rows_in_shared_memory_add_up():
    n_columns = Columns(DESCRIPTION).n_columns
    memory = nameless_file(bytes(Counts.size_of(2, n_columns)))
    try:
        # Two tables, as in two processes.
        one, other = (Metrics(DESCRIPTION, OwnRow(Counts(2, n_columns, memory), k)) for k in range(2))
    finally:
        os.close(memory)
    answer = as_answer(predictor("classes"), predictor("classes").decide(rows("classes", 1)[0]))
    one.count_answer(answer)
    for _ in range(2):
        other.count_answer(answer)
    one.count_request("/v1/decide", 200, 0.003)
    other.count_request("/v1/decide", 422, 0.3)
    other.count_request("/nowhere", 404, 0.3)
    found = lines(one)
    assert found == lines(other)
    assert f'budgetprune_decisions_total{{reason="{answer["reason"]}"}} 3.0' in found
    assert f"budgetprune_decision_cost_sum {3 * answer['cost']}" in found
    assert f'budgetprune_sources_acquired_total{{source="{answer["acquired"][0]}"}} 3.0' in found
    assert 'budgetprune_request_seconds_count{endpoint="/v1/decide"} 2.0' in found
    assert 'budgetprune_request_seconds_bucket{endpoint="/v1/decide",le="0.005"} 1.0' in found
    for endpoint, status in (("/v1/decide", 200), ("/v1/decide", 422), ("(other)", 404)):
        assert f'budgetprune_requests_total{{endpoint="{endpoint}",status="{status}"}} 1.0' in found


def test_gauges():
    counts = Counts(3, Columns(DESCRIPTION).n_columns)
    workers = [OwnRow(counts, k) for k in range(3)]
    for n, worker in enumerate(workers):
        worker.note_connections(n)
    workers[1].note_serving(True)
    workers[2].note_serving(True)
    found = lines(Metrics(DESCRIPTION, workers[0]))
    assert "budgetprune_workers 2.0" in found
    assert "budgetprune_connections 3.0" in found
    assert not any("workers" in line for line in lines(Metrics(DESCRIPTION)))  # its server is unknown
    # The first worker does not serve, so it gets no connections.
    assert [worker.is_busier(1) for worker in workers] == [False, False, False]
    assert [worker.is_busier(2) for worker in workers] == [True, False, True]


def test_every_reason_has_a_column():
    assert get_args(Answer.model_fields["reason"].annotation) == REASONS


# --- Connections --------------------------------------------------------------------------------------------


def connect_to(n_clients: int, n_acceptors: int, serving: list[bool]) -> list[int]:
    """Connect to acceptors of one socket, in one event loop; return the connections that each has got."""
    counts = Counts(len(serving), N_STATES)
    accepted: list[list[asyncio.BaseTransport]] = [[] for _ in range(n_acceptors)]

    class Protocol(asyncio.Protocol):
        def __init__(self, k):
            self.connection_made = accepted[k].append

    def acceptor_of(k: int, listener: socket.socket) -> Acceptor:
        shared = SharedState(Limits(), OwnRow(counts, k))
        return Acceptor(listener.dup(), lambda: Protocol(k), accepted[k], shared, 100)

    async def go(listener: socket.socket) -> None:
        acceptors = [acceptor_of(k, listener) for k in range(n_acceptors)]
        clients = [socket.create_connection(listener.getsockname()) for _ in range(n_clients)]
        while sum(map(len, accepted)) < n_clients:
            await asyncio.sleep(0.001)
        for acceptor in acceptors:
            acceptor.leave()
        for transport in chain(*accepted):
            transport.abort()
        for client in clients:
            client.close()
        await asyncio.sleep(0)

    for k, serves in enumerate(serving):
        OwnRow(counts, k).note_serving(serves)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        asyncio.run(go(listener))
    return [len(each) for each in accepted]


def test_connections_are_shared():
    found = connect_to(30, 3, [True, True, True])
    assert max(found) - min(found) <= 3


def test_connections_that_the_others_leave_are_accepted():
    """The other worker serves, but is suspended."""
    assert connect_to(50, 1, [True, True]) == [50]


# --- Options ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("workers", "words"),
    [
        (0, "workers must be at least 1, not 0"),
        (-2, "workers must be at least 1, not -2"),
        ("two", "workers must be a whole number of processes, not 'two'"),
        (1.5, "workers must be a whole number of processes, not 1.5"),
        (True, "workers must be a whole number of processes, not True"),
        (9, "workers must be at most 8 on this machine, not 9: it has 2 processors"),
        (6, "there are 6 workers, but the limit on connections allows only 5"),
    ],
)
def test_workers_that_make_no_sense(monkeypatch, workers, words):
    monkeypatch.setattr(options.os, "cpu_count", lambda: 2)
    with pytest.raises(InvalidInputError, match=words):
        ServerOptions(workers=workers, limits=Limits(connections=5))


def test_on_windows_there_is_one_worker(monkeypatch):
    monkeypatch.setattr(options.sys, "platform", "win32")
    assert ServerOptions(workers=1).workers == 1
    with pytest.raises(InvalidInputError, match="workers must be 1 on Windows, not 2"):
        ServerOptions(workers=2)


def test_workers_share_the_connections():
    several = ServerOptions(workers=4, limits=Limits(connections=10, body=77))
    limits = [several.of_worker(k).limits for k in range(4)]
    assert [limit.connections for limit in limits] == [3, 3, 2, 2]
    assert {limit.body for limit in limits} == {77}
    assert sum(ServerOptions(workers=3).of_worker(k).limits.connections for k in range(3)) == 1000
