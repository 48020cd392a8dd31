"""Checks of single options; messages name them for Python and for the command line."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np

from budgetprune.errors import InvalidInputError
from budgetprune.utils import numbers
from budgetprune.workflow.tables import argument, setting

_LARGEST_SEED = 2**32 - 1


def is_number(value: Any) -> bool:
    """Whether a value is one real number; booleans are not."""
    return isinstance(value, Real | Decimal) and not isinstance(value, bool)


def is_integer(value: Any) -> bool:
    """Whether a value is one integer; booleans are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def target_name(target: Any) -> None:
    """Raise unless the target is None or the name of a column."""
    if target is None or isinstance(target, str):
        return
    given = f"{target!r}; names are strings" if is_number(target) else type(target).__name__
    raise InvalidInputError(
        f"{argument('target')} must be the name of a column of the table, not {given}. Give a table that has "
        "the target as a column, and the name of this column."
    )


def optional_name(name: str, value: Any) -> None:
    """Raise unless a value is None or a string."""
    if value is not None and not isinstance(value, str):
        raise InvalidInputError(f"{argument(name)} must be a name, which is a string, not {value!r}.")


def column_names(name: str, value: Any) -> tuple[str, ...]:
    """Return names of columns as a tuple."""
    if isinstance(value, str):
        raise InvalidInputError(
            f"{argument(name)} must be a list of column names, not {value!r}; for one column, write "
            f"{setting(name, [value])}."
        )
    is_list = isinstance(value, Collection) and not isinstance(value, Mapping)
    if not is_list or not all(isinstance(each, str) for each in value):
        raise InvalidInputError(
            f"{argument(name)} must be a list of column names, which are strings, not {value!r}."
        )
    return tuple(value)


def integer(name: str, value: Any, *, least: int) -> None:
    """Raise unless a value is an integer of at least `least`."""
    if not is_integer(value) or value < least:
        raise InvalidInputError(f"{argument(name)} must be an integer of at least {least}, not {value!r}.")


def choice(name: str, value: Any, options: tuple[Any, ...]) -> None:
    """Raise unless a value is one of the options."""
    numbers.one_of(name, value, options)


def at_least_zero(name: str, value: Any) -> None:
    """Raise unless a value is a finite number of at least 0."""
    numbers.at_least_zero(value, argument(name))


def slack(value: Any) -> None:
    """Raise unless a value is a valid slack."""
    if not is_number(value) or not 0 <= value < 0.5:
        raise InvalidInputError(f"{argument('slack')} must be at least 0 and below 0.5, not {value!r}.")


def share(name: str, value: Any, *, may_be_one: bool = False) -> None:
    """Raise unless a value is a number above 0 and below 1, or 1 if that is allowed."""
    if not is_number(value) or not (0 < value < 1 or (may_be_one and value == 1)):
        most = "at most 1" if may_be_one else "below 1"
        raise InvalidInputError(f"{argument(name)} must be a share above 0 and {most}, not {value!r}.")


def probability(name: str, value: Any) -> None:
    """Raise unless a value is a number above 0 and below 1."""
    if not is_number(value) or not 0 < value < 1:
        raise InvalidInputError(f"{argument(name)} must be above 0 and below 1, not {value!r}.")


def string(name: str, value: Any) -> None:
    """Raise unless a value is a str."""
    if not isinstance(value, str):
        raise InvalidInputError(f"{argument(name)} must be a str, not {value!r}.")


def class_weight(value: Any) -> None:
    """Raise unless a value is None, "balanced", or weights by class."""
    if value is None or (isinstance(value, str) and value == "balanced"):
        return
    if not isinstance(value, Mapping) or not value:
        raise InvalidInputError(
            f"{argument('class_weight')} must be 'balanced', or weights by class ({{'ill': 5}}, say), not "
            f"{value!r}."
        )
    for label, weight in value.items():
        if not is_number(weight) or not 0 <= weight < np.inf:
            raise InvalidInputError(
                f"{argument('class_weight')} of {label!r} must be a finite number of at least 0, not "
                f"{weight!r}."
            )


def seed(value: Any) -> None:
    """Raise unless a value can be a random seed."""
    is_seed = is_integer(value) and 0 <= value <= _LARGEST_SEED
    if not (is_seed or value is None or isinstance(value, np.random.RandomState)):
        raise InvalidInputError(
            f"{argument('random_state')} must be an integer from 0 to {_LARGEST_SEED}, not {value!r}."
        )


def cores(value: Any) -> None:
    """Raise unless a value can be a number of cores; -1 means all, as in scikit-learn."""
    if value is not None and (not is_integer(value) or value == 0):
        raise InvalidInputError(
            f"{argument('n_jobs')} must be None, or an integer of at least 1 (or -1 for all cores), not "
            f"{value!r}."
        )


def yes_or_no(name: str, value: Any) -> None:
    """Raise unless a value is a bool."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidInputError(f"{argument(name)} must be True or False, not {value!r}.")
