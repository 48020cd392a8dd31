"""Compression of single arrays with zlib, and limits against decompression bombs.

A few bytes of a compressed file can unpack to gigabytes. So all sizes are in the header of the file, they are
checked against the length of the file before anything is unpacked, and unpacking stops at the stated size.
"""

from __future__ import annotations

import reprlib
import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.utils.archive import unpacked_limit
from budgetprune.utils.stored_arrays import Entry

_CHUNK = 2**20


def pack(array: NDArray[Any]) -> bytes | None:
    """Compress the bytes of a contiguous array; None if that does not make it smaller."""
    packed = zlib.compress(array.reshape(-1).view(np.uint8).data)
    return packed if len(packed) < array.nbytes else None


def unpack(entry: Entry, packed: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Unpack exactly as many bytes as the entry states, or raise InvalidInputError."""
    content, n_done = np.empty(entry.n_bytes, dtype=np.uint8), 0
    stream, rest = zlib.decompressobj(), packed.tobytes()
    try:
        while n_done < entry.n_bytes:
            piece = stream.decompress(rest, min(_CHUNK, entry.n_bytes - n_done))
            if not piece:
                break
            content[n_done : n_done + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
            n_done, rest = n_done + len(piece), stream.unconsumed_tail
        # The end of the stream holds a checksum. It may still be unread, and nothing may follow it.
        has_more = bool(stream.decompress(rest, 1)) if not stream.eof else False
    except zlib.error as error:
        raise InvalidInputError(f"the array {reprlib.repr(entry.name)} is damaged ({error}).") from None
    if n_done < entry.n_bytes or has_more or not stream.eof or stream.unused_data:
        raise InvalidInputError(
            f"the array {reprlib.repr(entry.name)} does not unpack to {entry.n_bytes} bytes, as it should."
        )
    return content


def check_unpacked(entries: Iterable[Entry], n_file: int) -> None:
    """Refuse compressed arrays that a file of `n_file` bytes cannot hold, before anything is unpacked.

    In all, arrays may take as much memory as `unpacked_limit` allows, and none may have more rows than the
    file has bytes. Forests take about ten bytes per node.
    """
    packed = [entry for entry in entries if entry.n_packed is not None]
    unpacked, limit = sum(entry.n_bytes for entry in packed), unpacked_limit(n_file)
    if unpacked > limit:
        raise InvalidInputError(
            f"its {n_file} bytes unpack to {unpacked}; more than {limit} are refused for a file of this "
            "length, as no model compresses that well."
        )
    for entry in packed:
        if entry.shape[0] > n_file:
            raise InvalidInputError(
                f"the array {reprlib.repr(entry.name)} cannot have {entry.shape[0]} entries in a file of "
                f"{n_file} bytes."
            )
