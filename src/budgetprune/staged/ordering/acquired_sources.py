"""`AcquiredSources`: acquired sources, available features, and possible next steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable


@dataclass(frozen=True)
class Step:
    """Sources that are acquired together, because a feature needs them all.

    Attributes
    ----------
    sources : indices of the sources
    price : total price
    """

    sources: tuple[int, ...]
    price: float


class AcquiredSources:
    """Mutable set of acquired sources; knows the available features and the possible next steps.

    Free sources are acquired from the start.

    Parameters
    ----------
    costs : CostTable
    is_offered : bool array of shape (n_sources,), optional
        Sources that may be acquired. None: all.
    """

    def __init__(self, costs: CostTable, is_offered: NDArray[np.bool_] | None = None) -> None:
        self._costs = costs
        self._is_offered = np.ones(costs.n_sources, dtype=np.bool_) if is_offered is None else is_offered
        self.has = (costs.price == 0) & self._is_offered

    def columns(self, more: tuple[int, ...] = ()) -> NDArray[np.intp]:
        """Available features, if the sources `more` are acquired too."""
        has = self.has.copy()
        has[list(more)] = True
        return np.flatnonzero(self._costs.available(has))

    def steps(self) -> list[Step]:
        """List the possible next steps: for each unavailable feature, the sources that it still needs."""
        costs, found = self._costs, {}
        is_open = self._costs.available(self.has | self._is_offered) & ~self._costs.available(self.has)
        for k in np.flatnonzero(is_open).tolist():
            needs = costs.needs[costs.needs_start[k] : costs.needs_start[k + 1]]
            sources = tuple(needs[~self.has[needs]].tolist())
            if sources not in found:
                found[sources] = Step(sources, float(costs.price[list(sources)].sum()))
        return list(found.values())

    def offered_columns(self) -> NDArray[np.intp]:
        """Features that are available or can become available."""
        return np.flatnonzero(self._costs.available(self._is_offered))

    def gains(self, steps: list[Step], gains: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each step, the total gain of the features that it makes available."""
        known = gains[self.columns()].sum()
        if any(len(step.sources) > 1 for step in steps):
            return np.array([gains[self.columns(step.sources)].sum() - known for step in steps])
        # Each unavailable feature needs exactly one more source.
        costs = self._costs
        lacks = ~self.has[costs.needs]
        feature = np.repeat(np.arange(costs.n_features), np.diff(costs.needs_start))
        per_source = np.zeros(costs.n_sources)
        np.add.at(per_source, costs.needs[lacks], gains[feature[lacks]])
        return per_source[[step.sources[0] for step in steps]]

    def acquire(self, step: Step) -> None:
        self.has[list(step.sources)] = True
