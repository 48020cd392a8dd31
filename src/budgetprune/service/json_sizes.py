"""Measure JSON and locate its rows in one pass, before parsing.

Parsing holds the GIL, and every list and object it creates is work for the garbage collector. So the sizes
are checked first. A batch is then parsed row by row, and other requests are answered in between.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetprune.utils.jit import njit

WHITESPACE = b" \t\r\n"
_QUOTE, _BACKSLASH, _COMMA = ord('"'), ord("\\"), ord(",")
_OPEN_LIST, _CLOSE_LIST, _OPEN_OBJECT, _CLOSE_OBJECT = ord("["), ord("]"), ord("{"), ord("}")


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
    depth, containers, is_closed, n_rows, begin, end = _measure(np.frombuffer(raw, np.uint8), row_ends)
    if begin < 0 or end < 0:
        return Sizes(depth, containers, is_closed, 0, None)
    if n_rows == 1 and not raw[begin:end].strip(WHITESPACE):
        n_rows = 0
    return Sizes(depth, containers, is_closed, n_rows, (begin, end))


@njit(cache=True)
def _measure(text: NDArray[np.uint8], row_ends: NDArray[np.int64]) -> tuple[int, int, bool, int, int, int]:
    depth, deepest, containers = 0, 0, 0
    n_rows, begin, end = 0, -1, -1
    is_object, in_rows, in_string = False, False, False
    i = 0
    while i < text.size:
        c = text[i]
        if in_string:
            if c == _BACKSLASH:
                i += 1
            elif c == _QUOTE:
                in_string = False
        elif c == _QUOTE:
            in_string = True
        elif c in (_COMMA, _CLOSE_LIST, _CLOSE_OBJECT):
            if in_rows and depth == 2:
                if n_rows < row_ends.size:
                    row_ends[n_rows] = i
                n_rows += 1
            if c != _COMMA:
                if in_rows and depth == 2:
                    in_rows, end = False, i
                depth -= 1
                if depth < 0:
                    return deepest, containers, False, n_rows, begin, end
        elif c in (_OPEN_LIST, _OPEN_OBJECT):
            if depth == 0:
                is_object = c == _OPEN_OBJECT
            elif depth == 1 and is_object and c == _OPEN_LIST:
                in_rows, n_rows, begin, end = True, 0, i + 1, -1
            depth += 1
            containers += 1
            deepest = max(deepest, depth)
        i += 1
    return deepest, containers, depth == 0 and not in_string, n_rows, begin, end
