"""What features cost: the sources that are paid for, and which of them each feature needs."""

import reprlib
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from decimal import Decimal
from math import inf, nan
from numbers import Real
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from budgetprune.errors import InvalidInputError

# One entry per feature: by position (tuple), or by feature name or column number (dict).
PerFeature: TypeAlias = tuple[Any, ...] | dict[Hashable, Any]
# Prices in the order in which their sources are laid out.
PriceList: TypeAlias = tuple[tuple[Hashable, float], ...]


@dataclass(frozen=True, eq=False)
class CostTable:
    """Answer "what does feature k need, and what does that cost?" in arrays a kernel can read.

    Made by `FeatureCosts.resolve` for one feature space.

    Attributes
    ----------
    price : ndarray of float64, shape (n_sources,)
        What one example pays, once, for each source (c_k in the paper).
    source_names : tuple of str
        One distinct name per source.
    needs_start : ndarray of int64, shape (n_features + 1,)
        Feature k needs the sources ``needs[needs_start[k]:needs_start[k + 1]]``.
    needs : ndarray of int32
        Sources by number; sorted and distinct within a feature. A free feature has none.
    """

    price: NDArray[np.float64]
    source_names: tuple[str, ...]
    needs_start: NDArray[np.int64]
    needs: NDArray[np.int32]

    @property
    def n_sources(self) -> int:
        """Number of sources, including those that no feature needs."""
        return len(self.price)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.needs_start) - 1

    def total(self, acquired: ArrayLike) -> NDArray[np.float64]:
        """Add up what each example paid.

        Parameters
        ----------
        acquired : array-like of bool, shape (n_rows, n_sources)
            True where the row's example acquired the source (w_ki in the paper).

        Returns
        -------
        ndarray of float64, shape (n_rows,)
        """
        mask = np.asarray(acquired, dtype=bool)
        if mask.ndim != 2 or mask.shape[1] != self.n_sources:
            raise InvalidInputError(
                f"acquired has shape {mask.shape}, but must have one row per example and "
                f"one column for each of the {self.n_sources} sources"
            )
        # Unlike `@`, einsum makes no float copy of the mask, which is eight times its size.
        total: NDArray[np.float64] = np.einsum("is,s->i", mask, self.price)
        return total


@dataclass(frozen=True, init=False, repr=False)
class FeatureCosts:
    """Say what has to be paid before a feature can be tested.

    What is paid for is a *source*: a lab test, a blood draw, a raw column. A feature (a column of X) needs
    any number of sources, and an example pays for a source once, when something first needs it.

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
    _complete: bool  # whether `_shared` must speak of every feature, as it must in `from_sources`

    def __init__(self, costs: object = None, *, groups: object = None, group_costs: object = None) -> None:
        if _is_pandas(costs, "DataFrame"):
            costs, groups = _read_table(costs, groups)
        own = _read_costs(1.0 if costs is None and groups is None else costs)
        shared = _read_shared(_per_feature({} if groups is None else groups, "groups"), "groups")
        if isinstance(own, tuple) and isinstance(shared, tuple) and len(own) != len(shared):
            raise InvalidInputError(f"costs has {len(own)} entries, but groups has {len(shared)}")
        if groups is None and group_costs is not None:
            raise InvalidInputError("group_costs needs groups=, which says what group each feature is in")
        prices = () if groups is None else _read_group_costs(shared, group_costs)
        self._set(own, shared, prices, complete=False)

    @classmethod
    def from_sources(cls, prices: object, needs: object) -> Self:
        """Say it in general: what each source costs, and which sources each feature needs.

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
        shared = _read_shared(_mapping(needs, "needs"), "needs")
        price_list = _price_list(prices, "prices")
        _refuse_duplicates((str(source) for source, _ in price_list), "prices")
        _refuse_unpriced(shared, price_list, "prices")
        costs = cls.__new__(cls)
        costs._set(None, shared, price_list, complete=True)
        return costs

    @classmethod
    def of(cls, costs: object) -> "FeatureCosts":
        """Accept whatever a user may pass as ``costs=``: a `FeatureCosts`, or its first argument."""
        return costs if isinstance(costs, FeatureCosts) else cls(costs)

    def resolve(self, n_features: int, feature_names: Sequence[str] | None = None) -> CostTable:
        """Lay the costs out for one feature space.

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
                _refuse(
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
        written = _map(lambda sources: sources[0] if len(sources) == 1 else sources or None, self._shared)
        shared, prices = reprlib.repr(written), reprlib.repr(dict(self._prices))
        if self._complete:
            return f"FeatureCosts.from_sources({prices}, {shared})"
        parts = [] if self._own is None else [reprlib.repr(self._own)]
        parts += [f"groups={shared}", f"group_costs={prices}"] if self._prices else []
        return f"FeatureCosts({', '.join(parts)})"


# --- Laying out ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Features:
    """The features of X, so that entries given by name find their columns."""

    names: tuple[str, ...]
    column: dict[Hashable, int]

    @classmethod
    def of(cls, n_features: int, feature_names: Sequence[str] | None) -> Self:
        if feature_names is None:
            names = tuple(f"x{k}" for k in range(n_features))
            # Without names of its own, a column goes by its number as well.
            return cls(names, {name: k for k, name in enumerate(names)} | {k: k for k in range(n_features)})
        names = tuple(str(name) for name in feature_names)
        if len(names) != n_features:
            raise InvalidInputError(f"there are {len(names)} feature names for {n_features} features")
        _refuse_duplicates(names, "feature_names")
        return cls(names, {name: k for k, name in enumerate(names)})

    def spread(self, entries: float | PerFeature, what: str, if_missing: str = "") -> list[Any]:
        """One entry per column; a column without one is an error that advises `if_missing`, or gets None."""
        if isinstance(entries, float):
            return [entries] * len(self.names)
        if isinstance(entries, tuple):
            if len(entries) != len(self.names):
                raise InvalidInputError(f"{what} has {len(entries)} entries for {len(self.names)} features")
            return list(entries)
        unknown = [repr(key) for key in entries if key not in self.column]
        _refuse(unknown, f"{what} names unknown features:", f"; X has {_listed(map(repr, self.names))}")
        by_column = {self.column[key]: entry for key, entry in entries.items()}
        if len(by_column) < len(entries):  # by name and by number
            _refuse_duplicates((self.names[self.column[key]] for key in entries), what)
        if if_missing:
            missing = [repr(name) for k, name in enumerate(self.names) if k not in by_column]
            _refuse(missing, f"{what} lacks", f"; {if_missing}")
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
    array = np.array(values, dtype=dtype)
    array.setflags(write=False)
    return array


# --- Reading what users write -------------------------------------------------------------------------------


def _is_pandas(value: object, kind: str) -> bool:
    """Recognise a pandas object without importing pandas: whoever passes one has imported it already."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, getattr(pandas, kind))


def _is_number(value: object) -> bool:
    return isinstance(value, Real | Decimal) and not isinstance(value, bool)


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)  # NaN and NaT differ from themselves
    except TypeError:  # pandas.NA is neither equal nor different
        return True


def _read_costs(costs: object) -> float | PerFeature | None:
    if costs is None:
        return None
    if _is_number(costs):
        return _checked([("every feature", costs)], "costs")[0]
    entries = _per_feature(costs, "costs")
    prices = _checked(_shown(entries), "costs")
    return tuple(prices) if isinstance(entries, tuple) else dict(zip(entries, prices, strict=True))


def _read_table(table: Any, groups: object) -> tuple[object, object]:
    """Costs and groups from a DataFrame with the columns feature, cost and group."""
    columns = set(table.columns)
    if not columns <= {"feature", "cost", "group"} or not columns & {"cost", "group"}:
        raise InvalidInputError(
            "a table of costs has the columns 'feature' (or an index of feature names), 'cost' and, "
            f"if wanted, 'group'; this one has {_listed(map(repr, table.columns))}"
        )
    _refuse_duplicates(table.columns, "the table's header")
    if "group" in columns and groups is not None:
        raise InvalidInputError("groups are given twice: as a column of the table, and as groups=")
    if "feature" in columns:
        table = table.set_index("feature")
    return table.get("cost"), table.get("group", groups)


def _read_group_costs(groups: PerFeature, group_costs: object) -> PriceList:
    # A dictionary, because it keeps the order of appearance.
    used = {group: None for _, entry in _shown(groups) for group in entry}
    if group_costs is None:
        example = ", ".join(f"{group!r}: ..." for group in list(used)[:2])
        raise InvalidInputError(
            f"groups have no prices; write group_costs={{{example}}} with a price for each of the "
            f"{len(used)} groups, or group_costs=<number> if all cost the same"
        )
    if _is_number(group_costs):
        group_costs = dict.fromkeys(used, group_costs)
    prices = _price_list(group_costs, "group_costs")
    _refuse_unpriced(groups, prices, "group_costs")
    unknown = [repr(group) for group, _ in prices if group not in used]
    _refuse(unknown, "group_costs names unknown groups:", "; no feature is in them")
    return prices


def _read_shared(entries: PerFeature, what: str) -> PerFeature:
    """Turn each entry (one name, several, or None) into a tuple of sources."""

    def sources(entry: Any) -> tuple[Hashable, ...] | None:
        if isinstance(entry, np.ndarray):
            entry = entry.tolist()
        several = isinstance(entry, list | tuple | AbstractSet)
        try:
            # In one order, whichever they were written in, so that equal needs compare equal.
            return tuple(sorted(set(entry if several else () if _is_missing(entry) else (entry,)), key=str))
        except TypeError:  # not hashable, so nobody's name
            return None

    read = _map(sources, entries)
    bad = [shown for shown, entry in _shown(read) if entry is None]
    _refuse(bad, f"{what} must be names, sequences of names or None, but are not for")
    return read


def _per_feature(values: Any, what: str) -> PerFeature:
    if _is_pandas(values, "Series"):
        # The default index is nobody's choice of names.
        default = values.index.equals(values.reset_index(drop=True).index)
        return tuple(values) if default else _mapping(values, what)
    if isinstance(values, Mapping):
        return dict(values)
    # numpy would turn a number beside a string into a string, so lists stay as they are.
    if isinstance(values, list | tuple):
        return tuple(values)
    array = np.asarray(values)
    if array.ndim != 1:
        given = f"an array of shape {array.shape}" if array.ndim else type(values).__name__
        raise InvalidInputError(
            f"{what} must have one entry per feature, as a sequence, a mapping by feature name or a pandas "
            f"Series, not {given}"
        )
    return tuple(array.tolist())


def _mapping(values: Any, what: str) -> dict[Hashable, Any]:
    if _is_pandas(values, "Series"):
        _refuse_duplicates(values.index, what)
    elif not isinstance(values, Mapping):
        raise InvalidInputError(f"{what} must be a mapping or a pandas Series, not {type(values).__name__}")
    return dict(values.items())


def _price_list(prices: object, what: str) -> PriceList:
    entries = _mapping(prices, what)
    return tuple(zip(entries, _checked(_shown(entries), what), strict=True))


def _checked(entries: Iterable[tuple[str, Any]], what: str) -> list[float]:
    prices, bad = [], []
    for shown, entry in entries:
        try:
            price = float(entry) if _is_number(entry) else nan
        except (ValueError, OverflowError):  # a signalling NaN, an integer beyond all floats
            price = nan
        prices.append(price)
        if not 0 <= price < inf:
            bad.append(f"{shown} ({reprlib.repr(entry)})")
    _refuse(bad, f"{what} must be finite numbers of at least 0, but are not for")
    return prices


def _map(function: Callable[[Any], Any], entries: PerFeature) -> PerFeature:
    if isinstance(entries, tuple):
        return tuple(function(entry) for entry in entries)
    return {label: function(entry) for label, entry in entries.items()}


# --- Saying what is wrong -----------------------------------------------------------------------------------


def _refuse(culprits: list[str], problem: str, advice: str = "") -> None:
    if culprits:
        raise InvalidInputError(f"{problem} {_listed(culprits)}{advice}")


def _refuse_unpriced(needs: PerFeature, prices: PriceList, what: str) -> None:
    priced = dict(prices)
    # Each source once, with a feature that needs it.
    bad = {source: shown for shown, sources in _shown(needs) for source in sources if source not in priced}
    _refuse(
        [f"{source!r} (of {shown})" for source, shown in bad.items()], f"{what} lacks", "; give each a price"
    )


def _refuse_duplicates(labels: Iterable[Hashable], what: str) -> None:
    twice = [repr(label) for label, count in Counter(labels).items() if count > 1]
    _refuse(twice, f"{what} has more than one entry for")


def _shown(entries: PerFeature) -> list[tuple[str, Any]]:
    """Entries with their labels as a message writes them."""
    if isinstance(entries, tuple):
        return [(f"column {k}", entry) for k, entry in enumerate(entries)]
    return [(repr(label), entry) for label, entry in entries.items()]


def _listed(items: Iterable[str], at_most: int = 5) -> str:
    items = list(items)
    more = f" and {len(items) - at_most} more" if len(items) > at_most else ""
    return ", ".join(items[:at_most]) + more
