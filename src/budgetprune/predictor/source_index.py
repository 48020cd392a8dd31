"""`SourceIndex`: sources, their prices, and the features that need them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable, join_first
from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.predictor.tables import sources_of
from budgetprune.predictor.values import Values


class SourceIndex:
    """Sources by number and by name, and the features that need them.

    Sources are numbered as in the price list. Features that need no source follow, as free sources.

    Parameters
    ----------
    forest : Forest
        Defines the feature names, and which features are tested.
    costs : CostTable
    values : Values, optional
        Reader of values, if they are not those of the forest's features.
    is_used : mask, optional
        Which of these values are needed.
    """

    def __init__(
        self,
        forest: Forest,
        costs: CostTable,
        *,
        values: Values | None = None,
        is_used: NDArray[np.bool_] | None = None,
    ) -> None:
        self.forest, self.costs = forest, costs
        self.sources = sources_of(costs)
        self.price = self.sources.price
        self.values = Values(forest) if values is None else values
        self.source_names = self._source_names()
        self._number = {name: s for s, name in enumerate(self.source_names)}
        if is_used is None:
            is_used = np.isin(np.arange(forest.n_features), forest.feature)
        self.is_used = is_used
        self.has_shared_sources = bool(np.any(np.diff(self.sources.gives_start) > 1))
        # If all values are given, free sources are acquired from the start.
        self.is_free = self.price == 0
        self.is_known_for_free = self.known_from(self.is_free)
        self.all_available = np.ones_like(self.is_free)

    def _source_names(self) -> tuple[str, ...]:
        # A free feature is requested by its name; an unused source of the same name is renamed.
        used = set(self.costs.needs.tolist())
        first_free = self.sources.gives_start[self.costs.n_sources]
        free = dict.fromkeys(self.values.names[k] for k in self.sources.gives[first_free:])
        taken = {*self.costs.source_names, *free}
        names: dict[str, None] = {}
        for s, name in enumerate(self.costs.source_names):
            is_renamed = s not in used and name in free
            names[_unique_name(taken, name, " (unused)") if is_renamed else name] = None
        for name in free:
            names[_unique_name(taken, name, " (feature)") if name in names else name] = None
        return tuple(names)

    def source(self, name: Any) -> int:
        """Return the index of a source, given its name."""
        try:
            return self._number[name]
        except (KeyError, TypeError):
            raise InvalidInputError(
                f"there is no source {name!r}; the sources are {join_first(map(repr, self.source_names))}."
            ) from None

    def needs(self, k: int) -> NDArray[np.int32]:
        """Return the sources that a feature needs."""
        return self.sources.needs[self.sources.needs_start[k] : self.sources.needs_start[k + 1]]

    def gives(self, s: int) -> NDArray[np.int32]:
        """Return the features that need a source."""
        return self.sources.gives[self.sources.gives_start[s] : self.sources.gives_start[s + 1]]

    def known_from(self, has: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return a mask of the features whose sources are all acquired."""
        lacks = np.logical_or.reduceat(~has[self.sources.needs], self.sources.needs_start[:-1])
        return np.logical_not(lacks)


def _unique_name(taken: set[str], name: str, suffix: str) -> str:
    """Append a suffix to a name until it is unique."""
    while name in taken:
        name += suffix
    taken.add(name)
    return name
