"""A signal ends the service in order: what has arrived is answered, what comes later is told so."""

from __future__ import annotations

import json
import signal
import time
from contextlib import ExitStack

import pytest

from .models import predictor, rows
from .raw import HEALTH, Reader, check_refusal, request
from .servers import running

PREDICTOR = predictor("classes")
ROW = rows("classes", 1)[0]
BODY = json.dumps({"values": ROW}).encode()
DECIDE = request("POST", "/v1/decide", BODY)


@pytest.fixture
def model(tmp_path):
    PREDICTOR.save(tmp_path / "m.budgetprune")
    return tmp_path / "m.budgetprune"


def check_decided(reply):
    assert reply.status == 200
    assert reply.json()["label"] == PREDICTOR.decide(ROW).label


def test_a_slow_client_is_answered(model):
    with running(model) as service, service.connect() as slow, service.connect() as idle:
        slow.sendall(DECIDE[:-20])
        idle.sendall(HEALTH)
        reader = Reader(idle)
        assert reader.read().status == 200
        service.process.send_signal(signal.SIGTERM)
        assert reader.is_at_end()  # once the idle connection is closed, the service is on its way out
        with pytest.raises(ConnectionRefusedError):
            service.connect()
        assert service.process.poll() is None
        slow.sendall(DECIDE[-20:])
        reader = Reader(slow)
        check_decided(reader.read())
        assert reader.is_at_end()
        assert service.process.wait(60) == 0
        assert service.process.stderr.read() == ""


@pytest.mark.parametrize("options", [(), ("--max-connections", "4")])
def test_what_is_in_the_backlog_is_answered(model, options):
    """Connections that are not accepted yet when the signal comes, more than may be open at a time."""
    with running(model, *options) as service, ExitStack() as stack:
        kept = stack.enter_context(service.connect())
        kept.sendall(HEALTH)
        reader = Reader(kept)
        assert reader.read().status == 200
        service.process.send_signal(signal.SIGSTOP)
        connections = [stack.enter_context(service.connect()) for _ in range(32)]
        for connection in (kept, *connections):
            connection.sendall(DECIDE)
        time.sleep(0.3)  # by then it is time to look for signals
        service.process.send_signal(signal.SIGTERM)
        service.process.send_signal(signal.SIGCONT)
        for found in (reader, *map(Reader, connections)):
            check_decided(found.read())
        assert service.process.wait(60) == 0
        assert service.process.stderr.read() == ""


def test_later_requests_are_refused(model):
    """A health check says so as well: nothing more should be sent here."""
    with running(model, "--drain", "60") as service, ExitStack() as stack:
        slow, kept = (stack.enter_context(service.connect()) for _ in range(2))
        slow.sendall(DECIDE[:-20])
        service.process.send_signal(signal.SIGTERM)
        reader, status = Reader(kept), 200
        while status == 200:  # the signal has not been noticed yet
            kept.sendall(HEALTH)
            reply = reader.read()
            status = reply.status
        check_refusal(reply, 503, "stopping")
        assert reader.is_at_end()
        with service.connect() as later:
            later.sendall(DECIDE)
            check_refusal(Reader(later).read(), 503, "stopping")
        with service.connect() as later:
            later.sendall(request("HEAD", "/healthz"))
            reader = Reader(later)
            assert reader.read(has_body=False).status == 503
            assert reader.is_at_end()
        slow.sendall(DECIDE[-20:])
        check_decided(Reader(slow).read())


def test_a_client_that_never_ends_is_refused(model):
    with running(model, "--grace", "1") as service, service.connect() as stuck:
        stuck.sendall(HEALTH + DECIDE[:-1])
        reader = Reader(stuck)
        assert reader.read().status == 200  # so the second request has been seen as well
        service.process.send_signal(signal.SIGINT)
        check_refusal(reader.read(), 503, "stopping")
        assert reader.is_at_end()
        assert service.process.wait(60) == 0
        said = service.process.stderr.read()
        assert "not finished in time" in said
        assert "Traceback" not in said


def test_a_batch_that_takes_too_long_is_refused(model):
    """It is being worked on, and stops."""
    rows = b",".join([b'{"values":' + json.dumps(ROW).encode() + b"}"] * 50_000)
    options = ("--grace", "0.1", "--max-batch", "50000", "--max-batch-body", "100000000")
    with running(model, *options) as service, service.connect() as stuck, service.connect() as other:
        stuck.sendall(request("POST", "/v1/batch/decide", b'{"rows":[' + rows + b"]}"))
        other.sendall(HEALTH)
        assert Reader(other).read().status == 200
        service.process.send_signal(signal.SIGTERM)
        check_refusal(Reader(stuck).read(), 503, "stopping")
        assert service.process.wait(60) == 0
        assert "Traceback" not in service.process.stderr.read()


def test_without_any_patience(model):
    with running(model, "--grace", "0", "--drain", "0") as service, service.connect() as idle:
        idle.sendall(HEALTH)
        assert Reader(idle).read().status == 200
        assert service.end() == 0
