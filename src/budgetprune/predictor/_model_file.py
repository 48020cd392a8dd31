"""Models on disk: a forest, what its features cost and the options of a predictor, in one file, no pickle.

A file may come from anywhere. Loading it gives nothing but numbers and names, all of them checked: whoever
made the file decides what is predicted, and nothing else.
"""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from budgetprune._arrays import frozen
from budgetprune._forest_parts import put_together, take_apart
from budgetprune.costs import CostTable, check_cost_table
from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.forest._checks import ARRAYS
from budgetprune.predictor._model_container import File, blamed_on, read_container, write_container

# A change of what is in the file needs a new number, and a golden file of the old one in the tests.
VERSION = 1

Option = float | str | None

_FOREST, _COSTS = "forest.", "costs."  # begin the names of arrays
_COST_ARRAYS: dict[str, Any] = {"price": np.float64, "needs_start": np.int64, "needs": np.int32}
_DTYPES = {_FOREST + name: dtype for name, dtype in ARRAYS.items()}
_DTYPES |= {_COSTS + name: dtype for name, dtype in _COST_ARRAYS.items()}
_HEADER = {"forest", "sources", "options"}


def save_model(file: File, forest: Forest, costs: CostTable, options: Mapping[str, Option]) -> None:
    """Write a model to a file, all at once or not at all.

    Parameters
    ----------
    file : path of the file
    forest : Forest
        The model that it came from is not saved.
    costs : CostTable
        For the features of this forest.
    options : mapping
        Name to a finite number, a text or None.
    """
    check_cost_table(costs, forest.n_features)
    _check_options(dict(options))
    settings, arrays = take_apart(forest)
    header = {"forest": settings, "sources": list(costs.source_names), "options": dict(options)}
    stored = {_FOREST + name: array for name, array in arrays.items() if array is not None}
    stored |= {_COSTS + name: getattr(costs, name) for name in _COST_ARRAYS}
    write_container(file, VERSION, header, stored)


def load_model(file: File) -> tuple[Forest, CostTable, dict[str, Any]]:
    """Read what `save_model` wrote, or raise InvalidInputError that says what is wrong with the file.

    Files of all earlier formats are understood. The forest has no origin.

    Parameters
    ----------
    file : path of the file

    Returns
    -------
    forest, costs, options
    """
    _, header, arrays = read_container(file, newest=VERSION)
    with blamed_on(file):
        if header.keys() != _HEADER:
            raise InvalidInputError(f"its header must have the keys {', '.join(sorted(_HEADER))}.")
        for name, array in arrays.items():
            if name not in _DTYPES:
                raise InvalidInputError(f"it has an unknown array, {reprlib.repr(name)}.")
            expected = _DTYPES[name]
            if expected is not None and array.dtype != expected:
                raise InvalidInputError(f"{name} must be an array of {np.dtype(expected)}.")
        own = {
            name.removeprefix(_FOREST): array for name, array in arrays.items() if name.startswith(_FOREST)
        }
        forest = put_together(header["forest"], own)
        costs = _read_costs(header["sources"], arrays)
        check_cost_table(costs, forest.n_features)
        return forest, costs, _check_options(header["options"])


def _read_costs(sources: Any, arrays: dict[str, Any]) -> CostTable:
    if not isinstance(sources, list):
        raise InvalidInputError("sources must be a list of names.")
    absent = [name for name in _COST_ARRAYS if _COSTS + name not in arrays]
    if absent:
        raise InvalidInputError(f"the costs lack {', '.join(absent)}.")
    return CostTable(
        source_names=tuple(sources), **{name: frozen(arrays[_COSTS + name]) for name in _COST_ARRAYS}
    )


def _check_options(options: Any) -> dict[str, Any]:
    if not isinstance(options, dict) or not all(
        isinstance(name, str) and isinstance(value, bool | int | float | str | None)
        for name, value in options.items()
    ):
        raise InvalidInputError("options must map names to numbers, texts or None.")
    return options
