"""Backward elimination of sources: nested sets of columns."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from budgetprune.baselines.subset_models import LEAST_SHARE, BoostingParameters
from budgetprune.costs import CostTable
from budgetprune.selection import Index, LabelledRows

# Up to this number of sources, each removal is tried. With more, the gains of one model decide.
LAST = 10
# While gains decide, this share of the sources is removed before the next model is trained.
SHARE = 1 / 8
# Sizes of nested subsets; each further one is larger by a quarter.
SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 24, 28, 32, 40, 50, 64)
GROWTH = 1.25


class Needs:
    """Sources needed by columns, and columns left without a source."""

    def __init__(self, prices: CostTable) -> None:
        self._price = prices.price
        shape = prices.n_features, prices.n_sources
        entries = np.ones(prices.needs.size), prices.needs, prices.needs_start
        self._by_column = sparse.csr_array(entries, shape=shape)
        self._by_source = self._by_column.tocsc()

    def acquired(self, columns: Index) -> NDArray[np.bool_]:
        """Mask of the sources that some of the columns need."""
        return np.asarray(self._by_column[columns].sum(axis=0) > 0)

    def paid(self, columns: Index) -> Index:
        """Indices of the sources that some of the columns need and that are not free."""
        return np.flatnonzero(self.acquired(columns) & (self._price > 0))

    def without(self, columns: Index, source: int) -> Index:
        """Columns that do not need a source."""
        start, stop = self._by_source.indptr[source : source + 2]
        return np.setdiff1d(columns, self._by_source.indices[start:stop])

    def lost(self, columns: Index, value: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each source, the sum of the values of those columns that need it."""
        return np.asarray(self._by_column[columns].T @ value)

    def saved(self, columns: Index) -> NDArray[np.float64]:
        """For each source, the total price saved by its removal.

        A source becomes useless if all columns that need it also need the removed one.
        """
        some = self._by_column[columns]
        together = (some.T @ some).tocoo()
        row, col = together.row, together.col
        is_useless = together.data == some.sum(axis=0)[col]
        price = np.where(is_useless, self._price[col], 0.0)
        return np.asarray(np.bincount(row, weights=price, minlength=self._price.size), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class NestedSubsets:
    """Nested subsets of sources, each given by its columns; the smallest first.

    Two neighbours differ by one source, and by those that are of no use without it. If some columns need no
    source that costs anything, these are the first subset.
    """

    prices: CostTable
    columns: tuple[Index, ...]

    @property
    def order(self) -> tuple[str, ...]:
        """Names of the needed sources that are not free, the most valuable first."""
        needs, names = Needs(self.prices), self.prices.source_names
        paid = [needs.paid(each) for each in self.columns]
        new = [paid[0], *(np.setdiff1d(after, before) for before, after in pairwise(paid))]
        return tuple(names[source] for some in new for source in some)

    def thinned(self) -> NestedSubsets:
        """NestedSubsets with the subsets of `SIZES` and all sources only."""
        n_free = 1 - int(bool(Needs(self.prices).paid(self.columns[0]).size))
        numbers = [*range(n_free), *(size - 1 + n_free for size in _sizes(len(self.columns) - n_free))]
        return NestedSubsets(self.prices, tuple(self.columns[k] for k in numbers))


def _sizes(most: int) -> list[int]:
    sizes = list(SIZES)
    while sizes[-1] < most:
        sizes.append(int(np.ceil(GROWTH * sizes[-1])))
    return [*(size for size in sizes if size < most), *([most] if most else [])]


def eliminate(
    prices: CostTable, train: LabelledRows, val: LabelledRows, parameters: BoostingParameters
) -> NestedSubsets:
    """Remove sources one by one: each time the one with the least loss per price saved.

    While there are many, the loss is estimated by the gains of a model trained on `train`. Among the
    last ten, each removal is tried, and the log loss on `val` decides.
    """
    needs, trials = Needs(prices), _Trials(train, val, parameters.short(train))
    columns: Index = np.arange(prices.n_features)
    subsets = [columns]
    while (sources := needs.paid(columns)).size:
        if sources.size > LAST:
            score, n_removed = _by_gains(needs, trials, columns, sources), int(SHARE * sources.size)
        else:
            score, n_removed = _by_trials(needs, trials, columns, sources), 1
        # Ties: the most expensive is removed first.
        order = sources[np.lexsort((-needs.saved(columns)[sources], score))]
        for source in order[:n_removed]:
            for smaller in _removals(needs, columns, int(source), order):
                columns = smaller
                subsets.append(columns)
    return NestedSubsets(prices, tuple(each for each in reversed(subsets) if each.size))


def _removals(needs: Needs, columns: Index, source: int, order: Index) -> list[Index]:
    """Columns left after each removal: first without each source that has become useless."""
    useless = np.setdiff1d(needs.paid(columns), needs.paid(needs.without(columns, source)))
    found = []
    for each in [*order[np.isin(order, useless) & (order != source)], source]:
        smaller = needs.without(columns, int(each))
        if smaller.size < columns.size:
            columns = smaller
            found.append(columns)
    return found


def _by_gains(needs: Needs, trials: _Trials, columns: Index, sources: Index) -> NDArray[np.float64]:
    lost = needs.lost(columns, trials.gains(columns))
    return np.asarray(lost[sources] / needs.saved(columns)[sources])


def _by_trials(needs: Needs, trials: _Trials, columns: Index, sources: Index) -> NDArray[np.float64]:
    left = [needs.without(columns, source) for source in sources]
    if len({each.tobytes() for each in left}) == 1:
        return np.zeros(sources.size)  # only one removal is possible
    harm = np.array([trials.log_loss(each) for each in left]) - trials.log_loss(columns)
    saved = needs.saved(columns)[sources]
    # Among harmless removals, the one that saves most is best.
    return np.asarray(np.where(harm > 0, harm / saved, harm * saved))


class _Trials:
    """Short models on sets of columns; the loss of each set is computed once."""

    def __init__(self, train: LabelledRows, val: LabelledRows, parameters: BoostingParameters) -> None:
        self._train, self._val, self._boosting = train, val, parameters
        self._known: dict[bytes, float] = {}

    def gains(self, columns: Index) -> NDArray[np.float64]:
        """Total gain of the splits on each column, in one model."""
        model = self._boosting.train(self._train, columns)
        return np.asarray(model.booster.feature_importance("gain"), dtype=np.float64)

    def log_loss(self, columns: Index) -> float:
        """Average log loss on validation rows; without columns, that of the class frequencies."""
        key = columns.tobytes()
        if key not in self._known:
            y, weight = self._val.y, self._val.weight
            if columns.size:
                share = self._boosting.train(self._train, columns).probabilities(self._val.X)
            else:
                count = np.bincount(self._train.y, weights=self._train.weight)
                share = np.tile(count / count.sum(), (len(y), 1))
            right = np.maximum(share[np.arange(len(y)), y], LEAST_SHARE)
            self._known[key] = -float(np.average(np.log(right), weights=weight))
        return self._known[key]
