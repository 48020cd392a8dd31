"""Options of the server."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from budgetprune.errors import InvalidInputError
from budgetprune.service.access import Access
from budgetprune.utils.limits import MOST_CONNECTIONS, Limits

__all__ = ["Access", "Limits", "ServerOptions"]

# One is enough, because workers wait for nothing but clients. There is some room, because containers do not
# always tell how many processors they have.
WORKERS_PER_PROCESSOR = 4


@dataclass(frozen=True)
class ServerOptions:
    """Options of `run`.

    Parameters
    ----------
    host : str
        Name or address to listen on. There is no encryption; the default is local only.
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
    workers : int
        Number of processes that answer requests. Several share the socket, the metrics and the limit on
        connections, and are replaced when they die. Windows allows only one.
    access : Access
        Tokens, and the limit of each client.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    limits: Limits = field(default_factory=Limits)
    allowed_hosts: Iterable[str] = ()
    grace: float = 30
    drain: float = 1
    log_level: str = "warning"
    workers: int = 1
    access: Access = field(default_factory=Access)

    def __post_init__(self) -> None:
        object.__setattr__(self, "allowed_hosts", tuple(self.allowed_hosts))
        _check_workers(self.workers, self.limits)

    def of_worker(self, index: int) -> ServerOptions:
        """Options of one of several workers, with its share of the connections."""
        n_connections = self.limits.connections or MOST_CONNECTIONS
        share = n_connections // self.workers + (index < n_connections % self.workers)
        return replace(self, workers=1, limits=replace(self.limits, connections=share))


def _check_workers(workers: object, limits: Limits) -> None:
    if not isinstance(workers, int) or isinstance(workers, bool):
        raise InvalidInputError(f"workers must be a whole number of processes, not {workers!r}.")
    if workers < 1:
        raise InvalidInputError(f"workers must be at least 1, not {workers}.")
    if workers == 1:
        return
    if sys.platform == "win32":
        raise InvalidInputError(
            f"workers must be 1 on Windows, not {workers}: Windows cannot share the socket. Run several "
            "services at different ports behind a load balancer."
        )
    n_processors = os.cpu_count() or 1
    if workers > WORKERS_PER_PROCESSOR * n_processors:
        raise InvalidInputError(
            f"workers must be at most {WORKERS_PER_PROCESSOR * n_processors} on this machine, not {workers}: "
            f"it has {n_processors} processors, and one worker can use one of them."
        )
    n_connections = limits.connections or MOST_CONNECTIONS
    if workers > n_connections:
        raise InvalidInputError(
            f"there are {workers} workers, but the limit on connections allows only {n_connections} in all; "
            "raise it, or start fewer workers."
        )
