"""Feature names: those of the user, and the form in which a library stores them."""

from __future__ import annotations

from collections.abc import Sequence

from budgetprune.forest.registry import ADAPTERS


def are_stored_names(stored: tuple[str, ...], names: tuple[str, ...]) -> bool:
    """Whether `stored` are the feature names `names`, as given or as some library stores them."""
    return stored == names or any(
        stored == tuple(adapter.stored_name(name) for name in names) for adapter in ADAPTERS
    )


def original_names(stored: tuple[str, ...], columns: Sequence[str]) -> tuple[str, ...]:
    """Replace stored names by the columns that they stand for; names that match no column are unchanged."""
    of_stored = {adapter.stored_name(column): column for adapter in ADAPTERS for column in columns}
    return tuple(name if name in columns else of_stored.get(name, name) for name in stored)
