"""A signal ends the service in order: what is in flight is answered."""

from __future__ import annotations

import json
import signal

import pytest

from .models import predictor, rows
from .servers import running

PREDICTOR = predictor("classes")


@pytest.fixture
def model(tmp_path):
    PREDICTOR.save(tmp_path / "m.budgetprune")
    return tmp_path / "m.budgetprune"


def head(body: bytes) -> bytes:
    lines = ["POST /v1/decide HTTP/1.1", "host: localhost", "content-type: application/json"]
    return "\r\n".join([*lines, f"content-length: {len(body)}", "", ""]).encode()


def read_all(connection) -> bytes:
    parts = []
    while part := connection.recv(2**16):
        parts.append(part)
    return b"".join(parts)


def test_a_slow_client_is_answered(model):
    row = rows("classes", 1)[0]
    body = json.dumps({"values": row}).encode()
    with running(model) as service, service.connect() as slow, service.connect() as idle:
        slow.sendall(head(body) + body[:20])
        idle.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
        answer = b""
        while not answer.endswith(b"}"):
            answer += idle.recv(1000)
        service.process.send_signal(signal.SIGTERM)
        assert idle.recv(1000) == b""  # once the idle connection is closed, the service is on its way out
        with pytest.raises(ConnectionRefusedError):
            service.connect()
        assert service.process.poll() is None
        slow.sendall(body[20:])
        answer = read_all(slow)
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["label"] == PREDICTOR.decide(row).label
        assert service.process.wait(60) == 0
        assert service.process.stderr.read() == ""


def test_a_client_that_never_ends_is_cut_off(model):
    with running(model, "--grace", "1") as service, service.connect() as stuck:
        stuck.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n" + head(b"x" * 100))
        assert stuck.recv(1000).startswith(b"HTTP/1.1 200 ")  # so the second request has been seen as well
        assert service.end(signal.SIGINT) == 0
