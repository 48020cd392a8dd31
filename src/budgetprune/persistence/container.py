"""A file of named arrays and one JSON header: what a model file is before anyone asks what is in it.

All that a file says about itself is checked before it is used, and its sizes before anything is allocated.
The layout is in ``docs/model-format.md``.
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
from budgetprune.persistence.strict_json import read_json, write_json
from budgetprune.utils.files import written_atomically
from budgetprune.utils.stored_arrays import (
    Entry,
    check_characters,
    from_bytes,
    is_storable,
    open_without_waiting,
)

# The bytes around the name tell files that were sent as text: some programs change line ends, or cut at 0x1a.
MAGIC = b"\x89budgetprune\r\n\x1a\n"
ALIGNMENT = 64
LONGEST_HEADER = 2**25  # a parsed header takes up to twenty times its length

PREAMBLE = struct.Struct("<16sIIQ32s")  # magic, version, length of the header, length of the file, digest
DIGEST = slice(32, 64)  # its place in the preamble

_CHUNK = 2**20

File = str | os.PathLike[str]


# --- Writing ------------------------------------------------------------------------------------------------


def write_container(
    file: File, version: int, header: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> None:
    """Write the file, all at once or not at all.

    Parameters
    ----------
    file : path of the file
    version : of what is in it
    header : plain values; must not have the key "arrays", which is the table of these
    arrays : truth values, numbers or text, by name
    """
    stored = {name: _as_stored(name, array) for name, array in arrays.items()}
    table = [
        {"name": name, "dtype": array.dtype.str, "shape": list(array.shape)} for name, array in stored.items()
    ]
    text = write_json(header | {"arrays": table})
    parts: list[bytes | memoryview] = [text + b" " * _gap(len(text))]
    if len(parts[0]) > LONGEST_HEADER:
        raise InvalidInputError(
            f"the names of features, sources and categories take {len(parts[0])} bytes, but a model file has "
            f"room for {LONGEST_HEADER}; shorten them."
        )
    for array in stored.values():
        parts += [array.reshape(-1).view(np.uint8).data, b"\0" * _gap(array.nbytes)]
    n_bytes = PREAMBLE.size + sum(map(len, parts))
    start = PREAMBLE.pack(MAGIC, version, len(parts[0]), n_bytes, b"")
    digest = _digest(start)
    for part in parts:
        digest.update(part)
    with written_atomically(file) as handle:
        handle.write(start[: DIGEST.start] + digest.digest())
        handle.writelines(parts)


def _as_stored(name: str, array: NDArray[Any]) -> NDArray[Any]:
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    if not is_storable(little.dtype.str):
        raise InvalidInputError(f"{name} is an array of {array.dtype}, which a model file cannot hold.")
    check_characters(name, little)
    return little


# --- Reading ------------------------------------------------------------------------------------------------


def read_container(
    file: File, newest: int, skip: tuple[str, ...] = ()
) -> tuple[int, dict[str, Any], dict[str, NDArray[Any]]]:
    """Read what `write_container` wrote: its version, header and arrays.

    Parameters
    ----------
    file : path of the file
    newest : the version up to which files are understood; of a newer one, only the version is looked at
    skip : beginnings of names of arrays that nobody wants: they take no memory
    """
    with open(file, "rb", opener=open_without_waiting) as handle, blamed_on(file):
        status = os.fstat(handle.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise InvalidInputError("it is no regular file.")
        version, n_header = _read_preamble(handle, status.st_size, newest)
        header = read_json(_read(handle, n_header).tobytes())
        if not isinstance(header, dict):
            raise InvalidInputError("its header is no mapping.")
        table = _read_table(header.pop("arrays", None))
        n_described = PREAMBLE.size + n_header
        n_described += sum(entry.n_bytes + _gap(entry.n_bytes) for entry in table)
        if n_described != status.st_size:
            raise InvalidInputError(
                f"its arrays should take it to {n_described} bytes, but it has {status.st_size}."
            )
        arrays = {}
        for entry in table:
            if entry.name.startswith(skip):
                handle.seek(entry.n_bytes + _gap(entry.n_bytes), os.SEEK_CUR)
            else:
                arrays[entry.name] = _read_array(handle, entry)
        return version, header, arrays


@contextmanager
def blamed_on(file: File) -> Iterator[None]:
    """Say in the message of an error which file it is about."""
    try:
        yield
    except InvalidInputError as error:
        raise InvalidInputError(f"{os.fspath(file)} cannot be loaded: {error}") from None


def _read_preamble(handle: BinaryIO, n_bytes: int, newest: int) -> tuple[int, int]:
    """Check the first bytes, then that all others are what was written; stop before the header."""
    start = handle.read(PREAMBLE.size)
    if not start or not MAGIC.startswith(start[: len(MAGIC)]):
        raise InvalidInputError("it is no model that budgetprune saved.")
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
    for place in range(PREAMBLE.size, n_bytes, _CHUNK):  # and no further, should somebody append to the file
        found.update(_read(handle, min(_CHUNK, n_bytes - place)))
    if found.digest() != digest:
        raise InvalidInputError("it is damaged: its content and its checksum do not fit each other.")
    # From here on nothing is accidental, but anyone can compute a checksum.
    if version < 1 or n_written != n_bytes:
        raise InvalidInputError(
            f"it says that it has {n_written} bytes and format {version}, which is wrong."
        )
    if n_header % ALIGNMENT or n_header > min(LONGEST_HEADER, n_bytes - PREAMBLE.size):
        raise InvalidInputError(f"its header cannot have {n_header} bytes.")
    handle.seek(PREAMBLE.size)
    return version, n_header


def _read_table(table: Any) -> list[Entry]:
    if not isinstance(table, list):
        raise InvalidInputError("its header has no list of arrays.")
    entries = [_read_entry(entry) for entry in table]
    if len({entry.name for entry in entries}) < len(entries):
        raise InvalidInputError("two of its arrays have the same name.")
    return entries


def _read_entry(entry: Any) -> Entry:
    if not isinstance(entry, dict) or entry.keys() != {"name", "dtype", "shape"}:
        raise InvalidInputError("an array needs name, dtype and shape, and nothing else.")
    name, dtype, shape = entry["name"], entry["dtype"], entry["shape"]
    if not isinstance(name, str) or not isinstance(dtype, str) or not is_storable(dtype):
        raise InvalidInputError(f"the array {reprlib.repr(name)} has the type {reprlib.repr(dtype)}.")
    # A bool is an int to Python, but no size.
    if not isinstance(shape, list) or len(shape) not in (1, 2) or any(type(n) is not int for n in shape):
        raise InvalidInputError(f"the array {reprlib.repr(name)} has no shape of one or two sizes.")
    if any(not 0 <= n < 2**48 for n in shape):
        raise InvalidInputError(f"the array {reprlib.repr(name)} has an impossible shape.")
    return Entry(name, np.dtype(dtype), tuple(shape))


def _read_array(handle: BinaryIO, entry: Entry) -> NDArray[Any]:
    content = _read(handle, entry.n_bytes)
    if _read(handle, _gap(entry.n_bytes)).any():
        raise InvalidInputError(f"the gap after the array {reprlib.repr(entry.name)} is not empty.")
    return from_bytes(entry, content)


# --- Both ---------------------------------------------------------------------------------------------------


def _digest(start: bytes) -> Any:
    """Begin the checksum that tells accidents; it has no key, so it cannot tell intent."""
    return blake2b(start[: DIGEST.start], digest_size=DIGEST.stop - DIGEST.start)


def _gap(n_bytes: int) -> int:
    """How many bytes are left up to the next place where an array may begin."""
    return -n_bytes % ALIGNMENT


def _read(handle: BinaryIO, n_bytes: int) -> NDArray[np.uint8]:
    content = np.empty(n_bytes, dtype=np.uint8)
    if handle.readinto(content.data) != n_bytes:  # type: ignore[attr-defined]
        raise InvalidInputError("it became shorter while it was read.")
    return content
