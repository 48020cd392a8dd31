"""Long work on the event loop, in turns."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from time import perf_counter
from typing import TypeVar

from starlette.requests import ClientDisconnect

Result = TypeVar("Result")

# Seconds of work in one iteration of the event loop.
TURN = 0.002
# Turns between two looks at whether the client is still there, which take a twentieth of a turn.
CHECK_EVERY = 8


class Turns:
    """Do long work piece by piece, so that short requests are answered in between.

    One piece of work has a turn in each iteration of the event loop, however many are waiting: a short
    request takes about three iterations, and waits for three turns at most. A thread would wait for Python's
    lock instead, which changes hands every 5 ms, and once for each of several system calls of a request.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def finish(
        self, work: Generator[None, None, Result], is_disconnected: Callable[[], Awaitable[bool]]
    ) -> Result:
        """Advance a generator to its end.

        Parameters
        ----------
        work : generator
            Yields often, and returns the result.
        is_disconnected : coroutine function
            Whether the result is no longer of any use.

        Raises
        ------
        ClientDisconnect
            As soon as the result is of no use.
        """
        has_waited = self._lock.locked()
        turn = 0
        while True:
            async with self._lock:
                if turn % CHECK_EVERY == 0 and (turn or has_waited) and await is_disconnected():
                    raise ClientDisconnect
                turn += 1
                end = perf_counter() + TURN
                try:
                    next(work)
                    while perf_counter() <= end:
                        next(work)
                except StopIteration as stop:
                    result: Result = stop.value
                    return result
                finally:
                    await asyncio.sleep(0)  # with the lock held: the next turn is in the next iteration
