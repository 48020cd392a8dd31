"""Division of work among threads."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from budgetprune.utils.threads import in_threads, kernel_thread_count

# With fewer additions, starting threads takes longer than it saves.
FEWEST_OF_THREADS = 1_000_000
# Most additions of a part, which cannot be interrupted (about 0.1 s).
LARGEST = 30_000_000


def in_parts(work: Callable[[int, int], None], n: int, n_additions: int) -> None:
    """Call ``work(first, last)`` for consecutive ranges of ``0, ..., n - 1``, on several threads.

    Parameters
    ----------
    work : function whose result does not depend on how the range is divided
    n : number of items
    n_additions : for all items
    """
    n_threads = kernel_thread_count() if n_additions >= FEWEST_OF_THREADS else 1
    n_parts = min(n, n_threads * (1 + n_additions // (n_threads * LARGEST)))
    ends = [p * n // max(n_parts, 1) for p in range(n_parts + 1)]
    in_threads(lambda ends: work(*ends), list(pairwise(ends)))
