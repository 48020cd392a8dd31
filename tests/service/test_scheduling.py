"""Long work runs in time slices, and all bodies together have a limit."""

from __future__ import annotations

import asyncio

import pytest
from starlette.requests import ClientDisconnect

from budgetprune.service import Limits, scheduling
from budgetprune.service.bodies import BodyReader
from budgetprune.service.errors import RefusedError
from budgetprune.service.scheduling import CHECK_EVERY, CooperativeScheduler


async def is_there() -> bool:
    return False


def work(name, n, log):
    for _ in range(n):
        log.append(name)
        yield
    return name


def test_one_time_slice_for_one_of_them_in_each_iteration(monkeypatch):
    """However many want to work, a task that only waits comes in between."""
    monkeypatch.setattr(scheduling, "TIME_SLICE", 0.0)
    log = []

    async def other():
        for _ in range(20):
            log.append("other")
            await asyncio.sleep(0)

    async def go():
        scheduler = CooperativeScheduler()
        asked = [scheduler.run(work(name, 4, log), is_there) for name in "abc"]
        return await asyncio.gather(*asked, other())

    assert asyncio.run(go())[:3] == ["a", "b", "c"]
    worked = [name for name in log if name != "other"]
    assert sorted(worked) == sorted("abc" * 4)
    assert worked[:3] == ["a", "b", "c"]  # one time slice each
    last = max(i for i, name in enumerate(log) if name == "other")
    assert all("other" in log[i : i + 2] for i in range(last))


def test_work_ends_when_the_client_has_gone(monkeypatch):
    monkeypatch.setattr(scheduling, "TIME_SLICE", 0.0)
    log = []

    async def is_gone() -> bool:
        return True

    with pytest.raises(ClientDisconnect):
        asyncio.run(CooperativeScheduler().run(work("a", 1000, log), is_gone))
    assert len(log) == CHECK_EVERY


def test_errors_of_the_work_are_raised():
    def broken():
        yield
        raise ValueError("no")

    scheduler = CooperativeScheduler()
    with pytest.raises(ValueError, match="no"):
        asyncio.run(scheduler.run(broken(), is_there))
    assert asyncio.run(scheduler.run(work("a", 1, []), is_there)) == "a"


def test_bytes_of_all_bodies():
    """They count from the first part until they are released, or refused."""
    reader = BodyReader(Limits(all_bodies=100))

    def receive(*sizes: int, ends: bool = True) -> bytes:
        messages = [{"type": "http.request", "body": b"x" * size, "more_body": True} for size in sizes]
        messages.append({"type": "http.request" if ends else "http.disconnect"})

        async def next_message():
            return messages.pop(0)

        scope = {"type": "http", "headers": [(b"content-type", b"application/json")]}
        return asyncio.run(reader.receive(scope, next_message, 80))

    first = receive(30, 30)
    assert len(first) == 60
    with pytest.raises(RefusedError, match="try again") as refusal:
        receive(30, 30)
    assert refusal.value.status == 503
    with pytest.raises(ClientDisconnect):
        receive(40, ends=False)
    reader.release(first)
    with pytest.raises(RefusedError, match="more than 80 bytes"):
        receive(81)
    assert len(receive(80)) == 80
