"""Accept connections up to a limit."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Collection

from budgetprune.service.connection import Connection, SharedState

# Length of the listen backlog, and number of connections accepted per wake-up.
BACKLOG, BURST = 2048, 64
# Seconds a connection may stay open without a complete request when the limit is reached.
PATIENCE = 1.0
# Seconds until accepting is retried when descriptors or places run out.
PAUSE = 0.05
# Seconds until accepting is retried during shutdown when all places are taken.
TICK = 0.005
# Seconds that a new connection is left to a worker with fewer connections.
COURTESY = 0.002


class Acceptor:
    """Accept connections on one socket, up to a limit.

    Beyond the limit, connections wait in the listen backlog. To make room, the connections that have waited
    longest for their client are closed.

    Several workers can share the socket. Clients keep connections open, so a worker that happened to accept
    all of them would work alone. So a worker leaves a new connection to others while they have fewer
    connections. If they do not accept it in time, it takes one, and then twice as many each time.

    Parameters
    ----------
    listener : socket
        Bound socket; `close` closes it.
    make : callable
        Creates the protocol of a connection.
    opened : collection
        Open connections.
    shared : SharedState
        State shared by these connections.
    most : int
        Maximum number of open connections.
    """

    def __init__(
        self,
        listener: socket.socket,
        make: Callable[[], Connection],
        opened: Collection[object],
        shared: SharedState,
        most: int,
    ) -> None:
        self._listener, self._make, self._shared, self._most = listener, make, shared, most
        self._open = opened
        self._n_unwanted = 1  # connections to accept that nobody else has accepted
        self._loop = asyncio.get_running_loop()
        self._starting: set[asyncio.Task[object]] = set()
        self._timer: asyncio.TimerHandle | None = None
        listener.setblocking(False)
        listener.listen(BACKLOG)
        self._resume()

    async def accept_arrived(self, until: float) -> None:
        """Accept all connections in the backlog and read the data they have sent.

        Parameters
        ----------
        until : float
            Deadline, in event loop time. Until then, connections beyond the limit wait for a place.
        """
        left = BACKLOG
        while left > 0:
            n_accepted, is_empty = self._accept(left)
            left -= n_accepted
            await self._settle()
            if is_empty or self._loop.time() >= until:
                return
            for connection, since in list(self._shared.waiting.items()):
                if connection.is_idle or self._loop.time() - since >= PATIENCE:
                    connection.evict()
            await asyncio.sleep(0 if n_accepted else TICK)

    async def close(self, until: float) -> None:
        """Accept the connections in the backlog, then close the listening socket."""
        await self.accept_arrived(until)
        self.leave()

    def leave(self) -> None:
        """Close the listening socket of this process. Other workers accept the connections in the backlog."""
        self._pause()
        self._listener.close()

    async def _settle(self) -> None:
        while self._starting:
            await asyncio.sleep(0)
        for _ in range(3):  # each iteration of the event loop reads from all connections
            await asyncio.sleep(0)

    def _resume(self) -> None:
        self._timer = None
        self._loop.add_reader(self._listener.fileno(), self._accept_share)

    def _pause(self, seconds: float = 0.0, then: Callable[[], None] | None = None) -> None:
        """Stop accepting, for `seconds` or permanently."""
        self._loop.remove_reader(self._listener.fileno())
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if then is None else self._loop.call_later(seconds, then)

    def _accept_share(self) -> None:
        """Accept connections while no other worker has fewer."""
        for _ in range(BURST):
            if self._shared.row.is_busier(self._n_connections):
                self._pause(COURTESY, self._accept_unwanted)
                return
            self._n_unwanted = 1
            n_accepted, _ = self._accept(1)
            if n_accepted == 0:
                return

    def _accept_unwanted(self) -> None:
        """Accept connections that the others have not accepted."""
        self._resume()
        n_accepted, _ = self._accept(self._n_unwanted)
        self._n_unwanted = min(2 * self._n_unwanted, BURST) if n_accepted else 1

    @property
    def _n_connections(self) -> int:
        return len(self._open) + len(self._starting)

    def _accept(self, most: int) -> tuple[int, bool]:
        """Accept up to `most` connections; return the number accepted and whether the backlog is empty."""
        for n_accepted in range(most):
            if self._n_connections >= self._most:
                self._pause(PAUSE, self._make_room)
                return n_accepted, False
            try:
                found, _ = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return n_accepted, True
            except OSError:  # no descriptors left, or no memory
                self._pause(PAUSE, self._make_room)
                return n_accepted, False
            task = self._loop.create_task(self._start(found))
            self._starting.add(task)
            task.add_done_callback(self._starting.discard)
            self._shared.row.note_connections(self._n_connections)
        return most, False

    async def _start(self, found: socket.socket) -> None:
        with contextlib.suppress(OSError):  # the client may have disconnected
            found.setblocking(False)
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await self._loop.connect_accepted_socket(self._make, found)

    def _make_room(self) -> None:
        now, waiting = self._loop.time(), self._shared.waiting
        for _ in range(max(1, self._most // 16)):
            connection, since = next(iter(waiting.items()), (None, now))
            if connection is None or now - since < PATIENCE:
                break
            del waiting[connection]
            connection.evict()
        self._resume()
