"""Optional sections of a model file: the pruning path and the metadata.

A path needs the unpruned forest, which has many more nodes than the model. Only the arrays that predictions
and prunings need are stored, without those that can be derived from others.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.forest.schema import ARRAYS as FOREST_ARRAYS
from budgetprune.forest.topology import links_in_preorder
from budgetprune.model.about import About
from budgetprune.path import ARRAYS as PATH_ARRAYS
from budgetprune.path import PruningPath
from budgetprune.path.stored import stored_path
from budgetprune.persistence.forest import put_together, take_apart
from budgetprune.persistence.model_file import Sections, check_arrays, without_prefix

_UNPRUNED, _PATH = "unpruned.", "path."  # prefixes of array names
# Arrays derived from the node order, and arrays used only for training and node errors.
_LINKS = ("parent", "left", "right", "origin_node")
_LEFT_OUT = ("class_weight", "variance", "split_gain")
# Arrays stored for splits only, with the value of leaves.
_OF_SPLITS = {"threshold": math.nan, "missing_left": False, "category_set": -1}
_DTYPES = {
    _UNPRUNED + name: dtype for name, dtype in FOREST_ARRAYS.items() if name not in (*_LINKS, *_LEFT_OUT)
}
_DTYPES |= {_PATH + name: dtype for name, dtype in PATH_ARRAYS.items()}


# --- Writing ------------------------------------------------------------------------------------------------


def sections_of(forest: Forest, path: PruningPath | None, about: About | None) -> Sections:
    """Convert the path and the metadata to arrays and plain values.

    Parameters
    ----------
    forest : of the predictor; settings that the unpruned forest shares with it are stored once
    path, about : optional parts
    """
    header: dict[str, Any] = {} if about is None else {"about": about.to_json()}
    if path is None:
        return Sections(header, {})
    (own, _), (settings, arrays) = take_apart(forest), take_apart(path.forest)
    header["unpruned"] = {name: value for name, value in settings.items() if value != own[name]}
    whole = {"error": path.unpruned.error, "cost": path.unpruned.cost}
    header["path"] = {"complete": path.complete, "unpruned": whole}
    is_split = path.forest.is_split
    arrays |= {name: arrays[name][is_split] for name in _OF_SPLITS}  # type: ignore[index]
    if path.forest.category_start.size == 1:
        arrays["category_set"] = None
    stored = {_UNPRUNED + name: array for name, array in arrays.items() if name != "classes"}
    stored |= {_PATH + name: getattr(path, name) for name in PATH_ARRAYS}
    stored[_PATH + "critical_lambda"] = path.critical_lambda[is_split]
    return Sections(
        header, {name: array for name, array in stored.items() if array is not None and name in _DTYPES}
    )


# --- Reading ------------------------------------------------------------------------------------------------


def about_of(sections: Sections) -> About | None:
    """Read the metadata, if there is any, or raise InvalidInputError."""
    return About.from_json(sections.header["about"]) if "about" in sections.header else None


def path_of(sections: Sections, forest: Forest, source_names: tuple[str, ...]) -> PruningPath | None:
    """Read the path, if there is one, or raise InvalidInputError.

    Parameters
    ----------
    sections : of an untrusted file
    forest, source_names : of the predictor
    """
    header, arrays = sections
    check_arrays(arrays, _DTYPES)
    if "path" not in header and "unpruned" not in header and not arrays:
        return None
    stored = header.get("path")
    if not isinstance(stored, dict) or stored.keys() != {"complete", "unpruned"}:
        raise InvalidInputError("its path must have 'complete' and 'unpruned'.")
    unpruned = _unpruned(header.get("unpruned"), without_prefix(arrays, _UNPRUNED), forest)
    own: dict[str, Any] = {name: arrays.get(_PATH + name) for name in PATH_ARRAYS}
    if own["critical_lambda"] is not None:
        own["critical_lambda"] = _spread(own["critical_lambda"], unpruned.is_split, 0.0, "critical_lambda")
    return stored_path(unpruned, stored["complete"], stored["unpruned"], source_names, own)


def _unpruned(stored: Any, arrays: dict[str, NDArray[Any]], forest: Forest) -> Forest:
    """Restore the unpruned forest; missing settings are those of the predictor's forest."""
    settings, own = take_apart(forest)
    if not isinstance(stored, dict) or not {"feature", "tree_start"} <= arrays.keys():
        raise InvalidInputError("its path needs the unpruned forest.")
    feature, start = arrays["feature"], arrays["tree_start"]
    if feature.ndim != 1 or start.ndim != 1:
        raise InvalidInputError("feature and tree_start of the unpruned forest must have one dimension.")
    is_split = feature >= 0
    arrays = arrays | dict(zip(("parent", "left", "right"), links_in_preorder(start, is_split), strict=True))
    arrays["origin_node"] = np.arange(feature.size, dtype=np.int32)
    for name, nothing in _OF_SPLITS.items():
        own_entries = arrays.get(name)
        if name == "category_set" and own_entries is None:
            own_entries = np.full(np.count_nonzero(is_split), nothing, dtype=np.int32)
        arrays[name] = _spread(own_entries, is_split, nothing, name)
    if own["classes"] is not None:
        arrays["classes"] = own["classes"]
    return put_together(settings | stored, arrays)


def _spread(
    entries: NDArray[Any] | None, is_split: NDArray[np.bool_], nothing: Any, name: str
) -> NDArray[Any]:
    """Expand entries of splits to all nodes."""
    if entries is None or entries.shape != (np.count_nonzero(is_split),):
        raise InvalidInputError(f"{name} of the unpruned forest must have an entry for each split.")
    spread = np.full(is_split.size, nothing, dtype=entries.dtype)
    spread[is_split] = entries
    return spread
