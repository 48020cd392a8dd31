"""Division of work into parts: each item once, in order, and on threads only if it takes long enough."""

from __future__ import annotations

from threading import Barrier, get_ident

import pytest

from budgetprune.utils import parts, threads
from budgetprune.utils.parts import FEWEST_STEPS, MOST_STEPS, RANGES_PER_THREAD, in_parts, in_ranges

pytestmark = pytest.mark.uncompiled


@pytest.fixture(autouse=True)
def three_threads(monkeypatch):
    for module in (parts, threads):
        monkeypatch.setattr(module, "kernel_thread_count", lambda: 3)


def ranges_of(n_items, n_steps):
    found = []
    in_ranges(lambda first, last: found.append((first, last)), n_items, n_steps)
    return sorted(found)


@pytest.mark.parametrize("n_items", [1, 2, 11, 12, 13, 500])
@pytest.mark.parametrize("n_steps", [1, FEWEST_STEPS, 100 * MOST_STEPS])
def test_ranges_cover_all_items_once(n_items, n_steps):
    ranges = ranges_of(n_items, n_steps)
    assert all(first < last for first, last in ranges)
    assert [i for ends in ranges for i in range(*ends)] == list(range(n_items))


def test_number_of_ranges():
    assert ranges_of(0, FEWEST_STEPS) == ranges_of(0, 0) == []
    assert len(ranges_of(500, FEWEST_STEPS - 1)) == 1
    assert len(ranges_of(500, FEWEST_STEPS)) == 3 * RANGES_PER_THREAD
    assert len(ranges_of(500, 100 * MOST_STEPS)) == 100  # none takes long


def test_little_work_stays_on_the_calling_thread():
    seen = []
    in_parts(lambda part: seen.append((part, get_ident())), "abc", FEWEST_STEPS - 1)
    assert seen == [(part, get_ident()) for part in "abc"]


def test_much_work_is_done_on_several_threads():
    together = Barrier(3, timeout=30)  # passed once three threads are there
    in_parts(lambda _part: together.wait(), "abc", FEWEST_STEPS)
