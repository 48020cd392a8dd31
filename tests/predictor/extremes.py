"""Extreme numbers in files: where ranges end, and beyond; and models that predict numbers."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import strategies as st

from budgetprune import FeatureCosts

from ..persistence.model_files import save_model
from .forests import random_forest

if TYPE_CHECKING:
    from ..persistence.parts import Parts

# Numbers at the edges of the ranges that answers, divisors, weights and prices have, and beyond.
EXTREMES = [
    5e-324,
    1e-300,
    9e-51,
    1e-50,
    9e-4,
    1e-3,
    1e12,
    2e12,
    1e50,
    2e50,
    1e100,
    2e100,
    1e303,
    1e304,
    1.7e308,
]


def models_of_numbers() -> list[bytes]:
    """Files of models whose answers are sums themselves, so that no extreme number goes unnoticed."""
    found = []
    with TemporaryDirectory() as folder:
        file = Path(folder) / "model"
        for kind in ("regression", "regression, exp"):
            forest = random_forest(np.random.default_rng(0), kind, 4, 3, has_categories=True)
            save_model(file, forest, FeatureCosts([1, 2, 0, 3]).resolve(4), {})
            found.append(file.read_bytes())
    return found


def edit_ranges(draw: st.DrawFn, parts: Parts) -> None:
    """Make numbers extreme: the divisor, one number of an array, or all of them; often several at once."""
    for _ in range(draw(st.integers(1, 3))):
        number = draw(st.sampled_from(EXTREMES)) * draw(st.sampled_from([1, 1, -1]))
        settings = [part for part in parts.header.values() if isinstance(part, dict) and "divisor" in part]
        if settings and draw(st.booleans()):
            draw(st.sampled_from(settings))["divisor"] = abs(number)
        else:
            edit_floats(draw, parts, number)


def edit_floats(draw: st.DrawFn, parts: Parts, number: float) -> None:
    """Put a number into an array, once or everywhere, or multiply the array by it."""
    floats = [array.reshape(-1) for array in parts.arrays if array.dtype.kind == "f" and array.size]
    if not floats:
        return
    array = draw(st.sampled_from(floats))
    with np.errstate(all="ignore"):
        match draw(st.sampled_from(["one", "factor", "all"])):
            case "one":
                array[draw(st.integers(0, array.size - 1))] = number
            case "factor":
                array *= number
            case "all":
                array[:] = number
