"""Streams: an answer per line, in any parts, while the request still arrives, in bounded memory."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress

import httpx
import pytest

from budgetprune.service import Limits, create_app, scheduling
from budgetprune.service.streams import AT_ONCE, NDJSON

from .models import predictor, rows
from .raw import HEALTH, Reader, request
from .servers import PATIENCE, Running, ask, check_refused, running

STEP, DECIDE = "/v1/stream", "/v1/stream/decide"
HEADERS = {"content-type": NDJSON}
ROWS = rows("classes", 30)
LINES = [json.dumps({"values": row}).encode() for row in ROWS]
TIMEOUT = 1.5


def stream(app, path: str, text: bytes, **options) -> list[dict]:
    response = ask(app, "POST", path, content=text, headers=HEADERS | options)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == NDJSON
    assert not response.content or response.content.endswith(b"\n")
    return [json.loads(line) for line in response.content.splitlines()]


@pytest.fixture(scope="module")
def app():
    return create_app(predictor("classes"), Limits(body=2000))


# --- Answers ------------------------------------------------------------------------------------------------


def test_answers_are_those_of_single_requests(app):
    r = random.Random(0)
    bodies = [{"values": row} for row in ROWS]
    assert stream(app, DECIDE, b"\n".join(LINES)) == [
        ask(app, "POST", "/v1/decide", json=body).json() for body in bodies
    ]
    bodies = [{"values": dict(r.sample(sorted(row.items()), r.randrange(9)))} for row in ROWS]
    bodies += [{"values": {}, "unavailable": ["scan"]}, {"values": {}, "known": {"x0": 1}, "max_cost": 0}]
    text = b"".join(json.dumps(body).encode() + b"\r\n" for body in bodies)
    assert stream(app, STEP, text) == [ask(app, "POST", "/v1/step", json=body).json() for body in bodies]


@pytest.mark.parametrize("text", [b"", b"\n", b" \r\n\t\n\n"])
def test_without_rows_there_are_no_answers(app, text):
    assert stream(app, STEP, text) == []


def test_errors_belong_to_lines(app):
    bad = {
        b"{": "not valid JSON",
        b"[]": "line 3 must be an object, not a list",
        b'{"values": {"nose": 1}}': "no feature 'nose'",
        b'{"values": {"x0": 1, "x0": 2}}': "line 5 has the key 'x0' more than once",
        b'{"values": {"x0": []}}': "'x0' must be a number or a string",
        b'{"values": {}} {}': "not valid JSON",
        b"\xff": "not valid JSON",
        b"[" * 100 + b"]" * 100: "line 9 is nested to a depth of 100; the limit is 32",
        b'{"values": {}, "x": "' + b"y" * 2000 + b'"}': "the line has more than 2000 bytes",
        b'"' + b"z" * 100_000: "the line has more than 2000 bytes, which",
    }
    answers = stream(app, STEP, b"\n".join([b'{"values": {}}', *bad, b"", b'{"values": {}}']))
    assert len(answers) == len(bad) + 2
    first, last = answers[0], answers[-1]
    assert first == last
    assert first["next"] is not None
    for number, (answer, words) in enumerate(zip(answers[1:-1], bad.values(), strict=True), start=2):
        assert answer.keys() == {"error"}
        assert answer["error"].keys() == {"message", "where"}
        assert re.search(words, answer["error"]["message"]), answer
        assert answer["error"]["where"].startswith(f"line {number}"), answer


def test_many_answers_to_little_text(app):
    """Answers to one part of the body are sent in several parts."""
    n = 4 * AT_ONCE // 400
    answers = stream(app, STEP, b'{"values":{}}\n' * n)
    assert len(answers) == n
    assert all(answer == answers[0] for answer in answers)


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "", "application/x-ndjson-seq"])
def test_other_types_are_refused(app, kind):
    response = ask(app, "POST", STEP, content=b"{}", headers={"content-type": kind})
    check_refused(response, 415, f"send it with Content-Type: {NDJSON}")


@pytest.mark.parametrize("kind", ["Application/X-NDJSON; charset=utf-8", "application/jsonl"])
def test_other_names_of_the_type(app, kind):
    assert ask(app, "POST", STEP, content=LINES[0], headers={"content-type": kind}).status_code == 200


def test_other_methods(app):
    assert ask(app, "GET", STEP).status_code == 405


def test_rows_are_counted(app):
    def counts() -> tuple[float, float, float]:
        text = ask(app, "GET", "/metrics").text
        name = r'budgetprune_stream_rows_total\{{result="{}"\}} (\S+)'
        found = [re.search(name.format(result), text) for result in ("answered", "refused")]
        decisions = re.search(r"budgetprune_decision_cost_count (\S+)", text)
        assert decisions
        return *(float(each[1]) if each else 0.0 for each in found), float(decisions[1])

    before = counts()
    stream(app, DECIDE, b"\n".join([*LINES, b"{", b"", b"{"]))
    assert [after - b for after, b in zip(counts(), before, strict=True)] == [len(LINES), 2, len(LINES)]


# --- Over a socket ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    model = tmp_path_factory.mktemp("model") / "classes.budgetprune"
    predictor("classes").save(model)
    options = ("--max-body", "2000", "--max-streams", "3", "--body-timeout", str(TIMEOUT))
    with running(model, *options) as found:
        yield found


def head(path: str = DECIDE, *headers: str) -> bytes:
    return request("POST", path, headers=(f"content-type: {NDJSON}", "transfer-encoding: chunked", *headers))


def chunk(part: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(part), part)


END = b"0\r\n\r\n"


class Answers:
    """Read the lines of a chunked response as they come."""

    def __init__(self, connection: socket.socket) -> None:
        self._file = connection.makefile("rb")
        self.status, self._rest = 0, b""

    def start(self) -> int:
        self.status = int(self._file.readline().split()[1])
        while self._file.readline().strip():
            pass
        return self.status

    def line(self) -> dict | None:
        """Return the next answer; None at the end of the response."""
        if not self.status:
            assert self.start() == 200
        while b"\n" not in self._rest:
            size = self._file.readline()
            if not size:
                raise ConnectionError("the response has no end")
            part = self._file.read(int(size, 16))
            self._file.readline()
            if not part:
                assert not self._rest
                return None
            self._rest += part
        line, _, self._rest = self._rest.partition(b"\n")
        return json.loads(line)

    def is_at_end(self) -> bool:
        return not self._file.read(1)


def gauge(service: Running) -> float:
    text = httpx.get(f"{service.url}/metrics", timeout=PATIENCE).text
    found = re.search(r"^budgetprune_streams (\S+)", text, flags=re.M)
    assert found
    return float(found[1])


def wait_for_streams(service: Running, n: int) -> None:
    end = time.monotonic() + PATIENCE
    while gauge(service) != n:
        assert time.monotonic() < end
        time.sleep(0.05)


def expected(row) -> dict:
    found = predictor("classes").decide(row)
    return {"label": found.label.item(), "cost": found.cost}


def check(answer: dict | None, row) -> None:
    assert answer is not None
    assert {name: answer[name] for name in ("label", "cost")} == expected(row)


def send_until_disconnected(connection: socket.socket, part: bytes, pause: float = 0.0) -> None:
    end = time.monotonic() + PATIENCE
    with suppress(ConnectionError):
        while True:
            assert time.monotonic() < end, "the connection stays open"
            connection.sendall(part)
            time.sleep(pause)


def has_no_end(answers: Answers) -> bool:
    """Whether the rest of a response is cut off."""
    try:
        while answers.line() is not None:
            pass
    except ConnectionError:
        return True
    return False


def test_rows_are_answered_while_the_request_arrives(service):
    with service.connect() as connection:
        answers = Answers(connection)
        connection.sendall(head())
        for line, row in zip(LINES[:5], ROWS, strict=False):
            connection.sendall(chunk(line[:10]) + chunk(line[10:] + b"\n" + LINES[7][:3]) + chunk(b"\n"))
            check(answers.line(), row)
            error = answers.line()
            assert error is not None
            assert error.keys() == {"error"}
            assert gauge(service) == 1
        connection.sendall(chunk(LINES[5]) + END)
        check(answers.line(), ROWS[5])
        assert answers.line() is None
        # the connection stays open for other requests
        connection.sendall(HEALTH + head() + chunk(LINES[0]) + END)
        reader = Reader(connection)
        assert reader.read().status == 200
    wait_for_streams(service, 0)


def test_chunks_of_any_size(service):
    r = random.Random(1)
    text = b"".join(line + b"\n" for line in LINES)
    for _ in range(10):
        at = sorted(r.randrange(len(text)) for _ in range(r.choice([0, 3, 100])))
        parts = [text[i:j] for i, j in zip([0, *at], [*at, len(text)], strict=True) if j > i]
        sent = head() + b"".join(map(chunk, parts)) + END
        with service.connect() as connection:
            cut = r.randrange(len(sent))
            connection.sendall(sent[:cut])
            connection.sendall(sent[cut:])
            answers = Answers(connection)
            for row in ROWS:
                check(answers.line(), row)
            assert answers.line() is None


def test_a_body_of_known_length(service):
    text = b"\n".join(LINES)
    with service.connect() as connection:
        connection.sendall(
            request("POST", DECIDE, headers=(f"content-type: {NDJSON}", f"content-length: {len(text)}"))
            + text
        )
        answers = Answers(connection)
        for row in ROWS:
            check(answers.line(), row)
        assert answers.line() is None


def test_100_continue(service):
    with service.connect() as connection:
        connection.sendall(head(DECIDE, "expect: 100-continue"))
        assert connection.recv(100).startswith(b"HTTP/1.1 100 Continue\r\n\r\n")
        connection.sendall(chunk(LINES[0]) + END)
        answers = Answers(connection)
        check(answers.line(), ROWS[0])
        assert answers.line() is None


def test_a_client_that_does_not_read_stops_being_read(service):
    """What is sent and not answered is what fits into buffers; nothing is lost if the client goes on."""
    part = chunk(b'{"values":{}}\n' * 1000)
    n_sent = 0
    with service.connect() as connection:
        connection.sendall(head(STEP))
        connection.setblocking(False)
        end = time.monotonic() + TIMEOUT / 2
        unsent = b""
        while time.monotonic() < end:
            unsent = unsent or part
            try:
                n = connection.send(unsent)
            except BlockingIOError:
                time.sleep(0.01)
                continue
            n_sent += n
            unsent = unsent[n:]
            assert n_sent < 50_000_000
        connection.settimeout(PATIENCE)
        assert httpx.get(f"{service.url}/healthz", timeout=PATIENCE).status_code == 200
        answers = Answers(connection)
        n_lines = 0
        while n_lines < 2000:
            answer = answers.line()
            assert answer is not None
            assert answer["next"] is not None
            n_lines += 1
    wait_for_streams(service, 0)


def test_a_client_that_never_reads_is_disconnected(service):
    part = chunk(b'{"values":{}}\n' * 1000)
    with service.connect() as connection:
        connection.sendall(head(STEP))
        send_until_disconnected(connection, part)
    wait_for_streams(service, 0)


def test_lines_that_take_too_long(service):
    with service.connect() as connection:
        connection.sendall(head() + chunk(LINES[0] + b"\n" + LINES[1][:20]))
        answers = Answers(connection)
        check(answers.line(), ROWS[0])
        error = answers.line()
        assert error is not None
        assert error["error"]["where"] == "line 2"
        assert re.search("line 2 took too long to arrive", error["error"]["message"])
        assert answers.line() is None
        assert answers.is_at_end()
    with service.connect() as connection:  # not even a first byte
        connection.sendall(head())
        assert Reader(connection).read().status == 408
    wait_for_streams(service, 0)


def test_empty_lines_keep_a_stream_open(service):
    with service.connect() as connection:
        connection.sendall(head())
        end = time.monotonic() + 2 * TIMEOUT
        while time.monotonic() < end:
            connection.sendall(chunk(b"\n"))
            time.sleep(TIMEOUT / 10)
        connection.sendall(chunk(LINES[0]) + END)
        answers = Answers(connection)
        check(answers.line(), ROWS[0])
        assert answers.line() is None


def test_slow_bytes_of_one_line_do_not(service):
    with service.connect() as connection:
        connection.sendall(head() + chunk(LINES[0] + b"\n"))
        send_until_disconnected(connection, chunk(b" "), pause=TIMEOUT / 10)
    wait_for_streams(service, 0)


@pytest.mark.parametrize("broken", [b"zz\r\n", b"-1\r\n", b"ffffffffffffffffff\r\n", b"5\r\nabcdefgh\r\n"])
def test_broken_chunks_end_the_response_without_an_end(service, broken):
    with service.connect() as connection:
        connection.sendall(head() + chunk(LINES[0] + b"\n"))
        answers = Answers(connection)
        check(answers.line(), ROWS[0])
        connection.sendall(broken)
        assert has_no_end(answers)
    wait_for_streams(service, 0)


def test_clients_that_go_away(service):
    for text in (b"", chunk(LINES[0]), chunk(LINES[0] + b"\n"), chunk(b'{"values":{}}\n' * 5000)):
        with service.connect() as connection:
            connection.sendall(head(STEP) + text)
        connection = service.connect()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        with closing(connection):
            connection.sendall(head(STEP) + text)
    wait_for_streams(service, 0)
    assert httpx.get(f"{service.url}/healthz", timeout=PATIENCE).status_code == 200


def test_streams_are_limited(service):
    connections = [service.connect() for _ in range(4)]
    try:
        for connection in connections[:3]:
            connection.sendall(head() + chunk(LINES[0] + b"\n"))
            check(Answers(connection).line(), ROWS[0])
        connections[3].sendall(head() + chunk(LINES[0] + b"\n") + END)
        reply = Reader(connections[3]).read()
        assert reply.status == 503
        assert reply.header("retry-after") == "1"
        assert "there are 3 streams" in reply.json()["error"]["message"]
    finally:
        for connection in connections:
            connection.close()
    wait_for_streams(service, 0)


def test_old_http_is_refused(service):
    with service.connect() as connection:
        text = request("POST", DECIDE, headers=(f"content-type: {NDJSON}", "content-length: 2")) + b"{}"
        connection.sendall(text.replace(b"HTTP/1.1", b"HTTP/1.0"))
        reply = Reader(connection).read()
    assert reply.status == 505
    assert "proxy_http_version 1.1" in reply.json()["error"]["message"]


def test_requests_are_not_smuggled(service):
    """A body with two lengths is refused, and nothing after it is read."""
    inner = request("GET", "/v1/model")
    for lengths in (
        ("content-length: 5", "transfer-encoding: chunked"),
        ("transfer-encoding: chunked", "content-length: 5"),
        ("content-length: 5", "content-length: 6"),
        ("transfer-encoding: gzip, chunked, identity",),
        ("transfer-encoding : chunked",),
    ):
        with service.connect() as connection:
            connection.sendall(
                request("POST", DECIDE, headers=(f"content-type: {NDJSON}", *lengths)) + END + inner
            )
            reader = Reader(connection)
            assert reader.read().status == 400, lengths
            assert reader.is_at_end()


def test_other_requests_are_answered_during_a_stream(monkeypatch, app):
    """With time slices of no length, a health check is answered before the stream that came first."""
    import asyncio

    monkeypatch.setattr(scheduling, "TIME_SLICE", 0.0)
    order = []

    async def note(client, method, path, **options):
        response = await client.request(method, path, **options)
        assert response.status_code == 200
        order.append(path)

    async def go():
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://here") as client:
            text = b"\n".join(LINES * 5)
            one = asyncio.create_task(note(client, "POST", DECIDE, content=text, headers=HEADERS))
            await asyncio.sleep(0)
            await note(client, "GET", "/healthz")
            await one

    asyncio.run(go())
    assert order == ["/healthz", DECIDE]


def test_streams_that_have_begun_are_finished_at_the_end(tmp_path):
    predictor("classes").save(tmp_path / "m.budgetprune")
    with running(tmp_path / "m.budgetprune") as service, service.connect() as connection:
        connection.sendall(head() + chunk(LINES[0] + b"\n"))
        answers = Answers(connection)
        check(answers.line(), ROWS[0])
        service.process.send_signal(signal.SIGTERM)
        service.wait_until_refused()
        connection.sendall(chunk(LINES[1]) + END)
        check(answers.line(), ROWS[1])
        assert answers.line() is None
        assert answers.is_at_end()
        assert service.process.wait(PATIENCE) == 0


def test_streams_without_end_are_cut_off(tmp_path):
    predictor("classes").save(tmp_path / "m.budgetprune")
    with running(tmp_path / "m.budgetprune", "--grace", "1") as service, service.connect() as connection:
        connection.sendall(head() + chunk(LINES[0] + b"\n"))
        answers = Answers(connection)
        check(answers.line(), ROWS[0])
        service.process.send_signal(signal.SIGTERM)
        with pytest.raises(ConnectionError):
            answers.line()
        assert service.process.wait(PATIENCE) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot share the socket")
def test_workers_share_the_limit_of_streams(tmp_path):
    from .test_workers import workers_of

    predictor("classes").save(tmp_path / "m.budgetprune")
    with running(tmp_path / "m.budgetprune", "--workers", "2", "--max-streams", "2") as service:
        first, second, third = (service.connect() for _ in range(3))
        try:
            for connection in (first, second):
                connection.sendall(head() + chunk(LINES[0] + b"\n"))
                check(Answers(connection).line(), ROWS[0])
            third.sendall(head() + chunk(LINES[0] + b"\n") + END)
            assert Reader(third).read().status == 503
            assert gauge(service) == 2
            for worker in workers_of(service):  # streams of workers that die do not count any longer
                os.kill(worker, signal.SIGKILL)
            end = time.monotonic() + PATIENCE
            while True:
                try:
                    if gauge(service) == 0:
                        break
                except httpx.TransportError:
                    pass
                assert time.monotonic() < end
                time.sleep(0.1)
        finally:
            for connection in (first, second, third):
                connection.close()
        assert service.end() == 0


def test_streams_are_not_closed_to_make_room(tmp_path):
    predictor("classes").save(tmp_path / "m.budgetprune")
    with (
        running(tmp_path / "m.budgetprune", "--max-connections", "2") as service,
        service.connect() as connection,
    ):
        connection.sendall(head() + chunk(LINES[0] + b"\n"))
        answers = Answers(connection)
        check(answers.line(), ROWS[0])
        others = [service.connect() for _ in range(4)]  # idle; each waits for a place
        try:
            for other in others:
                other.sendall(HEALTH)
            for other in others:
                assert Reader(other).read().status == 200
        finally:
            for other in others:
                other.close()
        connection.sendall(chunk(LINES[1]) + END)
        check(answers.line(), ROWS[1])
        assert answers.line() is None
