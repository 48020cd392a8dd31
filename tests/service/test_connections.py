"""Connections: what is too large, too slow or too many is refused, and others are still answered."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack

import pytest

from budgetprune import InvalidInputError
from budgetprune.utils import limits as _limits
from budgetprune.utils.limits import Limits, connection_limit

from .models import predictor
from .raw import HEALTH, Reader, check_refusal, request
from .servers import Running, running

HEADER_BYTES, HEADERS, CONNECTIONS = 2000, 20, 8
STEP = request("POST", "/v1/step", b'{"values": {}}')


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    file = tmp_path_factory.mktemp("model") / "m.budgetprune"
    predictor("classes").save(file)
    return file


@pytest.fixture(scope="module")
def small(model):
    """Small limits, and time enough even for a busy machine."""
    limits = {"--max-header-bytes": HEADER_BYTES, "--max-headers": HEADERS, "--max-connections": CONNECTIONS}
    with running(model, "--keep-alive", "60", *(str(x) for pair in limits.items() for x in pair)) as found:
        yield found


@pytest.fixture(scope="module")
def quick(model):
    """Short timeouts: requests are sent at once, or not to their end."""
    times = ("--header-timeout", "--body-timeout", "--keep-alive")
    with running(model, *(word for option in times for word in (option, "0.3"))) as found:
        yield found


def check_alive(service: Running) -> None:
    with service.connect() as connection:
        connection.sendall(HEALTH)
        assert Reader(connection).read().status == 200


def send(connection: socket.socket, *parts: bytes) -> None:
    """Send until the server has enough."""
    try:
        for part in parts:
            connection.sendall(part)
    except (ConnectionResetError, BrokenPipeError):
        pass


def is_cut(connection: socket.socket) -> bool:
    """Whether the server closes the connection for both directions within 30 s."""
    for _ in range(300):
        try:
            connection.sendall(b"x")
        except (ConnectionResetError, BrokenPipeError):
            return True
        time.sleep(0.1)
    return False


# --- Headers ------------------------------------------------------------------------------------------------

START = HEALTH[:-2]


@pytest.mark.parametrize("n_before", [0, 1, 3])
@pytest.mark.parametrize(
    "parts",
    [
        [START, b"x: ", *[b"a" * 1000] * 50],
        [START, b"x" * 50_000, b": a\r\n\r\n"],
        [START, b"a: b\r\n" * 2000, b"\r\n"],
        [b"GET /", b"x" * 50_000, b" HTTP/1.1\r\n\r\n"],
        [b"\r\n" * 20_000],
    ],
    ids=["a value", "a name", "many", "the path", "empty lines"],
)
def test_bytes_of_headers(small, parts, n_before):
    """Also those of later requests on a connection."""
    with small.connect() as connection:
        reader = Reader(connection)
        for _ in range(n_before):
            connection.sendall(HEALTH)
            assert reader.read().status == 200
        send(connection, *parts)
        check_refusal(reader.read(), 431, f"more than {HEADER_BYTES} bytes")
        assert reader.is_at_end()
    check_alive(small)


def test_headers_within_the_limit(small):
    with small.connect() as connection:
        reader = Reader(connection)
        for n in (0, HEADER_BYTES // 2, HEADER_BYTES - len(HEALTH) - 10):
            long = request("GET", "/healthz", headers=(f"x: {'a' * n}",))
            for byte in long:
                connection.sendall(bytes([byte]))
            assert reader.read().status == 200


def test_number_of_headers(small):
    with small.connect() as connection:
        reader = Reader(connection)
        connection.sendall(request("GET", "/healthz", headers=("a: b",) * (HEADERS - 1)))
        assert reader.read().status == 200
        connection.sendall(request("GET", "/healthz", headers=("a: b",) * HEADERS))
        check_refusal(reader.read(), 431, f"{HEADERS + 1} headers; the limit is {HEADERS}")
        assert reader.is_at_end()


CHUNKED = request(
    "POST", "/v1/step", headers=("content-type: application/json", "transfer-encoding: chunked")
)


@pytest.mark.parametrize(
    "parts",
    [
        [b"2\r\n{}\r\n0\r\n", *[b"a: b\r\n"] * 2000],
        [b"2\r\n{}\r\n0\r\nx: ", *[b"a" * 1000] * 50],
        [b"2;", *[b"a" * 1000] * 50],
    ],
    ids=["many", "a value", "a chunk's extension"],
)
def test_bytes_of_trailers(small, parts):
    with small.connect() as connection:
        send(connection, CHUNKED, *parts)
        check_refusal(Reader(connection).read(), 431, f"more than {HEADER_BYTES} bytes")
    check_alive(small)


def test_trailers_are_not_headers(small):
    wrong = CHUNKED.replace(b"content-type: application/json\r\n", b"")
    with small.connect() as connection:
        connection.sendall(
            wrong + b"d\r\n" + b'{"values":{}}' + b"\r\n0\r\ncontent-type: application/json\r\n\r\n"
        )
        assert Reader(connection).read().status == 415


# --- Several requests on a connection -----------------------------------------------------------------------


def test_pipelined_requests_are_answered_in_order(small):
    pair = STEP + request("GET", "/nowhere")
    n = 3000 // len(pair) * 10  # more than is parsed at once
    with small.connect() as connection:
        reader = Reader(connection)
        connection.sendall(pair * n)
        assert [reader.read().status for _ in range(2 * n)] == [200, 404] * n


@pytest.mark.parametrize(
    ("last", "status"),
    [
        (b"what is this?\r\n\r\n", 400),
        (CHUNKED + b"zzz\r\n", 400),
        (request("GET", "/healthz", headers=("a: b",) * HEADERS), 431),
        (START + b"x: " + b"a" * 5000, 431),
    ],
    ids=["no HTTP", "no chunk", "many headers", "long headers"],
)
def test_requests_before_a_bad_one_are_answered(small, last, status):
    with small.connect() as connection:
        reader = Reader(connection)
        send(connection, STEP * 5 + last)
        assert [reader.read().status for _ in range(5)] == [200] * 5
        check_refusal(reader.read(), status, "")
        assert reader.is_at_end()


def test_a_body_that_is_no_http(small):
    with small.connect() as connection:
        reader = Reader(connection)
        connection.sendall(CHUNKED + b"5\r\n{}")
        connection.sendall(b"\r\nnonsense\r\n")
        check_refusal(reader.read(), 400, "not an HTTP")
        assert reader.is_at_end()


def test_an_upgrade_is_ignored(small):
    """Some clients ask for HTTP/2 by default."""
    upgrade = ("connection: keep-alive, upgrade, http2-settings", "upgrade: h2c", "http2-settings: AAMAAABk")
    step = request("POST", "/v1/step", b'{"values": {}}', headers=upgrade)
    health = request("GET", "/healthz", headers=upgrade)
    with small.connect() as connection:
        reader = Reader(connection)
        for sent in (step, health, step + health + HEALTH):
            connection.sendall(sent)
        assert [reader.read().status for _ in range(5)] == [200] * 5
        connection.sendall(step[:-5])
        connection.sendall(step[-5:])
        assert reader.read().status == 200
        connection.sendall(b"CONNECT localhost:80 HTTP/1.1\r\nhost: localhost\r\n\r\n")
        check_refusal(reader.read(), 400, "not an HTTP")


def test_head(small):
    with small.connect() as connection:
        reader = Reader(connection)
        connection.sendall(HEALTH + request("HEAD", "/healthz") + HEALTH)
        get, head, again = reader.read(), reader.read(has_body=False), reader.read()
    assert (get.status, head.status, again.status) == (200, 200, 200)
    for name in ("content-type", "content-length"):
        assert get.header(name) == head.header(name)
    assert get.body == again.body == b'{"status":"ok"}'


# --- Time ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("begun", "part"),
    [(STEP[:3], "headers"), (STEP[:-20], "headers"), (STEP[:-1], "body"), (CHUNKED + b"1\r\n", "body")],
)
@pytest.mark.parametrize("n_before", [0, 2])
def test_requests_that_do_not_end(quick, begun, part, n_before):
    with quick.connect() as connection:
        reader = Reader(connection)
        connection.sendall(STEP * n_before + begun)
        assert [reader.read().status for _ in range(n_before)] == [200] * n_before
        check_refusal(reader.read(), 408, f"{part} .* took too long")
        assert reader.is_at_end()


@pytest.mark.parametrize("sent", [b"", b"\r\n", HEALTH])
def test_idle_connections_are_closed(quick, sent):
    with quick.connect() as connection:
        connection.sendall(sent)
        reader = Reader(connection)
        if sent == HEALTH:
            assert reader.read().status == 200
        assert reader.is_at_end()


def test_a_body_that_never_ends_after_its_refusal(quick):
    """The answer comes before the body has; the connection is closed without another one."""
    with quick.connect() as connection:
        reader = Reader(connection)
        connection.sendall(
            request("POST", "/v1/step", b"x" * 100).replace(b"application/json", b"text/plain")[:-1]
        )
        assert reader.read().status == 415
        assert reader.is_at_end()


@pytest.mark.parametrize("refused", [request("GET", "/healthz", headers=("a: b",) * 200), b"no HTTP\r\n\r\n"])
def test_a_client_that_stays_after_its_refusal(quick, refused):
    """The server closes the connection, even if the client does not."""
    with quick.connect() as connection:
        reader = Reader(connection)
        connection.sendall(refused)
        assert reader.read().status in (400, 431)
        assert reader.is_at_end()
        assert is_cut(connection)


# --- Number -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("begun", [b"", STEP[:10], STEP[:-1], STEP])
def test_clients_that_keep_their_place(small, begun):
    """Others take it, be they ever so many."""
    with ExitStack() as stack:
        for _ in range(CONNECTIONS + 3):
            send(stack.enter_context(small.connect()), begun)
        check_alive(small)


def test_busy_connections_keep_their_place(small):
    """All get their answers, though not all at the same time."""
    with ExitStack() as stack:
        connections = [stack.enter_context(small.connect()) for _ in range(4 * CONNECTIONS)]
        for connection in connections:
            connection.sendall(STEP.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n"))
        assert [Reader(connection).read().status for connection in connections] == [200] * len(connections)


@pytest.mark.parametrize(
    ("n_descriptors", "asked", "expected"),
    [
        (20_000, None, 1000),
        (20_000, 5000, 5000),
        (256, None, 192),
        (256, 5000, 192),
        (256, 10, 10),
        (40, None, 20),
        (1, None, 1),
    ],
)
def test_there_are_descriptors_left(monkeypatch, n_descriptors, asked, expected):
    monkeypatch.setattr(_limits, "_descriptors", lambda: n_descriptors)
    assert connection_limit(Limits(connections=asked)) == expected


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf")])
def test_timeouts_that_are_none(seconds):
    with pytest.raises(InvalidInputError, match="header_timeout must be seconds, finite and above 0"):
        Limits(header_timeout=seconds)
