"""Container of model files: named arrays and one JSON header.

Everything in a file is checked before it is used, and sizes before memory is allocated. The layout is
described in ``docs/model-format.md``.
"""

from __future__ import annotations

import os
import reprlib
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.persistence.packing import check_unpacked, pack, unpack
from budgetprune.persistence.strict_json import read_json, write_json
from budgetprune.utils.files import written_atomically
from budgetprune.utils.stored_arrays import (
    Entry,
    check_characters,
    from_bytes,
    is_storable,
    open_without_waiting,
)

# The bytes around the name reveal a transfer as text, which changes line ends or stops at 0x1a.
MAGIC = b"\x89budgetprune\r\n\x1a\n"
ALIGNMENT = 64
LONGEST_HEADER = 2**25  # a parsed header takes up to twenty times its length

PREAMBLE = struct.Struct("<16sIIQ32s")  # magic, version, length of the header, length of the file, digest
DIGEST = slice(32, 64)  # position of the digest in the preamble

_CHUNK = 2**20

File = str | os.PathLike[str]


# --- Writing ------------------------------------------------------------------------------------------------


def write_container(
    file: File,
    version: int,
    header: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    *,
    compress: bool = False,
) -> None:
    """Write a file atomically: complete, or not at all.

    Parameters
    ----------
    file : path of the file
    version : format version
    header : plain values, without the key "arrays", which is added
    arrays : bool, numbers or strings, by name
    compress : bool
        Compress each array that gets smaller, unless the arrays compress so well that the limits against
        decompression bombs would refuse the file.
    """
    stored = {name: _as_stored(name, array) for name, array in arrays.items()}
    packed = {name: pack(array) for name, array in stored.items()} if compress else {}
    parts = _parts(header, stored, packed)
    try:
        check_unpacked([_entry(name, array, packed) for name, array in stored.items()], _length(parts))
    except InvalidInputError:
        parts = _parts(header, stored, {})
    start = PREAMBLE.pack(MAGIC, version, len(parts[0]), _length(parts), b"")
    digest = _digest(start)
    for part in parts:
        digest.update(part)
    with written_atomically(file) as handle:
        handle.write(start[: DIGEST.start] + digest.digest())
        handle.writelines(parts)


def _parts(
    header: dict[str, Any], arrays: dict[str, NDArray[Any]], packed: dict[str, bytes | None]
) -> list[bytes | memoryview]:
    """Return all parts of a file after the preamble: the header, then arrays and gaps."""
    entries = [_entry(name, array, packed) for name, array in arrays.items()]
    text = write_json(header | {"arrays": list(map(_describe, entries))})
    parts: list[bytes | memoryview] = [text + b" " * _gap(len(text))]
    if len(parts[0]) > LONGEST_HEADER:
        raise InvalidInputError(
            f"the names of features, sources and categories take {len(parts[0])} bytes, but a model file has "
            f"room for {LONGEST_HEADER}; shorten them."
        )
    for name, array in arrays.items():
        content = packed.get(name) or array.reshape(-1).view(np.uint8).data
        parts += [content, b"\0" * _gap(len(content))]
    return parts


def _entry(name: str, array: NDArray[Any], packed: dict[str, bytes | None]) -> Entry:
    content = packed.get(name)
    return Entry(name, array.dtype, array.shape, None if content is None else len(content))


def _describe(entry: Entry) -> dict[str, Any]:
    described = {"name": entry.name, "dtype": entry.dtype.str, "shape": list(entry.shape)}
    return described if entry.n_packed is None else described | {"packed": entry.n_packed}


def _length(parts: list[bytes | memoryview]) -> int:
    return PREAMBLE.size + sum(map(len, parts))


def _as_stored(name: str, array: NDArray[Any]) -> NDArray[Any]:
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    if not is_storable(little.dtype.str):
        raise InvalidInputError(f"{name} is an array of {array.dtype}, which a model file cannot hold.")
    check_characters(name, little)
    return little


# --- Reading ------------------------------------------------------------------------------------------------


class Container:
    """Open file whose checksum, header and sizes have been checked. Arrays are read on request.

    Attributes
    ----------
    version : int
        Format version.
    header : dict
        Without the table of arrays.
    entries : dict of Entry
        Types and shapes of the arrays, by name.
    """

    def __init__(self, handle: BinaryIO, version: int, header: dict[str, Any], table: list[Entry]) -> None:
        self.version = version
        self.header = header
        self.entries = {entry.name: entry for entry in table}
        self._handle = handle
        place = handle.tell()
        self._place = {}
        for entry in table:
            self._place[entry.name] = place
            place += entry.n_stored + _gap(entry.n_stored)

    def read(self, name: str) -> NDArray[Any]:
        """Read an array."""
        entry = self.entries[name]
        self._handle.seek(self._place[name])
        content = _read(self._handle, entry.n_stored)
        if _read(self._handle, _gap(entry.n_stored)).any():
            raise InvalidInputError(f"the gap after the array {reprlib.repr(name)} is not empty.")
        return from_bytes(entry, content if entry.n_packed is None else unpack(entry, content))


@contextmanager
def open_container(file: File, *, newest: int, packed_since: int) -> Iterator[Container]:
    """Open a file written by `write_container`, or raise InvalidInputError.

    Parameters
    ----------
    file : path of the file
    newest : int
        Newest known format version. Of a newer file, only the version is read.
    packed_since : int
        First format version whose arrays may be compressed.
    """
    with _open_regular(file) as (handle, n_bytes):
        version, n_header = _read_preamble(handle, n_bytes, newest)
        header = read_json(_read(handle, n_header).tobytes())
        if not isinstance(header, dict):
            raise InvalidInputError("its header is not a mapping.")
        table = _read_table(header.pop("arrays", None), may_be_packed=version >= packed_since)
        n_described = PREAMBLE.size + n_header
        n_described += sum(entry.n_stored + _gap(entry.n_stored) for entry in table)
        if n_described != n_bytes:
            raise InvalidInputError(f"its arrays should end at {n_described} bytes, but it has {n_bytes}.")
        check_unpacked(table, n_bytes)
        yield Container(handle, version, header, table)


def is_container(file: File) -> bool:
    """Return whether a file begins like a model file."""
    with _open_regular(file) as (handle, _):
        return handle.read(len(MAGIC)) == MAGIC


@contextmanager
def _open_regular(file: File) -> Iterator[tuple[BinaryIO, int]]:
    """Open a regular file, with its length; refuse pipes and devices at once."""
    with open(file, "rb", opener=open_without_waiting) as handle:
        status = os.fstat(handle.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise InvalidInputError("it is not a regular file.")
        yield handle, status.st_size


def _read_preamble(handle: BinaryIO, n_bytes: int, newest: int) -> tuple[int, int]:
    """Check the first bytes and the checksum; stop before the header. Return version and header length."""
    start = handle.read(PREAMBLE.size)
    if not start or not MAGIC.startswith(start[: len(MAGIC)]):
        raise InvalidInputError("it is not a model that budgetprune saved.")
    if len(start) < PREAMBLE.size:
        raise InvalidInputError(f"it is cut off after {n_bytes} bytes.")
    _, version, n_header, n_written, digest = PREAMBLE.unpack(start)
    if version > newest:
        raise InvalidInputError(
            f"it was written by a newer budgetprune (format {version}; this one reads up to {newest}); "
            "upgrade budgetprune to load it."
        )
    if n_written > n_bytes:
        raise InvalidInputError(f"it is cut off: {n_bytes} of {n_written} bytes are left.")
    found = _digest(start)
    # Bytes that another process appends meanwhile are not read.
    for place in range(PREAMBLE.size, n_bytes, _CHUNK):
        found.update(_read(handle, min(_CHUNK, n_bytes - place)))
    if found.digest() != digest:
        raise InvalidInputError("it is damaged: its content does not match its checksum.")
    # The file is as it was written, but it may still be hostile: anyone can compute a checksum.
    if version < 1 or n_written != n_bytes:
        raise InvalidInputError(
            f"its preamble states {n_written} bytes and format {version}, which is wrong."
        )
    if n_header % ALIGNMENT or n_header > min(LONGEST_HEADER, n_bytes - PREAMBLE.size):
        raise InvalidInputError(f"its header cannot have {n_header} bytes.")
    handle.seek(PREAMBLE.size)
    return version, n_header


def _read_table(table: Any, *, may_be_packed: bool) -> list[Entry]:
    if not isinstance(table, list):
        raise InvalidInputError("its header has no list of arrays.")
    entries = [_read_entry(entry, may_be_packed) for entry in table]
    if len({entry.name for entry in entries}) < len(entries):
        raise InvalidInputError("two of its arrays have the same name.")
    return entries


def _read_entry(stored: Any, may_be_packed: bool) -> Entry:
    is_packed = may_be_packed and isinstance(stored, dict) and "packed" in stored
    needed = {"name", "dtype", "shape"} | ({"packed"} if is_packed else set())
    if not isinstance(stored, dict) or stored.keys() != needed:
        raise InvalidInputError("an array needs name, dtype and shape, and nothing else.")
    name, dtype, shape = stored["name"], stored["dtype"], stored["shape"]
    if not isinstance(name, str) or not isinstance(dtype, str) or not is_storable(dtype):
        raise InvalidInputError(f"the array {reprlib.repr(name)} has the type {reprlib.repr(dtype)}.")
    # In Python, bool is a subclass of int.
    if not isinstance(shape, list) or len(shape) not in (1, 2) or any(type(n) is not int for n in shape):
        raise InvalidInputError(f"the array {reprlib.repr(name)} has no shape of one or two sizes.")
    if any(not 0 <= n < 2**48 for n in shape):
        raise InvalidInputError(f"the array {reprlib.repr(name)} has an impossible shape.")
    entry = Entry(name, np.dtype(dtype), tuple(shape), stored.get("packed"))
    if is_packed and (type(entry.n_packed) is not int or not 0 < entry.n_packed < entry.n_bytes):
        raise InvalidInputError(f"the array {reprlib.repr(name)} has an impossible size in the file.")
    return entry


# --- Both ---------------------------------------------------------------------------------------------------


def _digest(start: bytes) -> Any:
    """Begin the checksum. It finds accidental damage; it has no key, so it cannot prevent forgery."""
    return blake2b(start[: DIGEST.start], digest_size=DIGEST.stop - DIGEST.start)


def _gap(n_bytes: int) -> int:
    """Return the number of bytes up to the next position where an array may begin."""
    return -n_bytes % ALIGNMENT


def _read(handle: BinaryIO, n_bytes: int) -> NDArray[np.uint8]:
    content = np.empty(n_bytes, dtype=np.uint8)
    if handle.readinto(content.data) != n_bytes:  # type: ignore[attr-defined]
        raise InvalidInputError("it became shorter while it was read.")
    return content
