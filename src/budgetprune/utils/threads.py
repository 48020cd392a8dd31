"""Number of threads of compiled code and LightGBM, and their wait policy."""

from __future__ import annotations

import os
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from math import ceil
from pathlib import Path
from threading import Condition, Lock
from typing import Any, TypeVar

from budgetprune.errors import InvalidInputError

Item = TypeVar("Item")
Result = TypeVar("Result")

# LightGBM's threads synchronise many times per tree. With fewer values per thread, waiting dominates.
VALUES_PER_THREAD = 500_000
THREADS_VARIABLE = "BUDGETPRUNE_NUM_THREADS"
CONTROL_GROUPS = Path("/sys/fs/cgroup")

_limit: ContextVar[int | None] = ContextVar("number of threads of kernels", default=None)


@contextmanager
def kernel_threads(n_jobs: int | None) -> Iterator[None]:
    """Limit kernels to `n_jobs` threads, counted as joblib does; None leaves the number unchanged."""
    if n_jobs is None:
        yield
        return
    from joblib import effective_n_jobs

    token = _limit.set(min(effective_n_jobs(n_jobs), default_thread_count()))
    try:
        yield
    finally:
        _limit.reset(token)


def kernel_thread_count() -> int:
    """Number of threads that kernels may use: the limit of `kernel_threads`, or the default."""
    limit = _limit.get()
    return default_thread_count() if limit is None else limit


@cache
def default_thread_count() -> int:
    """Number of threads that `BUDGETPRUNE_NUM_THREADS` asks for, otherwise all available cores."""
    asked = os.environ.get(THREADS_VARIABLE, "").strip()
    if not asked:
        return available_cores()
    if not (asked.isascii() and asked.isdigit() and int(asked) > 0):
        raise InvalidInputError(f"{THREADS_VARIABLE}={asked!r} is not a number of threads: give 1 or more.")
    return int(asked)


def in_threads(work: Callable[[Item], None], parts: Sequence[Item]) -> None:
    """Call a function for each part of the work, on as many threads as kernels may use.

    The function calls a kernel that releases the GIL. Threads that start and end here, unlike those of
    OpenMP, take no processor time while they wait, and none is left behind for a fork to copy. An
    interruption or an error skips the parts that have not started.
    """
    n_threads = min(kernel_thread_count(), len(parts))
    if n_threads <= 1:
        for part in parts:
            work(part)
        return
    remaining, lock = iter(parts), Lock()

    def work_on() -> None:
        while True:
            with lock:
                part = next(remaining, None)
            if part is None:
                return
            try:
                work(part)
            except BaseException:
                with lock:
                    deque(remaining, maxlen=0)  # the other threads end after the part that they work on
                raise

    _on_threads(work_on, n_threads)


def work_off(items: Sequence[Item], work: Callable[[Item], Sequence[Item]]) -> None:
    """Call a function for each item, and for the items that it returns, on all threads of kernels.

    An interruption or an error skips the items that have not started.
    """
    waiting, changed = deque(items), Condition()
    n_active, is_stopped = 0, False

    def work_on() -> None:
        nonlocal n_active, is_stopped
        try:
            while True:
                with changed:
                    while not waiting and n_active and not is_stopped:
                        changed.wait()
                    if is_stopped or not waiting:
                        return
                    item = waiting.pop()
                    n_active += 1
                more: Sequence[Item] = ()
                try:
                    more = work(item)
                finally:
                    with changed:
                        waiting.extend(more)
                        n_active -= 1
                        changed.notify_all()
        except BaseException:
            # An interruption may also arrive while this thread waits.
            with changed:
                is_stopped = True
                changed.notify_all()
            raise

    _on_threads(work_on, kernel_thread_count())


def _on_threads(work_on: Callable[[], None], n_threads: int) -> None:
    """Call a function on some threads at once, of which the calling thread is one.

    That thread has a core already. With all work on new threads, which may start on one core, `predict_proba`
    of 11,000 rows took up to 1.7 times as long.
    """
    if n_threads <= 1:
        work_on()
        return
    with ThreadPoolExecutor(n_threads - 1) as pool:
        others = [pool.submit(work_on) for _ in range(n_threads - 1)]
        work_on()
    for each in others:
        each.result()


def map_in_threads(work: Callable[[Item], Result], items: Sequence[Item], n_threads: int) -> list[Result]:
    """Call a function for each item in parallel and return the results.

    An interruption or an error skips the items that have not started.
    """
    n_threads = min(n_threads, len(items))
    if n_threads <= 1:
        return [work(item) for item in items]
    pool = ThreadPoolExecutor(n_threads)
    try:
        return list(pool.map(work, items))
    finally:
        pool.shutdown(cancel_futures=True)


def available_cores() -> int:
    """Number of cores that this process may use, given its affinity and its container's limits.

    `joblib.cpu_count` counts the same, but takes longer to import than a prediction takes.
    """
    has_affinity = hasattr(os, "sched_getaffinity")
    n_cores = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    return max(1, min([n_cores, *_container_limits()]))


def _container_limits() -> Iterator[int]:
    """Read how many cores control groups of version 2 or 1 allow, where they limit them (Linux)."""
    with suppress(OSError, ValueError):
        quota, period = (CONTROL_GROUPS / "cpu.max").read_text().split()
        yield ceil(int(quota) / int(period))  # without a limit, the quota is "max"
    with suppress(OSError, ValueError):
        quota, period = (
            (CONTROL_GROUPS / "cpu" / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period")
        )
        if int(quota) > 0:
            yield ceil(int(quota) / int(period))


def physical_cores() -> int:
    """Number of physical cores that this process may use."""
    import joblib

    with warnings.catch_warnings():
        # Where physical cores cannot be identified, all logical cores are counted.
        warnings.simplefilter("ignore", UserWarning)
        return int(joblib.cpu_count(only_physical_cores=True))


def boosting_threads(X: Any) -> int:
    """Default number of threads for training LightGBM.

    At most the physical cores that this process may use, and one per `VALUES_PER_THREAD` values.
    """
    wanted = X.shape[0] * X.shape[1] // VALUES_PER_THREAD
    return 1 if wanted <= 1 else min(wanted, physical_cores())


def let_idle_threads_sleep() -> None:
    """Set OpenMP's wait policy to passive, unless the user has set it.

    By default waiting threads spin, and on a busy machine block the core of the thread they wait for. OpenMP
    reads the policy when it is loaded, so call this before LightGBM is imported and before kernels run. Only
    programs should call it; a library must not change the environment.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
