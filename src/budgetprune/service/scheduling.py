"""Cooperative scheduling of long work on the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from time import perf_counter
from typing import TypeVar

from starlette.requests import ClientDisconnect

Result = TypeVar("Result")

# Seconds of work in one iteration of the event loop.
TIME_SLICE = 0.002
# Time slices between two checks for a disconnected client. A check takes a twentieth of a time slice.
CHECK_EVERY = 8


class CooperativeScheduler:
    """Run long work in short time slices, so that short requests are answered in between.

    In each iteration of the event loop, one task gets one time slice, however many are waiting. A short
    request takes about three iterations, so it waits for three time slices at most. With threads, a request
    would wait for the GIL at each of its system calls, and the GIL is switched every 5 ms.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def run(
        self, work: Generator[None, None, Result], is_disconnected: Callable[[], Awaitable[bool]]
    ) -> Result:
        """Run a generator to its end and return its result.

        Parameters
        ----------
        work : generator
            Yields often and returns the result.
        is_disconnected : coroutine function
            Whether the client has disconnected.

        Raises
        ------
        ClientDisconnect
            If the client has disconnected.
        """
        has_waited = self._lock.locked()
        n_slices = 0
        while True:
            async with self._lock:
                if n_slices % CHECK_EVERY == 0 and (n_slices or has_waited) and await is_disconnected():
                    raise ClientDisconnect
                n_slices += 1
                end = perf_counter() + TIME_SLICE
                try:
                    next(work)
                    while perf_counter() <= end:
                        next(work)
                except StopIteration as stop:
                    result: Result = stop.value
                    return result
                finally:
                    await asyncio.sleep(0)  # with the lock held: the next time slice is in the next iteration
