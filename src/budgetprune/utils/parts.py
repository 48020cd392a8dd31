"""Division of the work of kernels into parts, for several threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

from budgetprune.utils.threads import in_threads, kernel_thread_count

Part = TypeVar("Part")

# With fewer simple steps (0.1 to 0.5 ms), starting threads takes longer than it saves.
FEWEST_STEPS = 2**17
# With more, one call of a kernel could delay an interruption noticeably.
MOST_STEPS = 2**24
# More ranges than threads, because some take longer than others.
RANGES_PER_THREAD = 4


def in_parts(work: Callable[[Part], None], parts: Sequence[Part], n_steps: float) -> None:
    """Call a function for each part, on several threads if all parts together take long enough."""
    if n_steps >= FEWEST_STEPS:
        in_threads(work, parts)
        return
    for part in parts:
        work(part)


def in_ranges(work: Callable[[int, int], None], n_items: int, n_steps: float) -> None:
    """Call ``work(first, last)`` for contiguous ranges of items, on several threads.

    The ranges depend on the number of threads, so each item's result must depend on that item alone.

    Parameters
    ----------
    work : calls a kernel that releases the GIL
    n_items : the ranges cover the items from 0 to this one
    n_steps : about how many simple steps all items together take
    """
    n_ranges = 1
    if n_steps >= FEWEST_STEPS:
        n_ranges = max(RANGES_PER_THREAD * kernel_thread_count(), int(n_steps // MOST_STEPS))
    n_ranges = min(n_ranges, n_items)
    bounds = [r * n_items // n_ranges for r in range(n_ranges + 1)] if n_ranges else []
    in_parts(lambda ends: work(*ends), list(pairwise(bounds)), n_steps)
