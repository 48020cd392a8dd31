"""Run several workers, and replace those that die."""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import selectors
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from time import monotonic
from types import FrameType

from budgetprune.errors import BudgetPruneError, InvalidInputError
from budgetprune.service.columns import Columns
from budgetprune.service.counts import CONNECTIONS, REPLACED, SERVING, STREAMS, Counts
from budgetprune.service.job import FAILED, FORCE, READY, STOP, Job
from budgetprune.service.model_description import ModelDescription
from budgetprune.service.options import ServerOptions
from budgetprune.service.processes import environment, nameless_file
from budgetprune.service.rates import BYTES, RateMemory
from budgetprune.service.served import ServedModel
from budgetprune.service.signals import SIGNALS, leave

# Seconds before a worker that died soon is replaced: the first delay, doubled each time, and the longest.
FIRST_DELAY, LONGEST_DELAY = 0.2, 30.0
# A worker that served for so many seconds is replaced at once.
STABLE = 10.0
# Replacements in a row that fail to start, until the service ends if no worker is left.
MOST_FAILURES = 3
# Seconds that workers may take to end, after the time in which clients are answered, before they are killed.
ENDING = 5.0

_log = logging.getLogger("budgetprune.service")


class WorkerError(BudgetPruneError, RuntimeError):
    """Workers of the service cannot start."""


def supervise(
    model: ServedModel,
    listener: socket.socket,
    options: ServerOptions,
    *,
    when_ready: Callable[[], None],
) -> None:
    """Serve a model with several processes until SIGINT or SIGTERM.

    Workers are new processes, not forks: a fork would copy locks that threads of libraries hold.

    Parameters
    ----------
    model : ServedModel
    listener : socket
        Bound socket, which the workers share; it is closed in the end.
    options : ServerOptions
    when_ready : callable
        Called once all workers accept connections.

    Raises
    ------
    WorkerError
        If workers cannot start.
    """
    _log_to_standard_error(options.log_level)
    n_columns = Columns(ModelDescription(model.predictor)).n_columns
    with ExitStack() as stack:
        memory = nameless_file(bytes(Counts.size_of(options.workers, n_columns)))
        stack.callback(os.close, memory)
        table = nameless_file(bytes(BYTES if options.access.rate else 0))
        stack.callback(os.close, table)
        rates = RateMemory(table)
        job = nameless_file(_pickled(Job(model, options, listener.fileno(), memory, n_columns, rates)))
        stack.callback(os.close, job)
        counts = Counts(options.workers, n_columns, memory)
        descriptors = [listener.fileno(), memory, table, job]
        if model.offered is not None:
            descriptors.append(model.offered.descriptor)
        Supervisor(job, tuple(descriptors), counts, options, listener).run(when_ready)
    leave()


class Backoff:
    """Delays before a worker is replaced: longer each time, while workers die soon."""

    def __init__(self) -> None:
        self._n_early = 0

    def delay(self, seconds_served: float) -> float:
        """Return the delay, given how long the worker has served."""
        if seconds_served >= STABLE:
            self._n_early = 0
            return 0.0
        self._n_early += 1
        return min(FIRST_DELAY * 2.0 ** min(self._n_early - 1, 20), LONGEST_DELAY)


@dataclass
class Place:
    """A worker, and after its death the next in its place, with the same row of `Counts`."""

    index: int
    row: memoryview[float]
    process: subprocess.Popen[bytes] | None = None
    control: socket.socket | None = None
    ready_since: float | None = None  # None: it starts, or there is none
    said: bytes = b""
    due: float | None = 0.0  # when to start the next worker
    backoff: Backoff = field(default_factory=Backoff)


class Supervisor:
    """Start workers, replace those that die, and stop all at a signal.

    Parameters
    ----------
    job : int
        Descriptor of the file with the `Job` of all workers.
    descriptors : tuple of int
        Descriptors that the workers inherit.
    counts : Counts
    options : ServerOptions
    listener : socket
        Closed at the signal.
    """

    def __init__(
        self,
        job: int,
        descriptors: tuple[int, ...],
        counts: Counts,
        options: ServerOptions,
        listener: socket.socket,
    ) -> None:
        self._job, self._descriptors = job, descriptors
        self._options, self._listener = options, listener
        self._places = [Place(k, row) for k, row in enumerate(counts.rows)]
        self._selector = selectors.DefaultSelector()
        self._signals: list[int] = []
        self._was_ready = False
        self._n_failures = 0
        self._deadline: float | None = None  # until all workers must have ended

    def run(self, when_ready: Callable[[], None]) -> None:
        """Return after a signal, when all workers have ended."""
        with self._selector, _handled(self._signals.append) as wakeup:
            self._selector.register(wakeup, selectors.EVENT_READ)
            try:
                while self._deadline is None or any(place.process for place in self._places):
                    self._start_due()
                    for key, _ in self._selector.select(self._seconds_to_wait()):
                        if key.data is None:
                            wakeup.recv(4096)
                        else:
                            self._listen_to(key.data)
                    self._heed_signals()
                    if not self._was_ready and all(place.ready_since for place in self._places):
                        self._was_ready = True
                        when_ready()
            finally:
                self._kill_all()
                for place in self._places:
                    if place.control is not None:
                        place.control.close()

    # --- Workers --------------------------------------------------------------------------------------------

    def _start_due(self) -> None:
        for place in self._places:
            if place.due is not None and place.due <= monotonic():
                place.due = None
                self._start(place)

    def _start(self, place: Place) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            words = [str(theirs.fileno()), str(self._job), str(place.index)]
            try:
                place.process = subprocess.Popen(
                    [sys.executable, "-P", "-m", "budgetprune.service.worker", *words],
                    stdin=subprocess.DEVNULL,
                    pass_fds=(theirs.fileno(), *self._descriptors),
                    env=environment(),
                    process_group=0,  # Ctrl-C is for the supervisor
                )
            except OSError as error:
                ours.close()
                self._fail(place, f"a worker cannot be started: {error}")
                return
        place.control, place.said, place.ready_since = ours, b"", None
        self._selector.register(ours, selectors.EVENT_READ, place)

    def _listen_to(self, place: Place) -> None:
        assert place.control is not None
        try:
            said = place.control.recv(2**16)
        except OSError:
            said = b""
        if not said:
            self._bury(place)
            return
        place.said += said
        if said == READY:
            place.ready_since, self._n_failures = monotonic(), 0
            if self._was_ready:
                _log.info("Worker %d serves.", _pid(place))

    def _bury(self, place: Place) -> None:
        """Reap a worker that has died, and schedule the next."""
        assert place.control is not None
        self._selector.unregister(place.control)
        place.control.close()
        message = _cause(place)
        place.process = place.control = None
        place.row[SERVING] = place.row[CONNECTIONS] = place.row[STREAMS] = 0.0
        if self._deadline is not None:
            return
        if place.ready_since is None:
            self._fail(place, message)
            return
        self._replace(place, message, monotonic() - place.ready_since)
        place.ready_since = None

    def _fail(self, place: Place, message: str) -> None:
        """Handle a worker that could not start."""
        self._n_failures += 1
        is_alone = not any(each.ready_since for each in self._places)
        if not self._was_ready or (is_alone and self._n_failures >= MOST_FAILURES):
            raise WorkerError(message)
        self._replace(place, message, 0.0)

    def _replace(self, place: Place, message: str, seconds_served: float) -> None:
        delay = place.backoff.delay(seconds_served)
        place.due = monotonic() + delay
        place.row[REPLACED] += 1.0
        _log.warning("%s; starting another%s.", message, f" in {delay:g} s" if delay else "")

    # --- The end --------------------------------------------------------------------------------------------

    def _heed_signals(self) -> None:
        while self._signals:
            number = self._signals.pop(0)
            if self._deadline is None:
                self._stop()
            elif number == signal.SIGINT:
                self._tell_all(FORCE)

    def _stop(self) -> None:
        self._deadline = monotonic() + self._options.grace + ENDING
        self._listener.close()  # the workers close theirs once the backlog is empty
        self._tell_all(STOP)
        for place in self._places:
            place.due = None
            if place.process is not None and place.ready_since is None:
                place.process.terminate()

    def _tell_all(self, order: bytes) -> None:
        for place in self._places:
            if place.control is not None:
                with contextlib.suppress(OSError):  # it has just died
                    place.control.sendall(order)

    def _seconds_to_wait(self) -> float | None:
        """Seconds until there is something to do unless something happens. Kill workers that do not end."""
        if self._deadline is not None:
            if monotonic() >= self._deadline:
                _log.warning("Workers did not end in time, and are killed.")
                self._kill_all()
                self._deadline += ENDING
            return max(0.0, self._deadline - monotonic())
        due = [place.due for place in self._places if place.due is not None]
        return max(0.0, min(due) - monotonic()) if due else None

    def _kill_all(self) -> None:
        for place in self._places:
            if place.process is not None:
                place.process.kill()
                place.process.wait()


def _cause(place: Place) -> str:
    """Wait for a process that has closed its socket, and say why it ended."""
    assert place.process is not None
    try:
        status = place.process.wait(ENDING)
    except subprocess.TimeoutExpired:
        place.process.kill()
        status = place.process.wait()
    if place.said.startswith(FAILED):
        reason = place.said[len(FAILED) :].decode("utf-8", "replace")
        return f"a worker cannot serve: {reason.removesuffix('.')}"
    when = "" if place.ready_since else " before it could serve"
    if status >= 0:
        return f"worker {_pid(place)} ended with status {status}{when}"
    hint = " (out of memory?)" if status == -signal.SIGKILL else ""
    return f"worker {_pid(place)} was killed by {_name(-status)}{hint}{when}"


def _pid(place: Place) -> int:
    assert place.process is not None
    return place.process.pid


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _pickled(job: Job) -> bytes:
    try:
        return pickle.dumps(job, protocol=pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InvalidInputError(f"the predictor cannot be sent to workers: {error}.") from None


@contextmanager
def _handled(handle: Callable[[int], object]) -> Iterator[socket.socket]:
    """Handle signals; the yielded socket becomes readable when one has come."""

    def note(number: int, _frame: FrameType | None) -> None:
        handle(number)

    receiver, sender = socket.socketpair()
    with receiver, sender:
        sender.setblocking(False)
        wakeup = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
        handlers = {number: signal.signal(number, note) for number in SIGNALS}
        try:
            yield receiver
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(wakeup)


def _log_to_standard_error(level: str) -> None:
    """Log like uvicorn, unless the program has its own handlers."""
    _log.setLevel(level.upper() if level != "trace" else logging.DEBUG)
    if not _log.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(levelname)s:  %(message)s"))
        _log.addHandler(handler)
