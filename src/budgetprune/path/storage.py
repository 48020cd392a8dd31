"""Paths on disk: plain arrays in a ``.npz`` file, read without trusting it.

What is checked before anything large is unpacked:

1. The directory of the archive: no member twice, none encrypted, none outside of the file, and in all no more
   than `_archive.unpacked_limit` bytes.
2. The header, whose own size is limited. It tells the format.
3. Names, types and shapes of all arrays. Arrays with an entry per node have as many entries as there are
   nodes, and so on. There are no more nodes than the file has bytes: every node and every tree has a number
   of its own, which deflate cannot pack into less than a byte (real forests take about 15 bytes per node).

Files that `save_path` writes pass: where compression would exceed a limit, it does not compress.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.forest.schema import ARRAYS as FOREST_ARRAYS
from budgetprune.forest.schema import PER_NODE, TWO_DIMENSIONAL
from budgetprune.path.path import ARRAYS, PruningPath
from budgetprune.path.stored import stored_path
from budgetprune.persistence.container import LONGEST_HEADER
from budgetprune.persistence.forest import put_together, take_apart, written
from budgetprune.persistence.formats import FORMATS, Format
from budgetprune.persistence.model_file import check_arrays
from budgetprune.persistence.strict_json import read_json, write_json
from budgetprune.utils.archive import Archive, open_archive, unpacked_limit
from budgetprune.utils.files import written_atomically
from budgetprune.utils.stored_arrays import Entry

FORMAT, VERSION = "budgetprune path", 2  # 2: boosted forests

_FOREST = "forest."  # begins the names of the forest's arrays; the path's own have no prefix
_HEADER_KEYS = {"format", "version", "complete", "source_names", "unpruned", "forest"}
# A parsed header takes up to twenty times its length.
_HEADER_ALLOWED, _HEADER_RATIO = 2**22, 16

_DTYPES = ARRAYS | {_FOREST + name: dtype for name, dtype in FOREST_ARRAYS.items()}
_OF_NODES = ("critical_lambda", *(_FOREST + name for name in PER_NODE))
_OF_POINTS = tuple(name for name in ARRAYS if name != "critical_lambda")
_TWO_DIMENSIONAL = tuple(_FOREST + name for name in TWO_DIMENSIONAL)


# --- A path -------------------------------------------------------------------------------------------------


def save_path(path: PruningPath, file: str | os.PathLike[str]) -> None:
    """Write a path as named arrays, and one that holds what is no array as JSON."""
    settings, arrays = take_apart(path.forest)
    header = {
        "format": FORMAT,
        "version": VERSION,
        "complete": path.complete,
        "source_names": path.source_names,
        "unpruned": {"error": path.unpruned.error, "cost": path.unpruned.cost},
        "forest": written(settings),
    }
    own = {name: getattr(path, name) for name in ARRAYS}
    own |= {_FOREST + name: array for name, array in arrays.items()}
    present = {name: array for name, array in own.items() if array is not None}
    text = np.frombuffer(write_json(header), dtype=np.uint8)
    if text.size > LONGEST_HEADER:
        raise InvalidInputError(
            f"the names of features, sources and categories take {text.size} bytes, but a file has room for "
            f"{LONGEST_HEADER}; shorten them."
        )
    with written_atomically(file) as handle:
        np.savez_compressed(handle, header=text, **present)
        if _is_packed_too_well(handle, text, present):
            handle.seek(0)
            handle.truncate()
            np.savez(handle, header=text, **present)


def _is_packed_too_well(handle: BinaryIO, text: NDArray[np.uint8], arrays: dict[str, NDArray[Any]]) -> bool:
    """Whether `load_path` would take the file for a decompression bomb."""
    n_bytes, unpacked = handle.tell(), text.nbytes + sum(array.nbytes for array in arrays.values())
    # A little more than the arrays: each has a head of its own.
    return (
        unpacked + 2**16 > unpacked_limit(n_bytes)
        or text.size > _longest_header(n_bytes)
        or arrays["critical_lambda"].size > n_bytes
    )


def _longest_header(n_bytes: int) -> int:
    return min(LONGEST_HEADER, max(_HEADER_ALLOWED, _HEADER_RATIO * n_bytes))


def load_path(file: str | os.PathLike[str], forest: Forest | None) -> PruningPath:
    """Read what `save_path` wrote, or say what the file is instead."""
    header, arrays = _read(file)
    if header["version"] > VERSION:
        raise InvalidInputError(
            f"{os.fspath(file)} was written by a newer budgetprune (format {header['version']}; this one "
            f"reads up to {VERSION}); upgrade budgetprune to load it."
        )
    with _damage(file):
        stored = {name[len(_FOREST) :]: array for name, array in arrays.items() if name.startswith(_FOREST)}
        loaded = put_together(header["forest"], stored)
        own: dict[str, Any] = {name: arrays.get(name) for name in ARRAYS}
    if forest is not None:
        _check_same(loaded, forest)
        loaded = forest
    with _damage(file):
        return stored_path(loaded, header["complete"], header["unpruned"], header["source_names"], own)


def _read(file: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    with _damage(file), open_archive(file) as archive:
        header = _read_header(archive)
        # A later format may hold anything; what it is called is all that can be said about it.
        if header["version"] > VERSION:
            return header, {}
        if header.keys() != _HEADER_KEYS:
            raise InvalidInputError(f"its header must have the keys {', '.join(sorted(_HEADER_KEYS))}.")
        names = [name for name in archive.names if name != "header"]
        entries = {name: archive.describe(name) for name in names}
        check_arrays(entries, _DTYPES)
        _check_shapes(entries, archive.n_bytes)
        return header, {name: archive.read(name) for name in names}


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
    """Refuse shapes that contradict each other, or that a file of this length cannot hold."""
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
def _damage(file: str | os.PathLike[str]) -> Iterator[None]:
    """Turn whatever is wrong with the content of a file into one clear error."""
    try:
        yield
    except InvalidInputError as error:
        reason = str(error).rstrip(".")
        raise InvalidInputError(
            f"{os.fspath(file)} is not a path that budgetprune saved, or it is damaged ({reason})."
        ) from None


# --- The forest that it was saved with ----------------------------------------------------------------------


def _check_same(stored: Forest, given: Forest) -> None:
    """Refuse a forest that is not the one a path was saved with."""
    (settings, arrays), (given_settings, given_arrays) = take_apart(stored), take_apart(given)
    different = [name for name, value in settings.items() if given_settings[name] != value]
    different += [name for name, array in arrays.items() if not _equal(array, given_arrays[name])]
    if different:
        raise InvalidInputError(
            f"this is not the forest that the path was saved with: they differ in {', '.join(different)}."
        )


def _equal(one: NDArray[Any] | None, other: NDArray[Any] | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f" and other.dtype.kind == "f")


FORMATS.register(Format("path", save_path, load_path))
