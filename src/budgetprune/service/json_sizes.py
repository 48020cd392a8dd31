"""Measure JSON and locate its rows in one pass, before parsing.

Parsing holds the GIL, and every list and object it creates is work for the garbage collector. So the sizes
are checked first. A batch is then parsed row by row, and other requests are answered in between.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetprune.service.kernels import measure

WHITESPACE = b" \t\r\n"


@dataclass(frozen=True)
class Sizes:
    """Sizes of a JSON document. For invalid JSON, they bound what a parser creates before it fails."""

    depth: int
    containers: int  # lists and objects
    is_closed: bool  # every string, list and object is closed
    n_rows: int  # in the last list that is a field of the outermost object
    rows: tuple[int, int] | None  # start and end of that list's content


def measure_json(raw: bytes, row_ends: NDArray[np.int64]) -> Sizes:
    """Measure a JSON document before it is parsed.

    Parameters
    ----------
    raw : bytes
    row_ends : int64 array
        Output: index of the comma or bracket that ends each row, as far as there is room.
    """
    depth, containers, is_closed, n_rows, begin, end = measure(np.frombuffer(raw, np.uint8), row_ends)
    if begin < 0 or end < 0:
        return Sizes(depth, containers, is_closed, 0, None)
    if n_rows == 1 and not raw[begin:end].strip(WHITESPACE):
        n_rows = 0
    return Sizes(depth, containers, is_closed, n_rows, (begin, end))
