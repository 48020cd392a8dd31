"""Numbers and names of categories, of which CatBoost keeps 32-bit hashes only."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from budgetprune.errors import BudgetWarning
from budgetprune.forest.adapters.catboost.city_hash import city_hash

# Whole numbers below this limit are recognised by their hashes; as categories, they are their own numbers.
_SMALL = 4096

Names = tuple[Any, ...] | None


def category_hash(category: Any) -> int | None:
    """Hash of a category, None if CatBoost does not take such ones."""
    if isinstance(category, float) and category.is_integer():
        category = int(category)  # tables store whole numbers so, if some are missing
    if not isinstance(category, str | int):
        return None
    low = city_hash(str(category).encode()) & 0xFFFFFFFF
    return low - 2**32 if low >= 2**31 else low


@cache
def _small_numbers() -> dict[int, int]:
    """The small whole number of each hash."""
    return {hashed: number for number in range(_SMALL) if (hashed := category_hash(number)) is not None}


def hashes_to_numbers(hashes: Iterable[int | None]) -> list[int]:
    """Small whole numbers among categories, by their hashes."""
    known = _small_numbers()
    return [known[hashed] for hashed in hashes if hashed in known]


def category_numbers(hashes: Sequence[int]) -> dict[int, int]:
    """Number in a Forest of each category of a feature: the category, if all are small whole numbers."""
    small = hashes_to_numbers(hashes)
    return dict(zip(hashes, small if len(small) == len(hashes) else range(len(hashes)), strict=True))


def category_names(hashes: Sequence[int]) -> Names:
    """Names of a feature's categories by number, None if they are not known."""
    small = hashes_to_numbers(hashes)
    return tuple(range(1 + max(small, default=-1))) if len(small) == len(hashes) else None


def names_in_table(feature: str, hashes: Sequence[int], levels: Sequence[Any]) -> tuple[Any, ...]:
    """Return the names of a feature's categories by number, as they are written in a table.

    Categories of the table that the model does not test have names too: they are known, and go right.

    Parameters
    ----------
    feature : name of the feature, for a warning
    hashes : hashes of the categories that the model tests
    levels : distinct values in the table
    """
    if category_names(hashes) is not None:
        largest = max(
            [*hashes_to_numbers(hashes), *hashes_to_numbers(map(category_hash, levels))], default=-1
        )
        every = range(1 + largest)
        return tuple(map(str, every)) if any(isinstance(level, str) for level in levels) else tuple(every)
    written = {category_hash(level): level for level in levels}
    n_unseen = sum(hashed not in written for hashed in hashes)
    if n_unseen:
        warnings.warn(
            f"{n_unseen} of the {len(hashes)} categories of {feature!r} that the CatBoost model tests do not "
            "occur in these rows, and CatBoost keeps hashes instead of names: such categories will count as "
            "unknown. Name them with Forest.with_categories_of and rows that have all categories.",
            BudgetWarning,
            stacklevel=2,
        )
    # Hashes are numbered in their order; behind them, categories of the rows that no split tests.
    tested = [written.pop(hashed, f"category with hash {hashed}") for hashed in hashes]
    return (*tested, *(level for hashed, level in written.items() if hashed is not None))
