"""Measure the service: decisions per second over loopback, relative to empty requests.

Run ``python -m benchmarks.service``. The server is ``budgetprune serve`` in a separate process; this
process drives it over a few connections that stay open, one request at a time on each. The peer is
``GET /healthz``: the same server and connections, but no body to read and nothing to decide. FastAPI routes
it, as it routes everything but requests for decisions. A decision is one ``POST /v1/decide`` with a complete
row: one request, one decision, no batches.
"""

from __future__ import annotations

import argparse
import json
import re
import socket
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import cycle
from pathlib import Path
from time import perf_counter

from sklearn.ensemble import RandomForestClassifier

from benchmarks.measure import BenchmarkError, stage
from benchmarks.report import Row
from benchmarks.shapes import Rows, settings
from budgetprune import BudgetPredictor, Forest

HOST = "127.0.0.1"
N_ASKED = 1000  # number of different rows in the requests
BAR = 0.7


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark from a terminal."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service", description=__doc__)
    parser.add_argument("--trees", type=int, default=40, help="of the forest (%(default)s)")
    parser.add_argument("--requests", type=int, default=4000, help="in a round, of each kind (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="medians count (%(default)s)")
    parser.add_argument("--connections", type=int, default=8, help="that stay open (%(default)s)")
    options = parser.parse_args(arguments)
    for name, value in vars(options).items():
        if value < 1:
            parser.error(f"--{name} must be at least 1, not {value}")
    if options.requests < options.connections:
        parser.error("--requests must be at least as many as --connections")
    try:
        with tempfile.TemporaryDirectory() as folder:
            model = Path(folder, "model.budgetprune")
            with stage(f"training {options.trees} trees"):
                requests = prepare(model, options.trees)
            with serving(model) as port:
                rates = measure(port, requests, options)
    except (BenchmarkError, OSError) as error:
        print(f"{parser.prog}: error: {error}", file=sys.stderr)
        return 1
    for row in report(rates):
        print(f"{row.what}: {row.value:.3g} {row.unit} {row.verdict} {row.note}".rstrip())
    return 0


def prepare(model: Path, n_trees: int) -> dict[str, list[bytes]]:
    """Save a forest, and prepare the requests about test rows."""
    X, y = rows_of_miniboone()
    forest = RandomForestClassifier(n_trees, criterion="entropy", max_features=None, random_state=0, n_jobs=2)
    predictor = BudgetPredictor(Forest.from_model(forest.fit(X[N_ASKED:], y[N_ASKED:])))
    predictor.save(model)
    rows = [dict(zip(predictor.feature_names, row, strict=True)) for row in X[:N_ASKED].tolist()]
    # A request in the middle of a dialogue: some of the values are known.
    begun = [dict(list(row.items())[: k % X.shape[1]]) for k, row in enumerate(rows)]
    return {
        "empty": [_request("GET", "/healthz", b"")],
        "decide": [_request("POST", "/v1/decide", _body(row)) for row in rows],
        "step": [_request("POST", "/v1/step", _body(row)) for row in begun],
    }


def rows_of_miniboone() -> Rows:
    """Rows of MiniBooNE if available, else generated rows of the same shape."""
    found = {setting.name: setting for setting in settings()}
    setting = found.get("MiniBooNE", found["MiniBooNE shape"])
    X, y = setting.load()
    print(f"  rows of {setting.name}", file=sys.stderr)
    return X[: setting.n_train], y[: setting.n_train]


def measure(port: int, requests: dict[str, list[bytes]], options: argparse.Namespace) -> dict[str, float]:
    """Requests per second of each kind; kinds alternate, so that other load affects all equally."""
    found: dict[str, list[float]] = {kind: [] for kind in requests}
    with ExitStack() as stack:
        connections = [
            stack.enter_context(socket.create_connection((HOST, port), timeout=60))
            for _ in range(options.connections)
        ]
        for connection in connections:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for asked in requests.values():
            drive(connections, asked, min(options.requests, 500))  # to warm up
        for _ in range(options.rounds):
            for kind, asked in requests.items():
                found[kind].append(drive(connections, asked, options.requests))
    return {kind: statistics.median(rates) for kind, rates in found.items()}


def drive(connections: list[socket.socket], requests: list[bytes], n: int) -> float:
    """Send requests, one at a time per connection, until `n` are answered; return requests per second."""
    asked = cycle(requests)
    start = perf_counter()
    for connection in connections:
        connection.sendall(next(asked))
    for i in range(n):
        connection = connections[i % len(connections)]
        _read_answer(connection)
        if i + len(connections) < n:
            connection.sendall(next(asked))
    return n / (perf_counter() - start)


def report(rates: dict[str, float]) -> list[Row]:
    """Rows of the report: the ratio with its bar, and the measured rates."""
    per_second = ", ".join(f"{kind} {rate:,.0f}" for kind, rate in rates.items())
    return [
        Row(
            "service",
            "decisions per second / empty requests per second",
            rates["decide"] / rates["empty"],
            BAR,
            note=f"(requests per second: {per_second})",
            at_least=True,
        ),
        Row("service-step", "steps per second / empty requests per second", rates["step"] / rates["empty"]),
    ]


@contextmanager
def serving(model: Path) -> Iterator[int]:
    """Start the server at a free port."""
    command = [sys.executable, "-m", "budgetprune", "serve", str(model), "--host", HOST, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = re.search(rf" at http://{re.escape(HOST)}:(\d+)$", line)
            if found is None:
                raise BenchmarkError(f"the server did not start; it said {line!r}.")
            yield int(found[1])
        finally:
            process.terminate()


def _body(values: dict[str, float]) -> bytes:
    return json.dumps({"values": values}).encode()


def _request(method: str, path: str, body: bytes) -> bytes:
    head = [f"{method} {path} HTTP/1.1", f"host: {HOST}"]
    if body:
        head += ["content-type: application/json", f"content-length: {len(body)}"]
    return "\r\n".join([*head, "", ""]).encode() + body


def _read_answer(connection: socket.socket) -> None:
    received = connection.recv(2**16)
    while b"\r\n\r\n" not in received:
        received += _more(connection)
    head, _, body = received.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200 "):
        raise BenchmarkError(f"the server answered {received[:500]!r}.")
    length = re.search(rb"(?i)content-length: *(\d+)", head)
    if length is None:
        raise BenchmarkError(f"an answer has no length: {head!r}.")
    missing = int(length[1]) - len(body)
    while missing > 0:
        missing -= len(_more(connection))


def _more(connection: socket.socket) -> bytes:
    part = connection.recv(2**16)
    if not part:
        raise BenchmarkError("the server closed a connection in the middle of an answer.")
    return part


if __name__ == "__main__":
    sys.exit(main())
