"""Run something on a given number of threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from budgetprune.utils import parts
from budgetprune.utils.threads import kernel_thread_count, kernel_threads


def on_threads(n_threads: int, run: Callable[[], Any]) -> Any:
    """Result of a function whose work is divided among this many threads, however small it is."""
    if n_threads > kernel_thread_count():
        pytest.skip("there is one core only")
    with kernel_threads(n_threads), pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "FEWEST_STEPS", 0)
        return run()
