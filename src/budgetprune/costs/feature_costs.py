"""Feature costs: sources with prices, and the sources that each feature needs."""

import reprlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from budgetprune.costs.cost_table import CostTable
from budgetprune.costs.price_lists import (
    PerFeature,
    PriceList,
    as_mapping,
    is_pandas,
    join_first,
    map_entries,
    per_feature,
    read_costs,
    read_group_costs,
    read_price_list,
    read_shared,
    read_table,
    refuse,
    refuse_duplicates,
    refuse_unpriced,
)
from budgetprune.errors import InvalidInputError
from budgetprune.utils.arrays import frozen
from budgetprune.utils.feature_names import default_names


@dataclass(frozen=True, init=False, repr=False)
class FeatureCosts:
    """Costs that are paid before a feature can be used.

    Prices belong to *sources*: a lab test, a blood draw, a raw column. A feature (a column of X) needs any
    number of sources, and an example pays for a source once, when it is first needed.

    Parameters
    ----------
    costs : None, number, array-like, mapping, pandas Series or pandas DataFrame
        Each feature's own cost. None means 1 per feature, or, if `groups` is given, that only groups are
        paid for. A number is the cost of each feature. Otherwise one cost per feature: in column order, or
        by feature name (or by column number, if X has no feature names). A table has the columns
        ``feature`` (left out: its index), ``cost`` and ``group``, either of these two optional. A Series or
        table with the default index 0, 1, ... is read in column order.
    groups : array-like, mapping or pandas Series, optional
        Features that share a price: the group of each feature, or a list of several, given like `costs`. A
        feature whose group is None, NaN or left out of the mapping is in no group.
    group_costs : mapping, pandas Series or number, optional
        The price of each group, paid once per example on top of its features' own costs.

    Notes
    -----
    Prices are 0, or from 1e-50 to 1e50; the unit does not matter. Prices of one list may span the whole
    range: the pruning stays exact. But costs are sums in float64, in which a price that is 1e16 times
    smaller than another one is lost to rounding.

    Sources are laid out in a fixed order that no price changes, so results for two price lists line up.
    First, if own costs are paid, come one source per feature, named like it (``x0``, ``x1``, ... if X has no
    names, as in scikit-learn). Then come the groups, in the order of `group_costs` (if that is a
    number, in order of appearance). A group whose name is taken has `` (group)`` appended to it. A feature
    whose own cost is 0 does not need its own source: the source is listed, but never bought.

    Examples
    --------
    >>> FeatureCosts({"age": 0, "TSH": 4, "T3": 3}, groups={"TSH": "blood", "T3": "blood"},
    ...              group_costs={"blood": 10}).resolve(3, ["age", "TSH", "T3"]).source_names
    ('age', 'TSH', 'T3', 'blood')
    """

    _own: float | PerFeature | None  # None: features have no costs of their own
    _shared: PerFeature  # the shared sources that each feature needs, sorted; groups are such sources
    _prices: PriceList  # of the shared sources
    _complete: bool  # whether `_shared` must list every feature, as in `from_sources`

    def __init__(self, costs: object = None, *, groups: object = None, group_costs: object = None) -> None:
        if is_pandas(costs, "DataFrame"):
            costs, groups = read_table(costs, groups)
        own = read_costs(1.0 if costs is None and groups is None else costs)
        shared = read_shared(per_feature({} if groups is None else groups, "groups"), "groups")
        if isinstance(own, tuple) and isinstance(shared, tuple) and len(own) != len(shared):
            raise InvalidInputError(f"costs has {len(own)} entries, but groups has {len(shared)}")
        if groups is None and group_costs is not None:
            raise InvalidInputError("group_costs needs groups=, the group of each feature")
        prices = () if groups is None else read_group_costs(shared, group_costs)
        self._set(own, shared, prices, complete=False)

    @classmethod
    def from_sources(cls, prices: object, needs: object) -> Self:
        """Define the price of each source and the sources that each feature needs.

        Covers derived features, which need the sources of their inputs, and encoded columns, which all need
        the raw column.

        Parameters
        ----------
        prices : mapping or pandas Series
            Source to price, in the order in which the sources are laid out. A source that no feature
            needs is kept, and never bought.
        needs : mapping or pandas Series
            Feature name (or column number, if X has no feature names) to a source, a sequence of sources, or
            None for a free feature. Every feature must be there.

        Examples
        --------
        >>> FeatureCosts.from_sources(
        ...     {"TT4": 10, "T4U": 8}, {"TT4": "TT4", "T4U": "T4U", "FTI": ["TT4", "T4U"], "age": None}
        ... ).resolve(4, ["age", "TT4", "T4U", "FTI"]).needs
        array([0, 1, 0, 1], dtype=int32)
        """
        shared = read_shared(as_mapping(needs, "needs"), "needs")
        price_list = read_price_list(prices, "prices")
        refuse_duplicates((str(source) for source, _ in price_list), "prices")
        refuse_unpriced(shared, price_list, "prices")
        costs = cls.__new__(cls)
        costs._set(None, shared, price_list, complete=True)
        return costs

    @classmethod
    def from_table(cls, table: CostTable, names: Sequence[Hashable]) -> Self:
        """Convert a resolved table back; features have the given names (or numbers), sources keep theirs."""
        sources = table.source_names
        start = table.needs_start.tolist()
        needs = {
            name: [sources[s] for s in table.needs[start[k] : start[k + 1]].tolist()] or None
            for k, name in enumerate(names)
        }
        return cls.from_sources(dict(zip(sources, table.price.tolist(), strict=True)), needs)

    @classmethod
    def of(cls, costs: object) -> "FeatureCosts":
        """Convert the argument ``costs=``: a `FeatureCosts`, or its first argument."""
        return costs if isinstance(costs, FeatureCosts) else cls(costs)

    def resolve(self, n_features: int, feature_names: Sequence[str] | None = None) -> CostTable:
        """Resolve the costs for one feature space.

        Parameters
        ----------
        n_features : int
            Number of columns of X.
        feature_names : sequence of str, optional
            Their names, if X has any.

        Returns
        -------
        CostTable
        """
        features = _Features.of(n_features, feature_names)
        if self._complete:
            shared = features.spread(self._shared, "needs", "write None for a feature that is free")
        else:
            shared = features.spread(self._shared, "groups")
            if self._own is None:
                refuse(
                    [repr(name) for name, groups in zip(features.names, shared, strict=True) if not groups],
                    "there are no costs, and no group, for",
                    "; put each in a group of its own, or give costs for all features (0 where only the "
                    "group is paid for)",
                )
        own = [] if self._own is None else features.spread(self._own, "costs", "write 0 for what is free")

        names = _with_groups(features.names[: len(own)], [str(source) for source, _ in self._prices])
        number = {source: s for s, (source, _) in enumerate(self._prices, start=len(own))}
        needs = [[k] if own and own[k] > 0 else [] for k in range(n_features)]
        for needed, sources in zip(needs, shared, strict=True):
            needed += sorted(number[source] for source in sources or ())
        return CostTable(
            price=_frozen([*own, *(price for _, price in self._prices)], np.float64),
            source_names=names,
            needs_start=_frozen(np.cumsum([0, *map(len, needs)]), np.int64),
            needs=_frozen([source for needed in needs for source in needed], np.int32),
        )

    def _set(
        self, own: float | PerFeature | None, shared: PerFeature, prices: PriceList, complete: bool
    ) -> None:
        for name, value in (("_own", own), ("_shared", shared), ("_prices", prices), ("_complete", complete)):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        written = map_entries(
            lambda sources: sources[0] if len(sources) == 1 else sources or None, self._shared
        )
        shared, prices = reprlib.repr(written), reprlib.repr(dict(self._prices))
        if self._complete:
            return f"FeatureCosts.from_sources({prices}, {shared})"
        parts = [] if self._own is None else [reprlib.repr(self._own)]
        parts += [f"groups={shared}", f"group_costs={prices}"] if self._prices else []
        return f"FeatureCosts({', '.join(parts)})"


# --- Laying out ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Features:
    """Features of X, to assign entries given by name to columns."""

    names: tuple[str, ...]
    column: dict[Hashable, int]

    @classmethod
    def of(cls, n_features: int, feature_names: Sequence[str] | None) -> Self:
        if feature_names is None:
            names = default_names(n_features)
            # Without feature names, a column can also be given by its number.
            return cls(names, {name: k for k, name in enumerate(names)} | {k: k for k in range(n_features)})
        names = tuple(str(name) for name in feature_names)
        if len(names) != n_features:
            raise InvalidInputError(f"there are {len(names)} feature names for {n_features} features")
        refuse_duplicates(names, "feature_names")
        return cls(names, {name: k for k, name in enumerate(names)})

    def spread(self, entries: float | PerFeature, what: str, if_missing: str = "") -> list[Any]:
        """One entry per column; a missing entry is None, or an error with the advice `if_missing`."""
        if isinstance(entries, float):
            return [entries] * len(self.names)
        if isinstance(entries, tuple):
            if len(entries) != len(self.names):
                raise InvalidInputError(f"{what} has {len(entries)} entries for {len(self.names)} features")
            return list(entries)
        unknown = [repr(key) for key in entries if key not in self.column]
        refuse(unknown, f"{what} names unknown features:", f"; X has {join_first(map(repr, self.names))}")
        by_column = {self.column[key]: entry for key, entry in entries.items()}
        if len(by_column) < len(entries):  # by name and by number
            refuse_duplicates((self.names[self.column[key]] for key in entries), what)
        if if_missing:
            missing = [repr(name) for k, name in enumerate(self.names) if k not in by_column]
            refuse(missing, f"{what} lacks", f"; {if_missing}")
        return [by_column.get(k) for k in range(len(self.names))]


def _with_groups(names: tuple[str, ...], groups: list[str]) -> tuple[str, ...]:
    """Append the groups' names to those of the features, all distinct."""
    taken = dict.fromkeys(names)
    for name in groups:
        while name in taken:
            name += " (group)"
        taken[name] = None
    return tuple(taken)


def _frozen(values: ArrayLike, dtype: type[Any]) -> NDArray[Any]:
    return frozen(np.array(values, dtype=dtype))
