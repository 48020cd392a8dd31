"""Checks of arrays that are read from files: types, sizes and content."""

from __future__ import annotations

import math
import os
import re
import reprlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError

_NUMBERS = ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8")
_TEXT = re.compile(r"(?:<U|\|S)[1-9][0-9]{0,5}")


class Entry(NamedTuple):
    """Name, type and shape of one stored array; if it is compressed, its size in the file."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    n_packed: int | None = None

    @property
    def n_bytes(self) -> int:
        """Size of the array in memory."""
        return self.dtype.itemsize * math.prod(self.shape)  # Python integers do not overflow

    @property
    def n_stored(self) -> int:
        """Size of the array in the file."""
        return self.n_bytes if self.n_packed is None else self.n_packed


def is_storable(dtype: str) -> bool:
    """Whether files may hold arrays of this type (a numpy type string, little-endian)."""
    return dtype in _NUMBERS or _TEXT.fullmatch(dtype) is not None


def from_bytes(entry: Entry, content: NDArray[np.uint8]) -> NDArray[Any]:
    """Convert the bytes of a stored array to the array, or raise InvalidInputError."""
    if entry.dtype.kind == "b" and content.max(initial=0) > 1:
        raise InvalidInputError(f"{reprlib.repr(entry.name)} has bool entries that are neither 0 nor 1.")
    array = content.view(entry.dtype).reshape(entry.shape)
    check_characters(entry.name, array)
    return array.astype(entry.dtype.newbyteorder("="), copy=False)


def check_characters(name: str, array: NDArray[Any]) -> None:
    """Raise if code points are not characters: numpy stores them, but a Python str cannot."""
    if array.dtype.kind == "U":
        character = array.reshape(-1).view(np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
        if np.any((character > 0x10FFFF) | ((character >= 0xD800) & (character < 0xE000))):
            raise InvalidInputError(f"{reprlib.repr(name)} has characters that do not exist.")


def open_without_waiting(path: str, flags: int) -> int:
    """Opener for `open` that returns at once for a pipe too, so that the caller can refuse it."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))
