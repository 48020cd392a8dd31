"""How many threads compiled code may use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numba
from joblib import effective_n_jobs

_MOST_THREADS: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]


@contextmanager
def kernel_threads(n_jobs: int | None) -> Iterator[None]:
    """Let kernels use no more threads than `n_jobs`; None leaves the number as it is."""
    before = numba.get_num_threads()
    if n_jobs is not None:
        numba.set_num_threads(min(effective_n_jobs(n_jobs), _MOST_THREADS))
    try:
        yield
    finally:
        numba.set_num_threads(before)
