"""Run something on a given number of threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import pytest


def on_threads(n_threads: int, run: Callable[[], Any]) -> Any:
    """Result of a function, while numba has this many threads."""
    before = numba.get_num_threads()
    if n_threads > numba.config.NUMBA_NUM_THREADS:
        pytest.skip("there is one core only")
    try:
        numba.set_num_threads(n_threads)
        return run()
    finally:
        numba.set_num_threads(before)
