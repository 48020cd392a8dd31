"""Kernel that reads the values of one example from a dictionary."""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import isfinite, isnan
else:
    from math import isfinite, isnan

    from budgetprune.predictor.state_kernels import round_to_single
    from budgetprune.utils.kernel_types import OutDoubles, Size

# Types of numbers beside Python's own ones. `np.integer` would include time differences.
_NUMBERS = (np.float32, np.float16, np.unsignedinteger, np.int8, np.int16, np.int32, np.int64, np.bool_)


def read_numbers(
    values: dict[str, Any],
    names: tuple[str, ...],
    row: OutDoubles,
    is_single: cython.bint,
    allow_nan: cython.bint,
) -> bool:
    """Read the value of each name, if all are numbers that need no further validation.

    Parameters
    ----------
    values : the values by name, maybe with others
    names : names of the features
    row : filled in
    is_single : whether values are rounded to single precision
    allow_nan : whether NaN and None are valid, as missing values

    Returns
    -------
    are_valid : False if a value is lacking, infinite or of another type; `row` is undefined then
    """
    k: Size
    for k in range(row.shape[0]):
        value = values.get(names[k], values)
        x: cython.double
        if isinstance(value, float | int):
            try:
                x = value
            except OverflowError:
                return False
        elif value is None:
            x = np.nan
        elif isinstance(value, _NUMBERS):
            x = float(value)
        else:
            return False
        if is_single:
            x = round_to_single(x)
        if not isfinite(x) and not (allow_nan and isnan(x)):
            return False
        row[k] = x
    return True
