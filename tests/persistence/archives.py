"""Zip archives that mean harm, for the tests of whatever unpacks them."""

from __future__ import annotations

import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

MIB = 2**20


def write_zeros(archive: zipfile.ZipFile, name: str, dtype: str, shape: tuple[int, ...]) -> None:
    """Write an array of zeros, however large, in little memory."""
    info = zipfile.ZipInfo(name)
    info.compress_type = zipfile.ZIP_DEFLATED
    n_bytes = int(np.dtype(dtype).itemsize * np.prod(shape, dtype=object))
    with archive.open(info, "w", force_zip64=True) as member:
        description = {"descr": dtype, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(member, description)
        for start in range(0, n_bytes, 4 * MIB):
            member.write(bytes(min(4 * MIB, n_bytes - start)))


def rewrite(file: Path, change: Callable[[dict[str, bytes]], None]) -> None:
    """Change the members of an archive."""
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


@contextmanager
def little_memory(most: int = 16 * MIB) -> Iterator[None]:
    """Fail if Python and numpy together allocate more than `most` bytes at a time."""
    tracemalloc.start()
    try:
        yield
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < most, f"{peak / MIB:.0f} MiB were allocated"
