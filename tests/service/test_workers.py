"""Several workers: they share the socket and the metrics, are replaced when they die, and end together."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from budgetprune import BudgetPredictor, InvalidInputError
from budgetprune.service import WorkerError, run, supervisor

from .dialogue import dialogue
from .models import GOLDEN, predictor, rows
from .raw import HEALTH, Reader, request
from .servers import PATIENCE, Running, running

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot share the socket")

ROW = rows("classes", 1)[0]
DECIDE = request("POST", "/v1/decide", json.dumps({"values": ROW}).encode())
SOME = {"values": ROW}


@pytest.fixture
def model(tmp_path):
    predictor("classes").save(tmp_path / "m.budgetprune")
    return tmp_path / "m.budgetprune"


def processes() -> list[tuple[int, int, str]]:
    """Number, parent and state of all processes."""
    lines = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,stat="], capture_output=True, text=True, check=True)
    return [
        (int(pid), int(parent), state) for pid, parent, state in map(str.split, lines.stdout.splitlines())
    ]


def workers_of(service: Running) -> list[int]:
    return [pid for pid, parent, state in processes() if parent == service.process.pid and state[0] != "Z"]


def wait_until(is_true) -> None:
    end = time.monotonic() + PATIENCE
    while not is_true():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.05)


def are_gone(pids: list[int]) -> bool:
    return not [pid for pid, _, state in processes() if pid in pids and state[0] != "Z"]


@contextmanager
def alone(worker: int, workers: list[int]) -> Iterator[None]:
    """Stop the other workers, so that this one answers."""
    others = [pid for pid in workers if pid != worker]
    for pid in others:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in others:
            os.kill(pid, signal.SIGCONT)


def ask(service: Running, method: str, path: str, **options) -> httpx.Response:
    """Ask on a new connection; again if its worker has just died."""
    while True:
        try:
            return httpx.request(method, service.url + path, timeout=PATIENCE, **options)
        except httpx.TransportError:
            assert service.process.poll() is None, service.process.stderr.read()


def counters(service: Running) -> dict[str, float]:
    text = ask(service, "GET", "/metrics").text
    return {name: float(value) for name, value in re.findall(r"^(\S+|\S+\{.*\}) (\S+)$", text, flags=re.M)}


def n_decisions(service: Running) -> float:
    return counters(service)["budgetprune_decision_cost_count"]


def wait_for_workers(service: Running, n: int) -> None:
    wait_until(lambda: counters(service)["budgetprune_workers"] == n)


def test_every_worker_answers_and_tells_the_sum(model):
    with running(model, "--workers", "3") as service:
        workers = workers_of(service)
        assert len(workers) == 3
        for n, worker in enumerate(workers, start=1):
            with alone(worker, workers):
                for _ in range(n):
                    assert ask(service, "POST", "/v1/decide", json=SOME).status_code == 200
                assert ask(service, "GET", "/healthz").json() == {"status": "ok"}
        for worker in workers:
            with alone(worker, workers):
                assert n_decisions(service) == 6
        name = 'budgetprune_requests_total{endpoint="/v1/decide",status="200"}'
        wait_until(lambda: counters(service)[name] == 6)  # a request counts after its response
        found = counters(service)
        assert found["budgetprune_workers"] == 3
        assert found["budgetprune_workers_replaced_total"] == 0
        assert service.end() == 0
        assert service.process.stderr.read() == ""
        assert are_gone(workers)


def test_a_dialogue_continues_on_another_worker(model):
    """The service is stateless."""

    class Alternating:
        n_requests = 0

        def post(self, path, **options):
            self.n_requests += 1
            with alone(workers[self.n_requests % 2], workers):
                return ask(service, "POST", path, **options)

    with running(model, "--workers", "2") as service:
        workers = workers_of(service)
        answer, asked = dialogue(Alternating(), ROW)
    assert len(asked) > 2
    assert answer["label"] == predictor("classes").decide(ROW).label


def test_workers_that_die_are_replaced_and_their_counts_are_kept(model):
    with running(model, "--workers", "2") as service:
        for _ in range(5):
            ask(service, "POST", "/v1/decide", json=SOME)
        predictor("averaged").save(model)  # not what is served
        killed = workers_of(service)
        for worker in killed:
            os.kill(worker, signal.SIGKILL)
            wait_until(lambda worker=worker: are_gone([worker]))
            assert n_decisions(service) == 5
        wait_until(lambda: counters(service)["budgetprune_workers_replaced_total"] == 2)
        wait_for_workers(service, 2)
        workers = workers_of(service)
        assert len(workers) == 2
        assert not {*workers} & {*killed}
        for worker in workers:
            with alone(worker, workers):
                assert ask(service, "POST", "/v1/decide", json=SOME).status_code == 200
        assert n_decisions(service) == 7
        assert service.end() == 0
        said = service.process.stderr.read()
        for worker in killed:
            assert re.search(rf"WARNING: +worker {worker} was killed by SIGKILL.*; starting another", said)
        assert said.count("\n") == 2


def test_a_worker_that_is_told_to_end_leaves_requests_to_the_others(model):
    with running(model, "--workers", "2", "--drain", "60") as service:
        workers = workers_of(service)
        with alone(workers[0], workers), service.connect() as slow:
            slow.sendall(HEALTH + DECIDE[:-20])
            reader = Reader(slow)
            assert reader.read().status == 200
            os.kill(workers[0], signal.SIGTERM)
            os.kill(workers[1], signal.SIGCONT)
            for _ in range(20):
                assert ask(service, "POST", "/v1/decide", json=SOME).status_code == 200
            slow.sendall(DECIDE[-20:])
            assert reader.read().status == 200
            assert reader.is_at_end()
        wait_until(lambda: counters(service)["budgetprune_workers_replaced_total"] == 1)
        wait_for_workers(service, 2)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_requests_that_have_begun_are_answered_by_all_workers(model, number):
    with running(model, "--workers", "2") as service, service.connect() as one, service.connect() as other:
        workers = workers_of(service)
        readers = []
        for connection in (one, other):
            connection.sendall(HEALTH + DECIDE[:-20])
            readers.append(Reader(connection))
            assert readers[-1].read().status == 200
        service.process.send_signal(number)
        service.wait_until_refused()
        for connection, reader in zip((one, other), readers, strict=True):
            connection.sendall(DECIDE[-20:])
            assert reader.read().status == 200
            assert reader.is_at_end()
        assert service.process.wait(PATIENCE) == 0
        assert are_gone(workers)
        assert service.process.stderr.read() == ""


def test_clients_that_never_end_are_refused(model):
    with running(model, "--workers", "2", "--grace", "1") as service, service.connect() as stuck:
        workers = workers_of(service)
        stuck.sendall(HEALTH + DECIDE[:-1])
        reader = Reader(stuck)
        assert reader.read().status == 200
        service.process.send_signal(signal.SIGTERM)
        assert reader.read().status == 503
        assert service.process.wait(PATIENCE) == 0
        assert are_gone(workers)


def test_a_second_interrupt_does_not_wait_for_clients(model):
    with running(model, "--workers", "2", "--grace", "1000") as service, service.connect() as stuck:
        stuck.sendall(HEALTH + DECIDE[:-1])
        reader = Reader(stuck)
        assert reader.read().status == 200
        service.process.send_signal(signal.SIGINT)
        time.sleep(0.1)  # two signals that come at once are one
        service.process.send_signal(signal.SIGINT)
        assert reader.read().status == 503
        assert service.process.wait(PATIENCE) == 0


def test_no_worker_outlives_its_supervisor(model):
    with running(model, "--workers", "2") as service, service.connect() as slow:
        workers = workers_of(service)
        slow.sendall(HEALTH + DECIDE[:-20])
        reader = Reader(slow)
        assert reader.read().status == 200
        service.process.kill()
        service.process.wait(PATIENCE)
        slow.sendall(DECIDE[-20:])
        assert reader.read().status == 200  # in time
        wait_until(lambda: are_gone(workers))
        assert "The supervisor of this worker has died" in service.process.stderr.read()


@pytest.mark.parametrize(
    ("modules", "unneeded"),
    [
        ("budgetprune.service.supervisor", ("fastapi", "starlette", "uvicorn", "prometheus_client", "typer")),
        ("budgetprune.service.server", ("typer", "rich", "pandas", "pyarrow", "scipy", "sklearn")),
    ],
    ids=["supervisor", "worker"],
)
def test_memory_is_for_what_a_process_does(modules, unneeded, tmp_path):
    code = f"import sys\nimport budgetprune.service.launch, {modules}\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert not {*unneeded} & {*done.stdout.split()}


# --- Workers that cannot start ------------------------------------------------------------------------------


@pytest.fixture
def broken(tmp_path):
    """Workers end at once while this file exists, and say so."""
    folder = tmp_path / "site"
    folder.mkdir()
    is_worker = 'any("service.worker" in word for word in sys.orig_argv)'
    code = (
        f"import os, sys\nif {is_worker} and os.path.exists({str(folder / 'broken')!r}):\n    os._exit(7)\n"
    )
    (folder / "sitecustomize.py").write_text(code, encoding="utf-8")
    return folder / "broken"


def environment_with(folder) -> dict[str, str]:
    return {"PYTHONPATH": os.pathsep.join(map(str, (folder, *filter(None, sys.path))))}


def test_replacements_that_cannot_start_are_tried_again(model, broken):
    with running(model, "--workers", "2", environment=environment_with(broken.parent)) as service:
        broken.touch()
        os.kill(workers_of(service)[0], signal.SIGKILL)
        wait_until(lambda: counters(service)["budgetprune_workers_replaced_total"] >= 3)
        assert counters(service)["budgetprune_workers"] == 1
        broken.unlink()
        wait_for_workers(service, 2)
        assert service.end() == 0
        assert (
            "ended with status 7 before it could serve; starting another in" in service.process.stderr.read()
        )


def test_without_any_worker_the_service_ends(model, broken):
    with running(model, "--workers", "2", environment=environment_with(broken.parent)) as service:
        broken.touch()
        for worker in workers_of(service):
            os.kill(worker, signal.SIGKILL)
        assert service.process.wait(PATIENCE) == 1
        last = service.process.stderr.read().splitlines()[-1]
        assert re.fullmatch(
            r"budgetprune: error: .* cannot be served: worker \d+ ended with status 7 before .*", last
        )


@pytest.mark.parametrize(
    ("module", "code", "words"),
    [
        ("uvicorn", "raise OSError('no uvicorn today')", "a worker cannot serve: no uvicorn today"),
        ("uvicorn", "import os; os.kill(os.getpid(), 9)", r"killed by SIGKILL \(out of memory\?\) before"),
    ],
)
def test_the_error_of_a_worker_is_raised(tmp_path, monkeypatch, module, code, words):
    (tmp_path / f"{module}.py").write_text(code, encoding="utf-8")
    environment = {**os.environ, **environment_with(tmp_path)}
    monkeypatch.setattr(supervisor, "environment", lambda: environment)
    before = {number: signal.getsignal(number) for number in supervisor.SIGNALS}
    with pytest.raises(WorkerError, match=words):
        run(predictor("averaged"), port=0, workers=2)
    assert before == {number: signal.getsignal(number) for number in supervisor.SIGNALS}


def test_no_process_can_be_started(monkeypatch):
    monkeypatch.setattr(sys, "executable", str(GOLDEN / "no such program"))
    with pytest.raises(WorkerError, match=r"a worker cannot be started: .*no such program"):
        run(predictor("averaged"), port=0, workers=2)


def test_a_predictor_that_cannot_be_sent():
    class Local(BudgetPredictor):
        pass

    local = Local(predictor("averaged").forest)
    with pytest.raises(InvalidInputError, match=r"the predictor cannot be sent to workers: .*Local"):
        run(local, port=0, workers=2)


def test_delays_grow_while_workers_die_soon():
    backoff = supervisor.Backoff()
    delays = [backoff.delay(0.0) for _ in range(100)]
    assert delays[:3] == [0.2, 0.4, 0.8]
    assert delays[-1] == supervisor.LONGEST_DELAY
    assert backoff.delay(supervisor.STABLE) == 0
    assert backoff.delay(1.0) == 0.2
