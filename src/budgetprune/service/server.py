"""Run the service in one process, with a graceful shutdown."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import signal
import socket
from collections.abc import Callable

import uvicorn

from budgetprune.errors import InvalidInputError
from budgetprune.predictor import BudgetPredictor
from budgetprune.service.accept import Acceptor
from budgetprune.service.app import build_application
from budgetprune.service.columns import Columns
from budgetprune.service.connection import LINGER, Connection, SharedState
from budgetprune.service.counts import Counts, OwnRow
from budgetprune.service.hosts import Hosts
from budgetprune.service.job import FORCE
from budgetprune.service.model_description import ModelDescription
from budgetprune.service.options import ServerOptions
from budgetprune.service.rates import RateMemory
from budgetprune.service.served import ServedModel
from budgetprune.service.signals import SIGNALS, leave
from budgetprune.utils.limits import connection_limit

# Requests that arrive within this many seconds after a signal are still answered.
ARRIVING = 0.1
# Seconds between two checks for pending work.
TICK = 0.02

_log = logging.getLogger("uvicorn.error")


def serve(
    model: ServedModel,
    listener: socket.socket,
    options: ServerOptions,
    *,
    when_ready: Callable[[], None],
    row: OwnRow | None = None,
    control: socket.socket | None = None,
    rates: RateMemory | None = None,
) -> None:
    """Serve a model in this process until SIGINT or SIGTERM.

    Parameters
    ----------
    model : ServedModel
    listener : socket
        Bound socket; it is closed in the end.
    options : ServerOptions
    when_ready : callable
        Called once connections are accepted.
    row : OwnRow, optional
        Where one of several workers counts.
    control : socket, optional
        From the supervisor of several workers; see `budgetprune.service.job`.
    rates : RateMemory, optional
        Where several workers count the requests of each client.
    """
    limits, hosts = options.limits, Hosts(options.host, options.allowed_hosts)
    description = ModelDescription(model.predictor)
    row = row or OwnRow(Counts(1, Columns(description).n_columns))
    app, decisions = build_application(model, limits, hosts, row, access=options.access, rates=rates)
    _warm_up(model.predictor)
    config = uvicorn.Config(
        app,
        log_level=options.log_level,
        access_log=False,  # the metrics replace it, and are faster
        lifespan="off",
        ws="none",
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=limits.keep_alive,  # type: ignore[arg-type]  # float works
    )
    # After shutdown, uvicorn raises the signal again for the previous handler.
    for number in SIGNALS:
        signal.signal(number, leave)
    # Exclude libraries and the model from garbage collection: it would take 100 ms each time.
    gc.collect()
    gc.freeze()
    server = _Server(config, listener, options, SharedState(limits, row, decisions.now), control)
    server.when_ready = when_ready
    with listener, asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(server.serve())


class _Server(uvicorn.Server):
    """uvicorn's server with `Connection` as protocol and a graceful shutdown."""

    when_ready: Callable[[], None]

    def __init__(
        self,
        config: uvicorn.Config,
        listener: socket.socket,
        options: ServerOptions,
        shared: SharedState,
        control: socket.socket | None,
    ) -> None:
        super().__init__(config)
        self._listener, self._grace, self._drain = listener, options.grace, options.drain
        self._most = connection_limit(options.limits)
        self._shared = shared
        self._control = control
        self._others_continue = control is not None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept connections. See uvicorn."""

        def make() -> Connection:
            return Connection(self.config, self.server_state, self._shared)

        opened = self.server_state.connections
        self._acceptor = Acceptor(self._listener, make, opened, self._shared, self._most)
        self.servers = []
        self.started = True
        if self._control is not None:
            asyncio.get_running_loop().add_reader(self._control.fileno(), self._obey, self._control)
        self._shared.row.note_serving(True)
        self.when_ready()

    def _obey(self, control: socket.socket) -> None:
        """Do what the supervisor says; stop if it has died."""
        try:
            orders = control.recv(16)
        except OSError:
            orders = b""
        if not orders:
            asyncio.get_running_loop().remove_reader(control.fileno())
            _log.warning("The supervisor of this worker has died; stopping.")
        self._others_continue = False
        self.should_exit = True
        self.force_exit = self.force_exit or FORCE in orders

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer requests that have arrived, reject later ones, then close. See uvicorn."""
        loop = asyncio.get_running_loop()
        start, state = loop.time(), self.server_state
        self._shared.row.note_serving(False)
        await asyncio.sleep(ARRIVING)
        if self._others_continue:  # and accept what comes
            self._acceptor.leave()
        else:
            await self._acceptor.accept_arrived(start + self._grace)
            self._shared.is_draining = True
            await self._wait(start + min(self._drain, self._grace), lambda: False)
            await self._acceptor.close(start + self._grace)
        for connection in self._connections():
            connection.close_when_answered()
        await self._wait(start + self._grace, lambda: not state.connections and not state.tasks)
        if state.connections or state.tasks:
            await self._cut_off()

    def _connections(self) -> list[Connection]:
        return [found for found in self.server_state.connections if isinstance(found, Connection)]

    async def _wait(self, until: float, is_done: Callable[[], bool]) -> None:
        loop = asyncio.get_running_loop()
        while loop.time() < until and not is_done() and not self.force_exit:
            await asyncio.sleep(TICK)

    async def _cut_off(self) -> None:
        _log.warning("%d requests were not finished in time, and are refused.", len(self.server_state.tasks))
        for connection in self._connections():
            connection.cut_off()
        loop = asyncio.get_running_loop()
        await self._wait(loop.time() + LINGER, lambda: not self.server_state.connections)
        for connection in self._connections():
            connection.transport.abort()
        _log.addFilter(_is_no_cancellation)  # clients have got a 503
        for task in self.server_state.tasks:
            task.cancel()


def _is_no_cancellation(record: logging.LogRecord) -> bool:
    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    try:
        import uvloop
    except ImportError:
        return asyncio.SelectorEventLoop  # other loops cannot watch a listening socket
    return uvloop.new_event_loop


def _warm_up(predictor: BudgetPredictor) -> None:
    """Compute before the first request what the predictor computes once."""
    predictor.step({})
    with contextlib.suppress(InvalidInputError):  # zeros may be invalid
        predictor.decide(dict.fromkeys(predictor.feature_names, 0.0))
