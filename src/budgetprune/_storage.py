"""Paths on disk: plain arrays in a ``.npz`` file, read without trusting it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune._files import written_atomically
from budgetprune._forest_parts import put_together, take_apart, written
from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.path import ARRAYS, PruningPath
from budgetprune.pruning import Pruning

FORMAT, VERSION = "budgetprune path", 2  # 2: boosted forests

_FOREST = "forest."  # begins the names of the forest's arrays; the path's own have no prefix


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
    text = np.frombuffer(json.dumps(header, default=np.generic.item).encode(), dtype=np.uint8)
    with written_atomically(file) as handle:
        np.savez_compressed(handle, header=text, **present)


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
        unpruned = Pruning(loaded, loaded.is_split, np.nan, **header["unpruned"])
        return PruningPath(
            forest=loaded,
            unpruned=unpruned,
            complete=header["complete"],
            source_names=tuple(header["source_names"]),
            **own,
        )


def _read(file: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    with open(file, "rb") as handle, _damage(file):
        archive = np.load(handle, allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile) or "header" not in archive:
            raise ValueError("it holds something else")
        header = json.loads(archive["header"].tobytes())
        if header["format"] != FORMAT or not isinstance(header["version"], int):
            raise ValueError("it holds something else")
        # A later format may hold anything; what it is called is all that can be said about it.
        return header, {} if header["version"] > VERSION else dict(archive)


@contextmanager
def _damage(file: str | os.PathLike[str]) -> Iterator[None]:
    """Turn whatever goes wrong with the content of a file into one clear error."""
    try:
        yield
    except Exception as error:  # damaged bytes can upset zipfile, zlib, numpy, json and us in many ways
        raise InvalidInputError(
            f"{os.fspath(file)} is not a path that budgetprune saved, or it is damaged "
            f"({type(error).__name__}: {error})."
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
