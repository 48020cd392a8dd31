"""Run the service: one process, one socket, and an orderly end."""

from __future__ import annotations

import contextlib
import signal
import socket
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

import uvicorn

from budgetprune._limits import Limits
from budgetprune.errors import InvalidInputError
from budgetprune.predictor import BudgetPredictor
from budgetprune.service._app import create_app


def run(
    predictor: BudgetPredictor,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    limits: Limits | None = None,
    grace: int = 30,
    log_level: str = "warning",
    when_ready: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve a predictor until a signal comes; requests that are in flight are answered before it returns.

    Parameters
    ----------
    predictor : BudgetPredictor
    host : str
        A name or an address. There is no authentication, so the default is reachable from this machine alone.
    port : int
        0 takes one that is free.
    limits : Limits, optional
    grace : int
        Seconds that requests in flight may take once a signal has come; then they are cut off.
    log_level : str
        Of uvicorn: critical, error, warning, info, debug or trace.
    when_ready : callable
        Told the address as soon as connections are accepted.

    Raises
    ------
    OSError
        If nothing can listen at that address.
    """
    listener = _listener(host, port)
    with listener:
        app = create_app(predictor, limits)
        _warm_up(predictor)
        config = uvicorn.Config(
            app,
            log_level=log_level,
            access_log=False,  # the counters tell more, and take less time
            lifespan="off",
            ws="none",
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=grace,
        )
        # Once all is answered, uvicorn raises the signal again, for whoever handled it before.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, _leave)
        _Server(config, lambda: when_ready(_address(listener))).run(sockets=[listener])


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, when_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._when_ready = when_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._when_ready()


def _listener(host: str, port: int) -> socket.socket:
    """Bind a socket before anything else is done, so that a busy port is known at once."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except UnicodeError:
        raise OSError(f"{host!r} is no name of a host") from None
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
    predictor.step({})
    with contextlib.suppress(InvalidInputError):  # zeros need not make sense
        predictor.decide(dict.fromkeys(predictor.feature_names, 0.0))


def _leave(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(0)
