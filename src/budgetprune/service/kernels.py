"""Kernel that measures JSON without parsing it."""

from __future__ import annotations

import cython

if not cython.compiled:
    from budgetprune.utils.kernel_types import Flags, OutLongs, Size

    SPACE, QUOTE, COMMA, BACKSLASH = b' ",\\'
    OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT = b"[]{}"


def measure(text: Flags, row_ends: OutLongs) -> tuple[int, int, bool, int, int, int]:
    """Return the fields of `Sizes`, with the start and the end of the rows, -1 if there are none.

    Parameters
    ----------
    text : bytes
    row_ends : filled in, see `measure_json`
    """
    depth: Size = 0
    deepest: Size = 0
    containers: Size = 0
    n_rows: Size = 0
    begin: Size = -1
    end: Size = -1
    is_object: cython.bint = False
    in_rows: cython.bint = False
    in_string: cython.bint = False
    i: Size = 0
    with cython.nogil:
        while i < text.shape[0] and depth >= 0:
            c: cython.int = text[i]
            if COMMA < c < OPEN_LIST or c <= SPACE:
                pass  # most bytes outside of strings: digits, colons and spaces
            elif c == QUOTE:
                i += 1
                while i < text.shape[0] and text[i] != QUOTE:
                    i += 2 if text[i] == BACKSLASH else 1
                in_string = i >= text.shape[0]
            elif c in (COMMA, CLOSE_LIST, CLOSE_OBJECT):
                if in_rows and depth == 2:
                    if n_rows < row_ends.shape[0]:
                        row_ends[n_rows] = i
                    n_rows += 1
                    if c != COMMA:
                        in_rows = False
                        end = i
                if c != COMMA:
                    depth -= 1
            elif c in (OPEN_LIST, OPEN_OBJECT):
                if depth == 0:
                    is_object = c == OPEN_OBJECT
                elif depth == 1 and is_object and c == OPEN_LIST:
                    in_rows = True
                    n_rows = 0
                    begin = i + 1
                    end = -1
                depth += 1
                containers += 1
                deepest = max(deepest, depth)
            i += 1
    return deepest, containers, depth == 0 and not in_string, n_rows, begin, end
