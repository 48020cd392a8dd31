"""Run the service in one process, with a graceful shutdown."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import signal
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any, NoReturn

import uvicorn

from budgetprune.errors import InvalidInputError
from budgetprune.predictor import BudgetPredictor
from budgetprune.service.accept import Acceptor
from budgetprune.service.app import create_app
from budgetprune.service.bodies import parse
from budgetprune.service.connection import LINGER, Connection, SharedState
from budgetprune.service.hosts import Hosts
from budgetprune.utils.limits import Limits, connection_limit

# Requests that arrive within this many seconds after a signal are still answered.
ARRIVING = 0.1
# Seconds between two checks for pending work.
TICK = 0.02

SIGNALS = (signal.SIGINT, signal.SIGTERM)

_log = logging.getLogger("uvicorn.error")


@dataclass(frozen=True)
class ServerOptions:
    """Options of `run`.

    Parameters
    ----------
    host : str
        Name or address to listen on. There is no authentication; the default is local only.
    port : int
        0 selects a free port.
    limits : Limits
    allowed_hosts : names or addresses
        Accepted ``Host`` headers, besides `host` and the names of the loopback interface; "*" accepts all. If
        `host` is the address of all interfaces, every address is accepted, but no other name.
    grace : float
        Seconds after a signal until pending requests are rejected (503).
    drain : float
        Seconds after a signal in which connections are accepted, but new requests are rejected (503).
    log_level : str
        Log level of uvicorn: critical, error, warning, info, debug or trace.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    limits: Limits = field(default_factory=Limits)
    allowed_hosts: Iterable[str] = ()
    grace: float = 30
    drain: float = 1
    log_level: str = "warning"


def run(
    predictor: BudgetPredictor,
    options: ServerOptions | None = None,
    *,
    when_ready: Callable[[str], None] = lambda address: None,
    **settings: Any,
) -> None:
    """Serve a predictor until SIGINT or SIGTERM; requests that have arrived are still answered.

    Parameters
    ----------
    predictor : BudgetPredictor
    options : ServerOptions, optional
    when_ready : callable
        Called with the address once connections are accepted.
    **settings
        Fields of `ServerOptions`, instead of those in `options`.

    Raises
    ------
    OSError
        If the address cannot be bound.
    InvalidInputError
        If one of `allowed_hosts` is not a valid host.
    """
    if "limits" in settings and settings["limits"] is None:
        settings["limits"] = Limits()
    options = replace(options or ServerOptions(), **settings)
    limits, hosts = options.limits, Hosts(options.host, options.allowed_hosts)
    listener = _listener(options.host, options.port)
    with listener:
        app = create_app(predictor, limits, hosts=hosts)
        _warm_up(predictor)
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
            signal.signal(number, _leave)
        # Exclude libraries and the model from garbage collection: it would take 100 ms each time.
        gc.collect()
        gc.freeze()
        server = _Server(config, listener, options)
        server.when_ready = lambda: when_ready(_address(listener))
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(server.serve())


class _Server(uvicorn.Server):
    """uvicorn's server with `Connection` as protocol and a graceful shutdown."""

    when_ready: Callable[[], None]

    def __init__(self, config: uvicorn.Config, listener: socket.socket, options: ServerOptions) -> None:
        super().__init__(config)
        self._listener, self._grace, self._drain = listener, options.grace, options.drain
        self._most = connection_limit(options.limits)
        self._shared = SharedState(options.limits)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept connections. See uvicorn."""

        def make() -> Connection:
            return Connection(self.config, self.server_state, self._shared)

        opened = self.server_state.connections
        self._acceptor = Acceptor(self._listener, make, opened, self._shared, self._most)
        self.servers = []
        self.started = True
        self.when_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer requests that have arrived, reject later ones, then close. See uvicorn."""
        loop = asyncio.get_running_loop()
        start, state = loop.time(), self.server_state
        await asyncio.sleep(ARRIVING)
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


def _listener(host: str, port: int) -> socket.socket:
    """Bind the socket first, so that a busy port fails early."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except UnicodeError:
        raise OSError(f"{host!r} is not a host name") from None
    family, kind, protocol, _, address = found[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError:
        listener.close()
        raise
    return listener


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _warm_up(predictor: BudgetPredictor) -> None:
    """Compile the kernels, or read them from their cache, before the first request."""
    parse(b"{}", Limits())
    predictor.step({})
    with contextlib.suppress(InvalidInputError):  # zeros may be invalid
        predictor.decide(dict.fromkeys(predictor.feature_names, 0.0))


def _leave(_signal: int, _frame: FrameType | None) -> NoReturn:
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)  # a second signal would change the exit status
    raise SystemExit(0)
