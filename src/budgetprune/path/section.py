"""Section of model files that holds a pruning path, alone or beside the predictor that was chosen from it.

A path needs the unpruned forest, which has many more nodes than a predictor. Links between nodes follow from
the order of the nodes, and tests of splits are stored for splits only. Beside a predictor, more is left out:
what the two forests have in common, and arrays that are used in training only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.forest import ARRAYS as FOREST_ARRAYS
from budgetprune.forest import (
    Forest,
    forest_from_parts,
    forest_to_parts,
    links_in_preorder,
    settings_to_store,
    without_none,
)
from budgetprune.path.npz import read_npz
from budgetprune.path.path import ARRAYS, PruningPath
from budgetprune.path.restore import restore_path
from budgetprune.persistence import Content, Section, add_prefix, check_arrays, remove_prefix

NAME = "path"

_UNPRUNED, _PATH = "unpruned.", "path."  # prefixes of array names
_LINKS = ("parent", "left", "right")
# Arrays that a path beside a predictor does not have.
_ONLY_ALONE = ("classes", "class_weight", "variance", "split_gain", "origin_node")
# Arrays stored for splits only, with the value of leaves.
_OF_SPLITS = {"threshold": math.nan, "missing_left": False, "category_set": -1}
_STORED = {name: dtype for name, dtype in FOREST_ARRAYS.items() if name not in _LINKS}
_BESIDE = {name: dtype for name, dtype in _STORED.items() if name not in _ONLY_ALONE}


# --- Writing ------------------------------------------------------------------------------------------------


def _write(path: PruningPath, others: Mapping[str, Any]) -> Content:
    """Convert a path to plain values and arrays; `others` may have the forest of a predictor."""
    settings, arrays = forest_to_parts(path.forest)
    own: dict[str, Any] = {"complete": path.complete}
    own["unpruned"] = {"error": path.unpruned.error, "cost": path.unpruned.cost}
    if "forest" in others:
        common, _ = forest_to_parts(others["forest"])
        settings = {name: value for name, value in settings.items() if value != common[name]}
        names = _BESIDE
    else:
        settings, names = settings_to_store(settings), _STORED
        own["sources"] = list(path.source_names)
    is_split = path.forest.is_split
    arrays |= {name: arrays[name][is_split] for name in _OF_SPLITS}  # type: ignore[index]
    if path.forest.category_start.size == 1:
        arrays["category_set"] = None
    numbers = {name: getattr(path, name) for name in ARRAYS}
    numbers["critical_lambda"] = path.critical_lambda[is_split]
    stored = add_prefix(_UNPRUNED, {name: arrays[name] for name in names}) | add_prefix(_PATH, numbers)
    return Content({"unpruned": settings, NAME: own}, without_none(stored))


# --- Reading ------------------------------------------------------------------------------------------------


def _read(content: Content, others: Mapping[str, Any]) -> PruningPath:
    """Restore a path; a file of a predictor has the names of its sources elsewhere."""
    forest = others.get("forest")
    stored = content.header.get(NAME)
    keys = {"complete", "unpruned"} | ({"sources"} if forest is None else set())
    if not isinstance(stored, dict) or stored.keys() != keys:
        raise InvalidInputError(f"its path must have {', '.join(map(repr, sorted(keys)))}.")
    sources = stored["sources"] if forest is None else others["costs"].source_names
    unpruned = _read_forest(content.header.get("unpruned"), remove_prefix(_UNPRUNED, content.arrays), forest)
    numbers = {name: content.arrays.get(_PATH + name) for name in ARRAYS}
    if numbers["critical_lambda"] is not None:
        critical = _of_all_nodes(numbers["critical_lambda"], unpruned.is_split, 0.0, "critical_lambda")
        numbers["critical_lambda"] = critical
    return restore_path(unpruned, stored["complete"], stored["unpruned"], sources, numbers)


def _read_forest(settings: Any, arrays: dict[str, NDArray[Any]], predictor: Forest | None) -> Forest:
    """Restore the unpruned forest; settings that are absent are those of the predictor's forest."""
    if not isinstance(settings, dict) or not {"feature", "tree_start"} <= arrays.keys():
        raise InvalidInputError("its path needs the unpruned forest.")
    feature, start = arrays["feature"], arrays["tree_start"]
    if feature.ndim != 1 or start.ndim != 1:
        raise InvalidInputError("feature and tree_start of the unpruned forest must have one dimension.")
    if predictor is not None:
        check_arrays(arrays, _BESIDE)
        common, own = forest_to_parts(predictor)
        settings = common | settings
        arrays = arrays | {"origin_node": np.arange(feature.size, dtype=np.int32)}
        arrays |= without_none({"classes": own["classes"]})
    is_split = feature >= 0
    arrays = arrays | dict(zip(_LINKS, links_in_preorder(start, is_split), strict=True))
    for name, nothing in _OF_SPLITS.items():
        entries = arrays.get(name)
        if name == "category_set" and entries is None:
            entries = np.full(np.count_nonzero(is_split), nothing, dtype=np.int32)
        arrays[name] = _of_all_nodes(entries, is_split, nothing, name)
    return forest_from_parts(settings, arrays)


def _of_all_nodes(
    entries: NDArray[Any] | None, is_split: NDArray[np.bool_], nothing: Any, name: str
) -> NDArray[Any]:
    """Expand entries of splits to all nodes."""
    if entries is None or entries.shape != (np.count_nonzero(is_split),):
        raise InvalidInputError(f"{name} of the unpruned forest must have an entry for each split.")
    expanded = np.full(is_split.size, nothing, dtype=entries.dtype)
    expanded[is_split] = entries
    return expanded


SECTIONS = (
    Section(
        name=NAME,
        since=2,
        keys=("unpruned", NAME),
        dtypes=add_prefix(_UNPRUNED, _STORED) | add_prefix(_PATH, ARRAYS),
        write=_write,
        read=_read,
        read_older=read_npz,
    ),
)
