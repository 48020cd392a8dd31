"""Path files of releases up to 0.1: plain arrays in a ``.npz`` file. They are read, but no longer written.

Checks before anything large is unpacked:

1. The directory of the archive: no member twice, none encrypted, none outside of the file, and in all no more
   than `budgetprune.utils.archive.unpacked_limit` bytes.
2. The header, whose size is limited.
3. Names, types and shapes of all arrays. Arrays with an entry per node have as many entries as there are
   nodes, and so on. There are no more nodes than the file has bytes: every node and every tree has a distinct
   number, which deflate cannot pack into less than a byte.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.forest import ARRAYS as FOREST_ARRAYS
from budgetprune.forest import PER_NODE, TWO_DIMENSIONAL, forest_from_parts
from budgetprune.path.path import ARRAYS, PruningPath
from budgetprune.path.restore import restore_path
from budgetprune.persistence import LONGEST_HEADER, check_arrays, read_json, remove_prefix
from budgetprune.utils.archive import Archive, open_archive
from budgetprune.utils.stored_arrays import Entry

FORMAT, VERSION = "budgetprune path", 2  # version 2: boosted forests

_FOREST = "forest."  # prefix of the forest's arrays; those of the path have none
_HEADER_KEYS = {"format", "version", "complete", "source_names", "unpruned", "forest"}
# A parsed header takes up to twenty times its length.
_HEADER_ALLOWED, _HEADER_RATIO = 2**22, 16

_DTYPES = ARRAYS | {_FOREST + name: dtype for name, dtype in FOREST_ARRAYS.items()}
_OF_NODES = ("critical_lambda", *(_FOREST + name for name in PER_NODE))
_OF_POINTS = tuple(name for name in ARRAYS if name != "critical_lambda")
_TWO_DIMENSIONAL = tuple(_FOREST + name for name in TWO_DIMENSIONAL)


def read_npz(file: str | os.PathLike[str]) -> PruningPath:
    """Read a path file, or raise InvalidInputError."""
    header, arrays = _read(file)
    if header["version"] > VERSION:
        raise InvalidInputError(
            f"{os.fspath(file)} was written by a newer budgetprune (format {header['version']}; this one "
            f"reads up to {VERSION}); upgrade budgetprune to load it."
        )
    with _errors_name_file(file):
        forest = forest_from_parts(header["forest"], remove_prefix(_FOREST, arrays))
        numbers = {name: arrays.get(name) for name in ARRAYS}
        return restore_path(forest, header["complete"], header["unpruned"], header["source_names"], numbers)


def _read(file: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    with _errors_name_file(file), open_archive(file) as archive:
        header = _read_header(archive)
        # Only the version of a newer file is known.
        if header["version"] > VERSION:
            return header, {}
        if header.keys() != _HEADER_KEYS:
            raise InvalidInputError(f"its header must have the keys {', '.join(sorted(_HEADER_KEYS))}.")
        names = [name for name in archive.names if name != "header"]
        entries = {name: archive.describe(name) for name in names}
        check_arrays(entries, _DTYPES)
        _check_shapes(entries, archive.n_bytes)
        return header, {name: archive.read(name) for name in names}


def _longest_header(n_bytes: int) -> int:
    return min(LONGEST_HEADER, max(_HEADER_ALLOWED, _HEADER_RATIO * n_bytes))


def _read_header(archive: Archive) -> dict[str, Any]:
    if "header" not in archive.names:
        raise InvalidInputError("it holds something else.")
    entry = archive.describe("header")
    if entry.dtype != np.uint8 or len(entry.shape) != 1:
        raise InvalidInputError("its header must be bytes.")
    if entry.n_bytes > _longest_header(archive.n_bytes):
        raise InvalidInputError(f"its header cannot have {entry.n_bytes} bytes.")
    header = read_json(archive.read("header").tobytes())
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise InvalidInputError("it holds something else.")
    version = header.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise InvalidInputError("its header has no version.")
    return header


def _check_shapes(entries: dict[str, Entry], n_bytes: int) -> None:
    """Raise if shapes contradict each other, or are too large for a file of this length."""
    for name, entry in entries.items():
        if len(entry.shape) != 1 + (name in _TWO_DIMENSIONAL):
            raise InvalidInputError(f"{name} has {len(entry.shape)} dimensions.")
    size = {name: entry.shape[0] for name, entry in entries.items()}
    n_nodes, n_trees = size.get(_FOREST + "feature", 0), size.get(_FOREST + "tree_start", 1) - 1
    n_outputs, n_classes = size.get(_FOREST + "base", 0), size.get(_FOREST + "classes", 0)
    expected = dict.fromkeys(_OF_NODES, n_nodes) | dict.fromkeys(_OF_POINTS, size.get("lam", 0))
    expected |= {_FOREST + "tree_output": n_trees, _FOREST + "tree_round": n_trees}
    for name in expected.keys() & size.keys():
        if size[name] != expected[name]:
            raise InvalidInputError(f"{name} has {size[name]} entries, but should have {expected[name]}.")
    for name, widths in zip(_TWO_DIMENSIONAL, ((1, n_outputs), (n_classes,)), strict=True):
        if name in entries and entries[name].shape[1] not in widths:
            raise InvalidInputError(f"{name} has {entries[name].shape[1]} columns.")
    if not n_trees <= n_nodes <= n_bytes:
        raise InvalidInputError(f"{n_nodes} nodes in {n_trees} trees do not fit into {n_bytes} bytes.")


@contextmanager
def _errors_name_file(file: str | os.PathLike[str]) -> Iterator[None]:
    """Name the file in the message of each InvalidInputError."""
    try:
        yield
    except InvalidInputError as error:
        reason = str(error).rstrip(".")
        raise InvalidInputError(
            f"{os.fspath(file)} is not a path that budgetprune saved, or it is damaged ({reason})."
        ) from None
