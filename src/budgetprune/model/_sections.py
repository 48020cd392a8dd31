"""The sections of a model file that a predictor has no use for: the path, and how the model came about."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from budgetprune._forest_parts import put_together, take_apart
from budgetprune.errors import InvalidInputError
from budgetprune.forest._checks import ARRAYS as FOREST_ARRAYS
from budgetprune.model._about import About
from budgetprune.path import ARRAYS as PATH_ARRAYS
from budgetprune.path import PruningPath
from budgetprune.predictor._model_file import Sections, check_arrays, without_prefix
from budgetprune.pruning import Pruning

_UNPRUNED, _PATH = "unpruned.", "path."  # begin the names of arrays
_DTYPES = {_UNPRUNED + name: dtype for name, dtype in FOREST_ARRAYS.items()}
_DTYPES |= {_PATH + name: dtype for name, dtype in PATH_ARRAYS.items()}


def sections_of(path: PruningPath | None, about: About | None) -> Sections:
    """Put what there is into arrays and plain values."""
    header: dict[str, Any] = {} if about is None else {"about": about.to_json()}
    if path is None:
        return Sections(header, {})
    settings, arrays = take_apart(path.forest)
    whole = {"error": path.unpruned.error, "cost": path.unpruned.cost}
    header |= {"unpruned": settings, "path": {"complete": path.complete, "unpruned": whole}}
    stored = {_UNPRUNED + name: array for name, array in arrays.items()}
    stored |= {_PATH + name: getattr(path, name) for name in PATH_ARRAYS}
    return Sections(header, {name: array for name, array in stored.items() if array is not None})


def about_of(sections: Sections) -> About | None:
    """Read what is said about the model, or raise InvalidInputError."""
    return About.from_json(sections.header["about"]) if "about" in sections.header else None


def path_of(sections: Sections, source_names: tuple[str, ...]) -> PruningPath | None:
    """Read the path, if there is one, or raise InvalidInputError.

    Parameters
    ----------
    sections : of a file that nobody vouches for
    source_names : of the predictor, whose prices are those of the path
    """
    header, arrays = sections
    check_arrays(arrays, _DTYPES)
    if "path" not in header and "unpruned" not in header and not arrays:
        return None
    stored = header.get("path")
    if not isinstance(stored, dict) or stored.keys() != {"complete", "unpruned"} or "unpruned" not in header:
        raise InvalidInputError("its path must have 'complete' and 'unpruned', and a forest of its own.")
    whole = stored["unpruned"]
    if (
        not isinstance(stored["complete"], bool)
        or not isinstance(whole, dict)
        or whole.keys() != {"error", "cost"}
        or not all(isinstance(number, int | float) and math.isfinite(number) for number in whole.values())
    ):
        raise InvalidInputError("its path says nothing that makes sense about the unpruned forest.")
    forest = put_together(header["unpruned"], without_prefix(arrays, _UNPRUNED))
    own: dict[str, Any] = {name: arrays.get(_PATH + name) for name in PATH_ARRAYS}
    absent = [name for name in PATH_ARRAYS if own[name] is None and name not in ("bound", "gap")]
    if absent:
        raise InvalidInputError(f"its path lacks {', '.join(absent)}.")
    if any(array is not None and array.ndim != 1 for array in own.values()):
        raise InvalidInputError("the arrays of its path must have one dimension.")
    for name in ("lam", "error", "cost"):
        if not np.all(np.isfinite(own[name])):
            raise InvalidInputError(f"{name} of its path must be finite.")
    path = PruningPath(
        forest=forest,
        unpruned=Pruning(forest, forest.is_split, math.nan, **whole),
        complete=stored["complete"],
        source_names=source_names,
        **own,
    )
    critical = np.sort(path.critical_lambda)
    if not np.array_equal(path.n_splits, critical.size - np.searchsorted(critical, path.lam, side="right")):
        raise InvalidInputError("its path counts other splits than those that stay.")
    return path
