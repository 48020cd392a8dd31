"""Small requests that have arrived are answered at once, with the same bytes as those of the app."""

from __future__ import annotations

import asyncio
import json
import random
import re
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from budgetprune import BudgetPredictor
from budgetprune.service import Limits
from budgetprune.service.app import build_application
from budgetprune.service.columns import Columns
from budgetprune.service.connection import Connection, SharedState
from budgetprune.service.counts import Counts, OwnRow
from budgetprune.service.decisions import SMALL
from budgetprune.service.hosts import Hosts
from budgetprune.service.model_description import ModelDescription

from .models import predictor, rows
from .raw import HEALTH, request

PREDICTOR = predictor("classes")
BODY = json.dumps({"values": rows("classes", 1)[0]}).encode()
DECIDE = request("POST", "/v1/decide", BODY)
STEP = request("POST", "/v1/step", b'{"values": {"x0": 1}}')
LARGE = json.dumps({"values": rows("classes", 1)[0], "max_cost": None}).encode() + b" " * SMALL
CHUNKED = (
    b"POST /v1/step HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    b'transfer-encoding: chunked\r\n\r\n5\r\n{"val\r\na\r\nues": {}} \r\n0\r\nhost: evil.example\r\n\r\n'
)
EARLY = (DECIDE, STEP, CHUNKED)
NOT_EARLY = (
    HEALTH,
    request("GET", "/v1/decide"),
    request("POST", "/v1/decide?x=1", BODY),
    request("POST", "/v1/decide", LARGE),
    request("POST", "/v1/batch", b'{"rows": [{"values": {}}]}'),
    request("POST", "/v1/decide", b'{"values": {}}'),
    request("POST", "/v1/step", b'{"values": {"nose": 1}}'),
    request("POST", "/v1/step", b"{"),
    request("POST", "/v1/step", BODY, host="evil.example"),
    request("POST", "/v1/step", headers=("content-length: 2", "content-type: text/plain")) + b"{}",
    request("POST", "/v1/step", BODY, headers=("expect: 100-continue",)),
    request("POST", "/nowhere", BODY),
)
LAST = (
    request("POST", "/v1/decide", BODY, headers=("connection: close",)),
    DECIDE.replace(b"HTTP/1.1", b"HTTP/1.0"),
    b"no HTTP\r\n\r\n",
    DECIDE[:-1] + b"\x00" * 20,
)


class Transport(asyncio.Transport):
    """Records what is written."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 2), "sockname": ("127.0.0.1", 1)})
        self.written, self.is_closed = b"", False

    def write(self, data: Any) -> None:
        assert not self.is_closed
        self.written += data

    def write_eof(self) -> None: ...

    def is_closing(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        self.is_closed = True

    abort = close

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


class Server:
    """One connection, whose data is given in parts."""

    def __init__(self, *, is_early: bool) -> None:
        self.row = OwnRow(Counts(1, Columns(ModelDescription(PREDICTOR)).n_columns))
        self.app, decisions = build_application(PREDICTOR, Limits(), Hosts("127.0.0.1"), self.row)
        self.n_early = 0

        def now(url, headers, body, peer):
            content = decisions.now(url, headers, body, peer)
            self.n_early += content is not None
            return content

        self.shared = SharedState(Limits(), self.row, *([now] if is_early else []))

    def converse(self, *parts: bytes) -> tuple[bytes, bool]:
        """Return what is written, and whether the connection is closed."""
        return asyncio.run(self._converse(parts))

    async def _converse(self, parts: tuple[bytes, ...]) -> tuple[bytes, bool]:
        config = uvicorn.Config(self.app, log_config=None, access_log=False, lifespan="off", ws="none")
        config.load()
        state = ServerState()
        state.default_headers = [(b"date", b"today")]
        transport = Transport()
        connection = Connection(config, state, self.shared)
        connection.connection_made(transport)
        for part in parts:
            if not transport.is_closed:
                connection.data_received(part)
        while connection._unanswered and connection._unanswered[0] not in _unfinished(connection):
            await asyncio.sleep(0)
        found = transport.written, transport.is_closed
        connection.connection_lost(None)
        while state.tasks:
            await asyncio.sleep(0)
        return found

    def counters(self) -> list[str]:
        from budgetprune.service.metrics import Metrics

        text = Metrics(ModelDescription(PREDICTOR), self.row).text().decode()
        return [line for line in text.splitlines() if not re.search(r"_seconds_(bucket|sum)", line)]


def _unfinished(connection: Connection) -> list[Any]:
    """Requests whose body is not complete, so that they are not answered."""
    return [cycle for cycle in connection._unanswered if cycle.more_body]


@pytest.fixture(scope="module")
def servers():
    return Server(is_early=True), Server(is_early=False)


def check_same(servers, *parts: bytes) -> int:
    """Check that both servers write the same; return the number of early answers."""
    early, usual = servers
    before = early.n_early
    assert early.converse(*parts) == usual.converse(*parts)
    assert early.counters() == usual.counters()
    assert usual.n_early == 0
    return early.n_early - before


@pytest.mark.parametrize("sent", EARLY)
def test_requests_that_are_answered_at_once(servers, sent):
    assert check_same(servers, sent) == 1
    assert check_same(servers, sent * 3) == 3
    assert check_same(servers, sent, sent) == 2


@pytest.mark.parametrize("sent", NOT_EARLY)
def test_requests_that_the_app_answers(servers, sent):
    assert check_same(servers, sent) == 0
    assert check_same(servers, DECIDE + sent + DECIDE) >= 1
    assert check_same(servers, DECIDE, sent, DECIDE) >= 1


@pytest.mark.parametrize("sent", LAST)
def test_the_last_requests_of_a_connection(servers, sent):
    check_same(servers, sent)
    assert check_same(servers, DECIDE + sent + DECIDE) >= 1
    check_same(servers, HEALTH + sent + DECIDE)


def test_a_request_that_arrives_in_two_parts(servers):
    """The app answers it, because timeouts and shutdown are about requests that it has."""
    for at in (1, 20, len(DECIDE) - len(BODY), len(DECIDE) - 1):
        n_expected = int(at < len(DECIDE) - len(BODY))  # the headers were not complete
        assert check_same(servers, DECIDE[:at], DECIDE[at:]) == n_expected


def test_conversations_in_any_parts(servers):
    r = random.Random(0)
    for _ in range(200):
        sent = b"".join(r.choice((*EARLY, *EARLY, *NOT_EARLY)) for _ in range(r.randrange(1, 6)))
        sent += r.choice((b"", *LAST))
        at = sorted(r.randrange(len(sent)) for _ in range(r.randrange(4)))
        parts = [sent[i:j] for i, j in zip([0, *at], [*at, len(sent)], strict=True)]
        check_same(servers, *parts)


def test_an_error_of_our_own_is_told_by_the_app(servers, monkeypatch):
    def broken(*_arguments, **_options):
        raise RuntimeError("secret")

    monkeypatch.setattr(BudgetPredictor, "step", broken)
    assert check_same(servers, STEP) == 0
    written, _ = servers[0].converse(STEP)
    assert written.startswith(b"HTTP/1.1 500 ")
