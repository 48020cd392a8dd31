"""Write path files in the format of release 0.1, which is read but no longer written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from budgetprune import PruningPath
from budgetprune.forest.section import forest_to_parts, settings_to_store, without_none
from budgetprune.path import ARRAYS


def write_npz(path: PruningPath, file: Path) -> None:
    """Write a path as release 0.1 did."""
    settings, arrays = forest_to_parts(path.forest)
    header = {
        "format": "budgetprune path",
        "version": 2,
        "complete": path.complete,
        "source_names": path.source_names,
        "unpruned": {"error": path.unpruned.error, "cost": path.unpruned.cost},
        "forest": settings_to_store(settings),
    }
    own = {name: getattr(path, name) for name in ARRAYS}
    own |= {f"forest.{name}": array for name, array in arrays.items()}
    np.savez_compressed(file, header=as_bytes(header), **without_none(own))


def as_bytes(header: Any) -> np.ndarray:
    """JSON as an array of bytes, without spaces, as it was written."""
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":"))
    return np.frombuffer(text.encode(), dtype=np.uint8)


def read_header(file: Path) -> dict[str, Any]:
    with np.load(file) as archive:
        return dict(json.loads(archive["header"].tobytes()))


def change_arrays(file: Path, **changes: Any) -> None:
    """Replace arrays by others, or by the results of functions; None: leave out."""
    with np.load(file) as archive:
        arrays = dict(archive)
    for name, change in changes.items():
        arrays[name] = change(arrays[name]) if callable(change) else change
    np.savez_compressed(file, **without_none(arrays))
