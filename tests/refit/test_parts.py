"""Ranges of work: all of it, once each, in as many parts as threads can use."""

from itertools import pairwise
from threading import get_ident

import pytest

from budgetprune.refit import parts
from budgetprune.refit.parts import in_parts
from budgetprune.utils.threads import kernel_threads


@pytest.fixture
def two_threads(monkeypatch):
    """Work as on a machine with two cores, with small bounds on the work of a part."""
    monkeypatch.setattr(parts, "kernel_thread_count", lambda: 2)
    monkeypatch.setattr(parts, "FEWEST_OF_THREADS", 100)
    monkeypatch.setattr(parts, "LARGEST", 1000)


def ranges(n, n_additions):
    done = []
    in_parts(lambda first, last: done.append((first, last)), n, n_additions)
    return sorted(done)


@pytest.mark.parametrize(("n_additions", "n_parts"), [(99, 1), (100, 2), (1999, 2), (2000, 4), (6001, 8)])
def test_parts_divide_the_work(two_threads, n_additions, n_parts):
    done = ranges(50, n_additions)
    assert len(done) == n_parts
    assert (done[0][0], done[-1][1]) == (0, 50)
    assert all(last == first for (_, last), (first, _) in pairwise(done))
    lengths = [last - first for first, last in done]
    assert max(lengths) - min(lengths) <= 1


def test_no_part_is_empty(two_threads):
    assert ranges(3, 10_000) == [(0, 1), (1, 2), (2, 3)]
    assert ranges(0, 0) == []


def test_little_work_stays_on_the_calling_thread():
    threads = set()
    with kernel_threads(None):
        in_parts(lambda first, last: threads.add(get_ident()), 10, 10)
    assert threads == {get_ident()}
