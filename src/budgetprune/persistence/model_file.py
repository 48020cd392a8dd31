"""Models on disk: a forest, what its features cost and the options of a predictor, in one file, no pickle.

A file may come from anywhere. Loading it gives nothing but numbers and names, all of them checked: whoever
made the file decides what is predicted, and nothing else.
"""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable, check_cost_table
from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.forest.schema import ARRAYS
from budgetprune.persistence.container import File, blamed_on, read_container, write_container
from budgetprune.persistence.forest import put_together, take_apart, written
from budgetprune.utils.arrays import frozen
from budgetprune.utils.stored_arrays import Entry

# A change of what is in the file needs a new number, and a golden file of the old one in the tests.
VERSION = 3  # 2: further sections, which a predictor has no use for; 3: staged models

Option = float | str | None

_FOREST, _COSTS = "forest.", "costs."  # begin the names of arrays
_COST_ARRAYS: dict[str, Any] = {"price": np.float64, "needs_start": np.int64, "needs": np.int32}
_DTYPES = {_FOREST + name: dtype for name, dtype in ARRAYS.items()}
_DTYPES |= {_COSTS + name: dtype for name, dtype in _COST_ARRAYS.items()}
_HEADER = {"forest", "sources", "options"}
# What begins the names of a further section's arrays, and what the header may have on top.
_FURTHER, _FURTHER_HEADER = ("unpruned.", "path."), {"unpruned", "path", "about"}
# The section that says how the trees of a staged model are used; `budgetprune.staged` reads it.
STAGED = "staged"


class Sections(NamedTuple):
    """What a file holds beside a predictor, for others to make sense of (`budgetprune.model`)."""

    header: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


Parts = tuple[Forest, CostTable, dict[str, Any]]


def save_model(
    file: File,
    forest: Forest,
    costs: CostTable,
    options: Mapping[str, Option],
    further: Sections | None = None,
    staged: Sections | None = None,
) -> None:
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
    further : Sections, optional
        Without them, the file has format version 1, which every release reads.
    staged : Sections, optional
        How the trees of a staged model are used; with it, the file has format version 3.
    """
    check_cost_table(costs, forest.n_features)
    _check_options(dict(options))
    settings, arrays = take_apart(forest)
    header = {"forest": written(settings), "sources": list(costs.source_names), "options": dict(options)}
    stored = {_FOREST + name: array for name, array in arrays.items() if array is not None}
    stored |= {_COSTS + name: getattr(costs, name) for name in _COST_ARRAYS}
    version = 1
    if further is not None:
        version, header, stored = 2, header | further.header, stored | further.arrays
    if staged is not None:
        version, header = 3, header | {STAGED: staged.header}
        stored |= {f"{STAGED}.{name}": array for name, array in staged.arrays.items()}
    write_container(file, version, header, stored)


def load_model(file: File) -> Parts:
    """Read what `save_model` wrote, or raise InvalidInputError that says what is wrong with the file.

    Files of all earlier formats are understood. The forest has no origin.

    Parameters
    ----------
    file : path of the file

    Returns
    -------
    forest, costs, options
    """
    return _load(file, skip=_FURTHER)[0]


def load_model_and_stages(file: File) -> tuple[Parts, Sections]:
    """Read the section of a staged model as well, which is empty for others: see `load_model`."""
    return _load(file, skip=_FURTHER)[:2]


def load_model_and_sections(file: File) -> tuple[Parts, Sections, Sections]:
    """Read the section of a staged model and the further sections, which are not checked."""
    return _load(file, skip=())


def _load(file: File, skip: tuple[str, ...]) -> tuple[Parts, Sections, Sections]:
    version, header, arrays = read_container(file, newest=VERSION, skip=skip)
    with blamed_on(file):
        sections = Sections({}, {})
        if version > 1:
            further = [name for name in arrays if name.startswith(_FURTHER)]
            sections.arrays.update({name: arrays.pop(name) for name in further})
            sections.header.update({key: header.pop(key) for key in _FURTHER_HEADER & header.keys()})
        staged = _staged_section(header, arrays) if version > 2 else Sections({}, {})
        if header.keys() != _HEADER:
            raise InvalidInputError(f"its header must have the keys {', '.join(sorted(_HEADER))}.")
        check_arrays(arrays, _DTYPES)
        forest = put_together(header["forest"], without_prefix(arrays, _FOREST))
        costs = _read_costs(header["sources"], arrays)
        check_cost_table(costs, forest.n_features)
        return (forest, costs, _check_options(header["options"])), staged, sections


def _staged_section(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Sections:
    """Take the section of a staged model out of what a file holds."""
    if not isinstance(header.get(STAGED), dict) or not header[STAGED]:
        raise InvalidInputError("its header says nothing about stages.")
    own = [name for name in arrays if name.startswith(f"{STAGED}.")]
    return Sections(header.pop(STAGED), {name.removeprefix(f"{STAGED}."): arrays.pop(name) for name in own})


def check_arrays(arrays: Mapping[str, NDArray[Any] | Entry], dtypes: Mapping[str, Any]) -> None:
    """Raise unless all arrays are known, and of the type that they must be of (None: any)."""
    for name, array in arrays.items():
        if name not in dtypes:
            raise InvalidInputError(f"it has an unknown array, {reprlib.repr(name)}.")
        if dtypes[name] is not None and array.dtype != dtypes[name]:
            raise InvalidInputError(f"{name} must be an array of {np.dtype(dtypes[name])}.")


def without_prefix(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    """Arrays of one section, by the rest of their names."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


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
