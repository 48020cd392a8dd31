"""Creation of a path from the content of a file; its numbers must agree with each other and the forest."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.path.path import PruningPath, breakpoints
from budgetprune.problem import Pruning

# Sums of the same numbers in another order may differ by this fraction, far more than rounding causes.
_TOLERANCE = 1e-6


def restore_path(
    forest: Forest, complete: Any, unpruned: Any, source_names: Any, arrays: dict[str, Any]
) -> PruningPath:
    """Create a path from the content of a file, or raise InvalidInputError.

    Parameters
    ----------
    forest : Forest
        The unpruned forest, which is valid.
    complete, unpruned, source_names : JSON values
        `unpruned` maps ``error`` and ``cost`` to numbers.
    arrays : dict
        The arrays of `PruningPath`; None for those that are absent.
    """
    if not isinstance(complete, bool):
        raise InvalidInputError("'complete' of its path must be true or false.")
    if not isinstance(unpruned, dict) or unpruned.keys() != {"error", "cost"}:
        raise InvalidInputError("its path must have 'error' and 'cost' of the unpruned forest.")
    if not all(_is_finite_number(number) for number in unpruned.values()):
        raise InvalidInputError("error and cost of the unpruned forest must be finite numbers.")
    absent = [name for name, array in arrays.items() if array is None and name not in ("bound", "gap")]
    if absent:
        raise InvalidInputError(f"its path lacks {', '.join(absent)}.")
    if any(array is not None and array.ndim != 1 for array in arrays.values()):
        raise InvalidInputError("the arrays of its path must have one dimension.")
    whole = Pruning(forest, forest.is_split, math.nan, float(unpruned["error"]), float(unpruned["cost"]))
    path = PruningPath(
        forest=forest, unpruned=whole, complete=complete, source_names=_names(source_names), **arrays
    )
    _check_finite(path)
    _check_splits(path)
    _check_costs(path)
    _check_errors(path)
    return path


def _names(stored: Any) -> tuple[str, ...]:
    if not isinstance(stored, list | tuple) or not all(isinstance(name, str) for name in stored):
        raise InvalidInputError("the names of its sources must be a list of strings.")
    if len(set(stored)) < len(stored):
        raise InvalidInputError("the names of its sources must differ from each other.")
    return tuple(stored)


def _check_finite(path: PruningPath) -> None:
    for name in ("lam", "error", "cost", "objective", "bound"):
        array = getattr(path, name)
        if array is not None and not np.all(np.isfinite(array)):
            raise InvalidInputError(f"{name} of its path must be finite.")
    if path.lam[0] < 0:
        raise InvalidInputError("lam of its path must not be negative.")
    if path.cost[-1] < 0 or path.unpruned.cost < 0:
        raise InvalidInputError("a cost of its path is negative.")


def _check_costs(path: PruningPath) -> None:
    if path.cost[0] > path.unpruned.cost * (1 + _TOLERANCE):
        raise InvalidInputError("a point of its path costs more than the unpruned forest.")
    if np.any(path.cost[path.n_splits == 0] > 0):
        raise InvalidInputError("a point of its path has a cost, but no splits.")


def _check_splits(path: PruningPath) -> None:
    critical = np.sort(path.critical_lambda)
    if not np.array_equal(path.n_splits, critical.size - np.searchsorted(critical, path.lam, side="right")):
        raise InvalidInputError("n_splits of its path must be the number of larger critical_lambda.")
    if path.complete and not np.array_equal(path.lam, breakpoints(critical)):
        raise InvalidInputError("its path is said to be complete, but lam and critical_lambda differ.")


def _check_errors(path: PruningPath) -> None:
    scale = max(float(np.abs(path.error).max()), abs(path.unpruned.error))
    # The errors of optimal points increase, and a complete path has only optimal points.
    if path.complete and np.any(path.error[1:] < path.error[:-1] - _TOLERANCE * scale):
        raise InvalidInputError("its path is said to be complete, but its error falls as lam grows.")
    with np.errstate(over="ignore"):
        least = path.error + path.lam * path.cost * (1 - _TOLERANCE) - _TOLERANCE * scale
    if np.any(path.objective < least):
        raise InvalidInputError("objective of its path is less than error plus lam times cost.")
    if (path.bound is None) != (path.gap is None):
        raise InvalidInputError("its path has only one of bound and gap.")
    if path.bound is not None and path.gap is not None:
        _check_gap(path.objective, path.bound, path.gap)


def _check_gap(objective: NDArray[np.float64], bound: NDArray[np.float64], gap: NDArray[np.float64]) -> None:
    # The scale of the gap is not stored, so only its sign can be checked.
    with np.errstate(over="ignore"):
        excess = objective - bound
    if np.any(np.isnan(gap)) or np.any(np.sign(gap) * np.sign(excess) < 0):
        raise InvalidInputError("gap of its path must be positive where objective is larger than bound.")


def _is_finite_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
