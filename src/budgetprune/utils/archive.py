"""Untrusted zip archives of arrays (``.npz``): everything is checked before anything large is unpacked.

A few bytes of a zip archive can unpack to gigabytes. So the size of the content is limited by the length of
the file, see `unpacked_limit`; names, types and sizes of all arrays are read first, and reading an array
stops at its stated size.
"""

from __future__ import annotations

import io
import math
import os
import re
import reprlib
import stat
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.utils.stored_arrays import Entry, from_bytes, is_storable, open_without_waiting

# The content of any archive may take this much memory ...
ALWAYS_ALLOWED = 2**26
# ... and this many times the length of the archive. Forests of few classes are compressed 4 to 12 times.
# Zeros are compressed 1000 times, and so, nearly, are class weights of thousands of classes.
LARGEST_RATIO = 256

_CHUNK = 2**20
_LONGEST_DIRECTORY = _CHUNK  # of a file with a few dozen arrays
_SUFFIX = ".npy"
_MAGIC = b"\x93NUMPY"
_LENGTH = {b"\1\0": struct.Struct("<H"), b"\2\0": struct.Struct("<I")}  # of the head, by version
_LONGEST_HEAD = 10_000
_HEAD = re.compile(
    rb"\{'descr': '([<>|][a-zA-Z][0-9]{1,6})', 'fortran_order': (True|False), "
    rb"'shape': \(([0-9]{1,15}, ?(?:[0-9]{1,15})?)\),? ?\}"
)
_ENCRYPTED = 0x1 | 0x40  # flags of a member
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # other methods cannot be unpacked in bounded pieces

# Errors that `zipfile` raises for damaged files.
_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, UnicodeDecodeError)

File = str | os.PathLike[str]


def unpacked_limit(n_bytes: int) -> int:
    """Maximum number of bytes of the whole content of an archive of `n_bytes`."""
    return max(ALWAYS_ALLOWED, LARGEST_RATIO * n_bytes)


class Archive:
    """An open ``.npz`` file whose directory has been checked.

    Attributes
    ----------
    n_bytes : int
        Length of the file.
    names : list of str
        Of the arrays, without the ending ``.npy``.
    """

    def __init__(self, members: zipfile.ZipFile, n_bytes: int) -> None:
        self.n_bytes = n_bytes
        self._members = members
        self.names = [info.filename.removesuffix(_SUFFIX) for info in members.infolist()]
        _check_directory(members.infolist(), n_bytes)
        if not all(info.filename.endswith(_SUFFIX) for info in members.infolist()):
            raise InvalidInputError("it holds something that is not an array.")

    def describe(self, name: str) -> Entry:
        """Read type (in the byte order of this machine) and shape of an array, but not its content."""
        with self._open(name) as handle:
            entry, _ = _read_entry(name, handle, self._size(name))
        return entry._replace(dtype=entry.dtype.newbyteorder("="))

    def read(self, name: str) -> NDArray[Any]:
        """Read an array."""
        with self._open(name) as handle:
            entry, is_fortran = _read_entry(name, handle, self._size(name))
            content = np.empty(entry.n_bytes, dtype=np.uint8)
            for start in range(0, entry.n_bytes, _CHUNK):
                piece = content[start : start + _CHUNK]
                piece[:] = np.frombuffer(_read_exactly(name, handle, piece.size), dtype=np.uint8)
            if handle.read(1):  # also has zipfile compare the checksum
                raise InvalidInputError(f"the array {reprlib.repr(name)} is longer than its stated size.")
        if is_fortran:
            return from_bytes(entry._replace(shape=entry.shape[::-1]), content).T
        return from_bytes(entry, content)

    def _open(self, name: str) -> BinaryIO:
        return self._members.open(name + _SUFFIX)  # type: ignore[return-value]

    def _size(self, name: str) -> int:
        return self._members.getinfo(name + _SUFFIX).file_size


@contextmanager
def open_archive(file: File) -> Iterator[Archive]:
    """Open a ``.npz`` file and check its directory; raise InvalidInputError if it is invalid."""
    with _open_members(file, _LONGEST_DIRECTORY) as (members, n_bytes):
        yield Archive(members, n_bytes)


def check_archive(file: File) -> None:
    """Raise if the content of a zip archive is far larger than the file, before a library unpacks it."""
    with _open_members(file) as (members, n_bytes):  # a large model has thousands
        _check_directory(members.infolist(), n_bytes)


@contextmanager
def _open_members(file: File, longest_directory: float = math.inf) -> Iterator[tuple[zipfile.ZipFile, int]]:
    with _LimitedReader(open(file, "rb", buffering=0, opener=open_without_waiting)) as handle:
        status = os.fstat(handle.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise InvalidInputError("it is not a regular file.")
        handle.limit = longest_directory
        try:
            with zipfile.ZipFile(handle) as members:
                yield members, status.st_size
        except _DAMAGE as error:
            reason = f"{type(error).__name__}: {error}"
            raise InvalidInputError(f"it is not a zip archive, or it is damaged ({reason}).") from None


class _LimitedReader(io.BufferedReader):
    """File with limited reads, because `zipfile` reads a directory of any length in one piece."""

    limit: float = math.inf

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0:
            size = os.fstat(self.fileno()).st_size - self.tell()
        if size > self.limit:
            raise InvalidInputError(f"its directory cannot have {size} bytes.")
        return super().read(size)


def _check_directory(members: list[zipfile.ZipInfo], n_bytes: int) -> None:
    twice = [name for name, count in Counter(info.filename for info in members).items() if count > 1]
    if twice:
        raise InvalidInputError(f"it has two members of the name {reprlib.repr(twice[0])}.")
    for info in members:
        if info.flag_bits & _ENCRYPTED or info.compress_type not in _METHODS:
            raise InvalidInputError(
                f"{reprlib.repr(info.filename)} is encrypted, or compressed by a method other than deflate."
            )
        if not 0 <= info.header_offset < n_bytes:
            raise InvalidInputError(f"{reprlib.repr(info.filename)} is said to lie outside of the file.")
    # Members that share bytes of the file are larger in total than the file.
    if sum(info.compress_size for info in members) > n_bytes:
        raise InvalidInputError("its members overlap.")
    unpacked, limit = sum(info.file_size for info in members), unpacked_limit(n_bytes)
    if unpacked > limit:
        raise InvalidInputError(
            f"its {n_bytes} bytes unpack to {unpacked}; more than {limit} are refused for a file of this "
            "length, as no model or data set compresses that well."
        )


def _read_entry(name: str, handle: BinaryIO, n_bytes: int) -> tuple[Entry, bool]:
    """Read the head of a ``.npy`` file: type and shape, and whether columns are stored one by one.

    numpy evaluates the head as Python and repairs some errors; here it must be exactly as `numpy.save` writes
    it.
    """
    start = handle.read(len(_MAGIC) + 2)
    length = _LENGTH.get(start[len(_MAGIC) :]) if start.startswith(_MAGIC) else None
    if length is None:
        raise InvalidInputError(f"{reprlib.repr(name)} is not an array.")
    (n_head,) = length.unpack(_read_exactly(name, handle, length.size))
    text = _read_exactly(name, handle, min(n_head, _LONGEST_HEAD)).rstrip()
    head = _HEAD.fullmatch(text)
    if head is None or not is_storable(head[1].decode().replace(">", "<")):
        raise InvalidInputError(
            f"the array {reprlib.repr(name)} must hold numbers, bool or strings, in one or two dimensions, "
            f"but is described as {reprlib.repr(text)}."
        )
    shape = tuple(int(size) for size in head[3].split(b",") if size.strip())
    entry = Entry(name, np.dtype(head[1].decode()), shape)
    if handle.tell() + entry.n_bytes != n_bytes:
        raise InvalidInputError(
            f"the array {reprlib.repr(name)} of shape {shape} cannot have {n_bytes} bytes."
        )
    return entry, head[2] == b"True"


def _read_exactly(name: str, handle: BinaryIO, n_bytes: int) -> bytes:
    content = handle.read(n_bytes)
    if len(content) != n_bytes:
        raise InvalidInputError(f"the array {reprlib.repr(name)} is shorter than its stated size.")
    return content
