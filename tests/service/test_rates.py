"""Limits per client: rate, burst, and a memory of fixed size that processes share."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import pytest

from budgetprune.service.processes import nameless_file
from budgetprune.service.rates import BYTES, RateLimiter, RateMemory


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


def send(limiter: RateLimiter, client: bytes, n: int = 1) -> int:
    """Send requests at once; return the number that is accepted."""
    n_accepted = 0
    for _ in range(n):
        if limiter.wait(client) == 0:
            limiter.charge(client)
            n_accepted += 1
    return n_accepted


def test_rate_and_burst(clock):
    limiter = RateLimiter(2.0, 5, RateMemory(), clock)
    assert send(limiter, b"a", 100) == 5
    assert send(limiter, b"b", 3) == 3
    assert limiter.wait(b"a") == pytest.approx(0.5)
    clock.now += 0.49
    assert send(limiter, b"a") == 0
    clock.now += 0.02
    assert send(limiter, b"a", 2) == 1
    clock.now += 1000
    assert send(limiter, b"a", 100) == 5


def test_slow_rates(clock):
    limiter = RateLimiter(1 / 3600, 1, RateMemory(), clock)
    assert send(limiter, b"a", 2) == 1
    assert limiter.wait(b"a") == pytest.approx(3600)
    clock.now += 3601
    assert send(limiter, b"a", 2) == 1


def test_requests_over_time(clock):
    """The same requests are accepted as by a bucket that a request takes one of four tokens from."""
    r = random.Random(0)
    limiter = RateLimiter(10.0, 4, RateMemory(), clock)
    bucket = 4.0
    n_accepted = 0
    for _ in range(3000):
        seconds = r.choice([0.0, 0.01, 0.1, 0.5]) * r.random()
        clock.now += seconds
        bucket = min(4.0, bucket + 10.0 * seconds)
        is_accepted = bucket >= 1.0
        bucket -= is_accepted
        n_accepted += is_accepted
        assert send(limiter, b"a") == is_accepted
    assert 500 < n_accepted < 2500


def test_many_clients_push_out_none(clock):
    """100,000 clients with one request each: the busy client stays limited, new ones are not."""
    limiter = RateLimiter(1.0, 10, RateMemory(), clock)
    assert send(limiter, b"busy", 10) == 10
    for k in range(100_000):
        limiter.charge(b"%d" % k)
    assert send(limiter, b"busy") == 0
    assert all(send(limiter, b"new %d" % k, 5) == 5 for k in range(100))


def test_a_shared_table(clock):
    memory = nameless_file(bytes(BYTES))
    try:
        shared = RateMemory(memory)
        workers = [RateLimiter(1.0, 6, shared, clock) for _ in range(3)]
        assert sum(send(worker, b"a", 3) for worker in workers) == 6
        assert not any(send(worker, b"a") for worker in workers)
        assert send(RateLimiter(1.0, 6, RateMemory(), clock), b"a") == 1
    finally:
        os.close(memory)


def test_clients_cannot_choose_their_slots():
    """Slots depend on a random key."""
    first, second = (RateLimiter(1.0, 1, RateMemory()) for _ in range(2))
    assert first._slots(b"a") != second._slots(b"a")


@pytest.mark.skipif(sys.platform == "win32", reason="descriptors are not inherited")
def test_clocks_of_processes_agree():
    """A process that starts later sees the times of the first."""
    memory = RateMemory(nameless_file(bytes(BYTES)))
    assert memory.descriptor is not None
    limiter = RateLimiter(0.001, 1, memory)
    limiter.charge(b"a")
    code = (
        "from budgetprune.service.rates import RateLimiter, RateMemory\n"
        f"limiter = RateLimiter(0.001, 1, RateMemory({memory.descriptor}, {memory.key!r}))\n"
        "print(limiter.wait(b'a'), limiter.wait(b'b'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        pass_fds=(memory.descriptor,),
    )
    os.close(memory.descriptor)
    mine, other = map(float, done.stdout.split())
    assert 800 < mine <= 1000
    assert other == 0
