"""Limits of the service, per request and per client."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, fields

from budgetprune.errors import InvalidInputError

KIB, MIB = 2**10, 2**20


@dataclass(frozen=True)
class Limits:
    """Limits per request and per client.

    Attributes
    ----------
    body : int
        Bytes of a request about one example, and of each row of a batch or a stream.
    batch_rows : int
        Rows of a batch.
    batch_body : int
        Bytes of a batch.
    all_bodies : int
        Bytes of all bodies that are being received or queued.
    streams : int
        Streams that are open at one time, in all workers.
    depth : int
        Maximum nesting depth of lists and objects.
    containers : int
        Lists and objects in a request about one example. A batch may have five more for each row.
    header_bytes : int
        Bytes of a request line with all headers, or of the trailers of a chunked body.
    headers : int
        Number of headers.
    connections : int, optional
        Connections that are open at one time. None: 1000, or fewer if the process may have fewer descriptors.
    header_timeout : float
        Seconds from the first byte of a request, or from the beginning of a connection, to the last header.
    body_timeout : float
        Seconds from the last header to the end of the body, or for each line of a stream; also the longest
        pause in reading a response.
    keep_alive : float
        Seconds that a connection may be idle between two requests.

    The limits on headers, connections and time hold for `run`. Another server has its own.
    """

    body: int = MIB
    batch_rows: int = 1000
    batch_body: int = 8 * MIB
    all_bodies: int = 64 * MIB
    streams: int = 16
    depth: int = 32
    containers: int = 1000
    header_bytes: int = 32 * KIB
    headers: int = 100
    connections: int | None = None
    header_timeout: float = 10.0
    body_timeout: float = 30.0
    keep_alive: float = 5.0

    def __post_init__(self) -> None:
        for field in fields(self):
            limit = getattr(self, field.name)
            if field.name in _TIMES:
                if not (limit > 0 and math.isfinite(limit)):
                    message = f"the limit {field.name} must be seconds, finite and above 0, not {limit}."
                    raise InvalidInputError(message)
            elif limit is not None and limit < 1:
                raise InvalidInputError(f"the limit {field.name} must be at least 1, not {limit}.")


_TIMES = frozenset({"header_timeout", "body_timeout", "keep_alive"})

MOST_CONNECTIONS = 1000
# Descriptors reserved for the listener, the event loop, files and sockets that are being closed.
RESERVE = 64
# Windows has no such limit, but its select() watches no more sockets.
MOST_SOCKETS = 512


def connection_limit(limits: Limits) -> int:
    """Maximum number of open connections that leaves spare descriptors."""
    n_descriptors = _descriptors()
    spare = max(n_descriptors - RESERVE, n_descriptors // 2, 1)
    return min(limits.connections or MOST_CONNECTIONS, spare)


def _descriptors() -> int:
    """Maximum number of descriptors of this process."""
    try:
        import resource
    except ImportError:
        return MOST_SOCKETS
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft
