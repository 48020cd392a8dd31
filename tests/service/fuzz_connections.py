"""Try to break the service with odd connections: ``make fuzz``.

Each case is a conversation over a plain socket: requests that are split, pipelined, broken, slow, too large
or for another host, and clients that go away. The service must stay alive, keep its memory, answer every
complete request correctly and in order, and answer a health check after each case. From time to time it gets
a signal in the middle of requests, and is started again.

``python -m tests.service.fuzz_connections --cases N --seed S``
"""

from __future__ import annotations

import argparse
import json
import random
import re
import signal
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from .models import predictor, rows
from .raw import HEALTH, Reader, Reply, request
from .servers import PATIENCE, Running, running

TIMEOUT = 0.5
OPTIONS = {
    "--header-timeout": str(TIMEOUT),
    "--body-timeout": str(TIMEOUT),
    "--keep-alive": str(TIMEOUT),
    "--drain": "0.2",
    "--grace": "5",
    "--max-connections": "50",
    "--max-header-bytes": "4000",
    "--max-headers": "30",
}
MEMORY = 200  # MB that the service may take on top of what it has at first
CASES_PER_SIGNAL = 40

Random = random.Random
Conversation = Callable[[Running, Random], str]


class FindingError(AssertionError):
    """Something that the service must not do."""


def check(is_fine: bool, what: str, *seen: object) -> None:
    if not is_fine:
        raise FindingError(f"{what}: {', '.join(repr(x)[:500] for x in seen)}")


# --- Requests and their answers -----------------------------------------------------------------------------

ROWS = rows("classes", 20)
REFUSED = (b"{", b"[]", b'{"values": {"nose": 1}}', b"[" * 100, b'{"rows": [' + b"1," * 5000 + b"1]}")


def complete(r: Random) -> tuple[bytes, Callable[[Reply], None]]:
    """Write a request that is to be answered, and how to check the answer."""
    row = r.choice(ROWS)
    kind = r.randrange(7)
    if kind == 0:
        return HEALTH, lambda reply: expect(reply, {"status": "ok"})
    if kind == 1:
        n = r.choice([1, 3, 200])
        body = json.dumps({"rows": [{"values": row}] * n}).encode()
        answers = {"answers": [decision(row)] * n}
        return request("POST", "/v1/batch/decide", body), lambda reply: expect(reply, answers)
    if kind == 2:
        bad = r.choice(
            [b"{", b"[]", b'{"values": {"nose": 1}}', b"[" * 100, b'{"rows": [' + b"1," * 5000 + b"1]}"]
        )
        path = r.choice(["/v1/step", "/v1/batch"])
        return request("POST", path, bad), lambda reply: expect_refused(reply, 400, 413, 422)
    if kind == 3:
        head = request("GET", "/healthz", host=r.choice(["evil.example", "localhost.evil", "[::1", ""]))
        return head, lambda reply: expect_refused(reply, 421)
    body = json.dumps({"values": row}).encode()
    if kind == 4:
        return chunked(r, body), lambda reply: expect(reply, decision(row))
    if kind == 5:
        return stream(r)
    return request("POST", "/v1/decide", body), lambda reply: expect(reply, decision(row))


def stream(r: Random) -> tuple[bytes, Callable[[Reply], None]]:
    """Write a stream of good and bad rows."""
    asked = [r.choice([*ROWS, None]) for _ in range(r.choice([0, 1, 5, 100]))]
    bad = [line for line in REFUSED if b"rows" not in line]
    lines = [r.choice(bad) if row is None else json.dumps({"values": row}).encode() for row in asked]
    text = r.choice([b"\n", b"\r\n", b"\n\n"]).join(lines) + r.choice([b"", b"\n"])

    def check_answers(reply: Reply) -> None:
        check(reply.status == 200 and not reply.is_cut, "a stream is refused or cut", reply)
        answers = [json.loads(line) for line in reply.body.splitlines()]
        check(len(answers) == len(asked), "another number of answers", len(answers), len(asked))
        for answer, row in zip(answers, asked, strict=True):
            good = "error" in answer if row is None else matches(answer, decision(row))
            check(good, "a wrong answer in a stream", answer, row)

    return chunked(r, text, "/v1/stream/decide", "application/x-ndjson"), check_answers


def chunked(r: Random, body: bytes, path: str = "/v1/decide", kind: str = "application/json") -> bytes:
    head = request("POST", path, headers=(f"content-type: {kind}", "transfer-encoding: chunked"))
    parts = pieces(r, body, r.choice([1, 7, 50])) if body else []
    chunks = [b"%x\r\n%b\r\n" % (len(part), part) for part in parts]
    return b"".join([head, *chunks, b"0\r\n", r.choice([b"", b"content-type: text/plain\r\n"]), b"\r\n"])


def decision(row: dict[str, float]) -> dict[str, Any]:
    found = predictor("classes").decide(row)
    return {"label": found.label.item(), "cost": found.cost, "acquired": list(found.acquired)}


def expect(reply: Reply, content: Any) -> None:
    """Check an answer; of decisions, only what `decision` has."""
    check(reply.status == 200, "a complete request is refused", reply)
    check(matches(reply.json(), content), "a wrong answer", reply, content)


def matches(found: Any, content: Any) -> bool:
    if isinstance(content, dict):
        return all(name in found and matches(found[name], value) for name, value in content.items())
    if isinstance(content, list) and content and isinstance(content[0], dict):
        return len(found) == len(content) and all(map(matches, found, content))
    return bool(found == content)


def expect_refused(reply: Reply, *statuses: int) -> None:
    check(reply.status in statuses, f"not refused with one of {statuses}", reply)
    error = reply.json()
    check(error.keys() == {"error"} and error["error"].keys() == {"message", "where"}, "another shape", error)


def broken(r: Random) -> bytes:
    """Write something that is no request, or no end of one."""
    whole, _ = complete(r)
    kind = r.randrange(8)
    if kind == 0:
        return HEALTH[:-2] + b"x: " + b"a" * r.choice([5000, 200_000])
    if kind == 1:
        return HEALTH[:-2] + b"a: b\r\n" * r.choice([100, 20_000])
    if kind == 2:
        return r.randbytes(r.choice([10, 1000, 100_000]))
    if kind == 3:
        return re.sub(
            rb"content-length: \d+", r.choice([b"content-length: -1", b"content-length: 1e3"]), whole
        )
    if kind == 4:
        return chunked(r, b"{}")[:-7] + r.choice(
            [b"zz\r\n", b"0\r\n" + b"a: b\r\n" * 5000, b"ffffffffffffffffff\r\n"]
        )
    if kind == 5:
        place = r.randrange(len(whole))
        return whole[:place] + r.randbytes(3) + whole[place + 3 :]
    if kind == 6:
        return b"\r\n" * r.choice([1, 10_000])
    return whole[: r.randrange(len(whole))]


def pieces(r: Random, data: bytes, size: int) -> list[bytes]:
    if size >= len(data):
        return [data]
    cuts = sorted(
        r.sample(range(1, len(data)), min(r.randrange(1, 12), len(data) // size + 1, len(data) - 1))
    )
    return [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]


# --- Conversations ------------------------------------------------------------------------------------------


def send(connection: socket.socket, parts: list[bytes]) -> None:
    """Send until the service has closed the connection."""
    try:
        for part in parts:
            connection.sendall(part)
    except (ConnectionResetError, BrokenPipeError):
        pass


def talk(service: Running, r: Random) -> str:
    """Send complete requests, in pieces or together, now and then slowly; all are answered in order."""
    pause = r.choice([0.0] * 9 + [0.01, 0.2])
    with service.connect() as connection:
        asked = [complete(r) for _ in range(r.choice([1, 2, 5, 30]))]
        data = b"".join(sent for sent, _ in asked)
        start = time.monotonic()
        for part in pieces(r, data, r.choice([1, 100, len(data)])):
            send(connection, [part])
            time.sleep(pause)
        if time.monotonic() - start > 0.8 * TIMEOUT:
            return "too slow"
        reader = Reader(connection)
        for _, check_reply in asked:
            check_reply(reader.read())
    return "answered"


def break_off(service: Running, r: Random) -> str:
    """Send complete requests and then something broken; what was complete is answered."""
    with service.connect() as connection:
        asked = [complete(r) for _ in range(r.choice([0, 1, 5]))]
        send(connection, [b"".join(sent for sent, _ in asked) + broken(r)])
        reader = Reader(connection)
        for _, check_reply in asked:
            check_reply(reader.read())
        statuses = []
        while (reply := reader.read()).head:
            statuses.append(reply.status)
            if reply.status >= 400:
                expect_refused(reply, 400, 404, 405, 408, 413, 415, 421, 422, 431)
    return f"broken: {statuses[-1] if statuses else 'closed'}"


def hang_up(service: Running, r: Random) -> str:
    """Go away in the middle."""
    with service.connect() as connection:
        data = b"".join(complete(r)[0] for _ in range(r.choice([1, 5])))
        send(connection, [data[: r.randrange(len(data) + 1)]])
        if r.random() < 0.5:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # reset
    return "hung up"


def crowd(service: Running, r: Random) -> str:
    """Open more connections than there is room for; a health check is answered all the same."""
    with ExitStack() as stack:
        for _ in range(80):
            begun = broken(r) if r.random() < 0.3 else complete(r)[0][: r.randrange(40)]
            send(stack.enter_context(service.connect()), [begun[:3000]])
        check_health(service)
    return "crowded"


def flood(service: Running, r: Random) -> str:
    """Pipeline without reading: the service must stop reading, too."""
    with service.connect() as connection:
        connection.settimeout(0.2)
        data = complete(r)[0] * 500
        try:
            for _ in range(20):
                connection.sendall(data)
        except OSError:  # a timeout, or closed
            return "flooded: held"
    return "flooded"


CONVERSATIONS = (talk,) * 12 + (break_off,) * 10 + (hang_up,) * 5 + (flood,) + (crowd,)


def check_health(service: Running) -> None:
    with service.connect() as connection:
        connection.sendall(HEALTH)
        expect(Reader(connection).read(), {"status": "ok"})


def memory(service: Running) -> float:
    """Resident memory in MB, where the system tells it."""
    try:
        text = Path(f"/proc/{service.process.pid}/status").read_text()
    except OSError:
        return 0.0
    found = re.search(r"VmRSS:\s+(\d+)", text)
    return int(found[1]) / 1024 if found else 0.0


def end_amid_requests(service: Running, r: Random) -> str:
    """Send a signal after some complete requests: each is answered, or refused if it came later."""
    with ExitStack() as stack:
        asked = []
        n_before = r.randrange(20)
        for i in range(n_before + r.randrange(20)):
            if i == n_before:
                service.process.send_signal(signal.SIGTERM)
                time.sleep(r.choice([0.0, 0.05, 0.25]))
            try:
                connection = stack.enter_context(service.connect())
            except ConnectionRefusedError:
                break
            sent, check_reply = complete(r)
            send(connection, [sent])
            asked.append((connection, check_reply))
        service.process.send_signal(signal.SIGTERM)
        for i, (connection, check_reply) in enumerate(asked):
            reply = Reader(connection).read()
            if i >= n_before and reply.status in (0, 503):
                continue  # the listener may be closed between the connection and the request
            check_reply(reply)
    status = service.process.wait(PATIENCE)
    check(status == 0, "it did not end well", status)
    said = service.process.stderr.read() if service.process.stderr else ""
    check("Traceback" not in said, "an error of the service", said[-2000:])
    return "ended"


# --- Many of them -------------------------------------------------------------------------------------------


def fuzz(n_cases: int, seed: int, tell: Callable[[str], None] = lambda line: None) -> Counter[str]:
    """Run cases; raise FindingError, with the seed of the case, if one of them finds something."""
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder, "model.budgetprune")
        predictor("classes").save(model)
        options = [word for option in OPTIONS.items() for word in option]
        for first in range(0, n_cases, CASES_PER_SIGNAL):
            seeds = range(seed + first, seed + min(first + CASES_PER_SIGNAL, n_cases))
            with running(model, *options) as service:
                at_first = memory(service)
                for number in seeds:
                    outcomes[run_case(service, number, at_first)] += 1
                outcomes[run_case(service, seeds[-1], at_first, end_amid_requests)] += 1
            tell(f"{first + len(seeds)} of {n_cases} cases")
    return outcomes


def run_case(service: Running, seed: int, at_first: float, conversation: Conversation | None = None) -> str:
    r = Random(seed)
    is_last = conversation is not None
    conversation = conversation or r.choice(CONVERSATIONS)
    try:
        outcome = conversation(service, r)
        if not is_last:
            check_health(service)
            check(service.process.poll() is None, "it has ended", service.process.returncode)
            grown = memory(service) - at_first
            check(grown < MEMORY, "MB of memory that it has grown by", grown)
    except Exception as error:  # refused connections, timeouts and cut off answers are findings as well
        told = f"{conversation.__name__}: {error!r}; reproduce with --cases 1 --seed {seed}"
        raise FindingError(told) from error
    return outcome


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0, help="of the first case; each next one has the next")
    options = parser.parse_args()
    try:
        outcomes = fuzz(options.cases, options.seed, lambda line: print(line, file=sys.stderr))
    except FindingError as finding:
        print(f"found: {finding}")
        return 1
    for outcome, count in sorted(outcomes.items(), key=lambda item: -item[1]):
        print(f"{count:6d}  {outcome}")
    print(f"{options.cases} cases, nothing found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
