"""Costs of errors, as a matrix by true and predicted class."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from budgetprune.errors import InvalidInputError

# Largest cost of an error, so that expected costs are finite.
LARGEST_PRICE = 1e100


def read_error_costs(error_costs: Any, classes: NDArray[Any]) -> NDArray[np.float64]:
    """Convert error costs of any accepted form to a matrix by true and predicted class.

    Parameters
    ----------
    error_costs : None, number, matrix or mapping
        None: 1 for each error. A number: the cost of each error. A matrix: rows are true classes, columns
        predicted ones, in the order of `classes`. A mapping from each true class to the cost of an error on
        it, or from pairs ``(true, predicted)`` to costs; omitted pairs cost nothing.
    classes : array
    """
    n = len(classes)
    if error_costs is None:
        return 1.0 - np.eye(n)
    if isinstance(error_costs, Mapping):
        return _from_mapping(error_costs, classes)
    try:
        cost = np.asarray(error_costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"error_costs must be a number, a matrix or a mapping by class, not {error_costs!r}."
        ) from None
    if isinstance(error_costs, bool):
        raise InvalidInputError("error_costs must be a number, a matrix or a mapping by class, not a bool.")
    if cost.ndim == 0:
        cost = np.where(np.eye(n) > 0, 0.0, cost)
    return check_error_costs(cost, n)


def _from_mapping(given: Mapping[Any, Any], classes: NDArray[Any]) -> NDArray[np.float64]:
    n = len(classes)
    number = {label: i for i, label in enumerate(classes.tolist())}
    cost = np.zeros((n, n))
    for key, price in given.items():
        if not isinstance(price, Real):
            raise InvalidInputError(f"error_costs has {price!r} for {key!r}; prices are numbers.")
        pair = key if isinstance(key, tuple) else (key,)
        unknown = [label for label in pair if label not in number]
        if unknown or len(pair) > 2:
            raise InvalidInputError(
                f"error_costs has a price for {key!r}, but the classes are {list(number)}; use a class, or a "
                "pair (true class, predicted class)."
            )
        if len(pair) == 2:
            cost[number[pair[0]], number[pair[1]]] = price
        else:
            cost[number[pair[0]]] = price
            cost[number[pair[0]], number[pair[0]]] = 0.0
    true = {key[0] if isinstance(key, tuple) and key else key for key in given}
    left_out = [label for label in number if label not in true]
    if left_out and not all(isinstance(key, tuple) for key in given):
        raise InvalidInputError(
            f"error_costs has no price for class {left_out[0]!r}; give one for each of {list(number)}."
        )
    return check_error_costs(cost, n)


def check_error_costs(cost: ArrayLike, n: int) -> NDArray[np.float64]:
    """Return the costs of errors between `n` classes, or raise InvalidInputError."""
    cost = np.asarray(cost, dtype=np.float64)
    if cost.shape != (n, n):
        raise InvalidInputError(
            f"error_costs has shape {cost.shape}; a matrix must have a row and a column for each of the {n} "
            "classes."
        )
    if not np.all((cost >= 0) & (cost <= LARGEST_PRICE)):
        raise InvalidInputError(f"error_costs must be finite, not negative, and at most {LARGEST_PRICE:g}.")
    if np.any(np.diag(cost) != 0):
        raise InvalidInputError("error_costs must be 0 for right answers (on the diagonal).")
    if not np.any(cost > 0):
        raise InvalidInputError("error_costs are all 0; at least one kind of error must cost something.")
    return cost
