"""Limit on the requests of each client, in memory that all workers share."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from struct import Struct
from time import monotonic
from typing import Any

N_TABLES, N_SLOTS = 4, 2**16
BYTES = 8 * N_TABLES * N_SLOTS

_PLACES = Struct(f"<{N_TABLES}I")


@dataclass(frozen=True)
class RateMemory:
    """Memory of a `RateLimiter`.

    Attributes
    ----------
    descriptor : int, optional
        Of a file of `BYTES` zeros that several processes share. None: memory of this process.
    key : bytes
        Random; the same in all processes. Without it, clients could choose addresses that share a slot.
    """

    descriptor: int | None = None
    key: bytes = field(default_factory=lambda: os.urandom(32), repr=False)


class RateLimiter:
    """Allow each client a number of requests per second, and a number at once.

    The generic cell rate algorithm: a client has a time that each of its requests moves on by 1 / `rate`
    seconds, and that is not before now. A request is accepted if that time is less than `burst` requests
    ahead.

    The times are in a table of fixed size, so no number of clients can exhaust the memory, and none can push
    out another. Each client has one slot in each of four tables, and the earliest of their times counts
    (a count-min sketch). So a client is refused too early only if each of its four slots belongs to another
    busy client as well, and too late never. No locks are needed: processors write aligned numbers of
    this size at once. Two workers that accept a request of one client in the same microseconds may count one.

    Parameters
    ----------
    rate : float
        Requests per second of a client.
    burst : int
        Requests of a client that may come at once.
    memory : RateMemory
    clock : callable
        Seconds; the same in all processes of a machine.
    """

    def __init__(
        self, rate: float, burst: int, memory: RateMemory, clock: Callable[[], float] = monotonic
    ) -> None:
        shared: Any = bytearray(BYTES) if memory.descriptor is None else mmap.mmap(memory.descriptor, BYTES)
        self._times = memoryview(shared).cast("d")
        self._step, self._ahead = 1.0 / rate, (burst - 1) / rate
        self._key, self._clock = memory.key, clock
        self._slots = lru_cache(maxsize=1024)(self._find_slots)

    def wait(self, client: bytes) -> float:
        """Return the seconds until a request of a client is accepted; 0 if it is accepted now."""
        return max(0.0, self._time(self._slots(client)) - self._ahead - self._clock())

    def charge(self, client: bytes) -> None:
        """Count an accepted request."""
        slots = self._slots(client)
        after = max(self._time(slots), self._clock()) + self._step
        for slot in slots:
            self._times[slot] = max(self._times[slot], after)

    def _time(self, slots: tuple[int, ...]) -> float:
        return min(self._times[slot] for slot in slots)

    def _find_slots(self, client: bytes) -> tuple[int, ...]:
        numbers = _PLACES.unpack(blake2b(client, digest_size=_PLACES.size, key=self._key).digest())
        return tuple(k * N_SLOTS + number % N_SLOTS for k, number in enumerate(numbers))
