"""Accept connections, as many as there is room for."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Collection

from budgetprune.service.connection import Connection, Shared

# Connections that the system keeps until they are accepted, and those that are accepted at once.
BACKLOG, BURST = 2048, 64
# Seconds that a client may keep a place without a complete request while others need one.
PATIENCE = 1.0
# Seconds until accepting is tried again, if the system has no descriptors left.
PAUSE = 0.05
# Seconds until accepting is tried again at the end, if all places are taken.
TICK = 0.005


class Acceptor:
    """Accept connections on one socket while there is room.

    Beyond the limit, connections wait in the backlog of the system until there is room again. Room is made
    by closing connections that have waited longest for their client.

    Parameters
    ----------
    listener : socket
        Bound; it is closed by `close`.
    make : callable
        Makes the protocol of a connection.
    opened : collection
        Connections that are open.
    shared : Shared
        State of these connections.
    most : int
        How many may be open at one time.
    """

    def __init__(
        self,
        listener: socket.socket,
        make: Callable[[], Connection],
        opened: Collection[object],
        shared: Shared,
        most: int,
    ) -> None:
        self._listener, self._make, self._shared, self._most = listener, make, shared, most
        self._open = opened
        self._loop = asyncio.get_running_loop()
        self._starting: set[asyncio.Task[object]] = set()
        self._timer: asyncio.TimerHandle | None = None
        listener.setblocking(False)
        listener.listen(BACKLOG)
        self._resume()

    async def accept_arrived(self, until: float) -> None:
        """Accept all that has arrived so far, and read what it has sent.

        Parameters
        ----------
        until : float
            Time of the event loop. Until then, connections that find no room wait for others to be answered.
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
        """Accept what has arrived, as `accept_arrived` does, and then no more."""
        await self.accept_arrived(until)
        self._pause()
        self._listener.close()

    async def _settle(self) -> None:
        while self._starting:
            await asyncio.sleep(0)
        for _ in range(3):  # each iteration of the event loop reads from all connections
            await asyncio.sleep(0)

    def _resume(self) -> None:
        self._timer = None
        self._loop.add_reader(self._listener.fileno(), self._accept, BURST)

    def _pause(self, seconds: float | None = None) -> None:
        """Stop accepting, for some time or for good."""
        self._loop.remove_reader(self._listener.fileno())
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if seconds is None else self._loop.call_later(seconds, self._make_room)

    def _accept(self, most: int) -> tuple[int, bool]:
        """Accept up to `most` connections; return how many were accepted, and whether that was all."""
        for n_accepted in range(most):
            if len(self._open) + len(self._starting) >= self._most:
                self._pause(PAUSE)
                return n_accepted, False
            try:
                found, _ = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return n_accepted, True
            except OSError:  # no descriptors left, or no memory
                self._pause(PAUSE)
                return n_accepted, False
            task = self._loop.create_task(self._start(found))
            self._starting.add(task)
            task.add_done_callback(self._starting.discard)
        return most, False

    async def _start(self, found: socket.socket) -> None:
        with contextlib.suppress(OSError):  # it may have gone already
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
