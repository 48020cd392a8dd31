"""Parsing and validation of prices in all accepted forms."""

import reprlib
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from decimal import Decimal
from math import inf, nan
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from budgetprune.errors import InvalidInputError

# One entry per feature: by position (tuple), or by feature name or column number (dict).
PerFeature: TypeAlias = tuple[Any, ...] | dict[Hashable, Any]
# Prices in the order in which their sources are laid out.
PriceList: TypeAlias = tuple[tuple[Hashable, float], ...]

# In this range, sums of prices and products with weights, errors and lambdas neither overflow nor underflow.
# Prices of one list may span the whole range.
SMALLEST_PRICE, LARGEST_PRICE = 1e-50, 1e50
PRICE_RANGE = f"from {SMALLEST_PRICE:g} to {LARGEST_PRICE:g}"


def is_pandas(value: object, kind: str) -> bool:
    """Whether a value is a pandas object; pandas is not imported."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, getattr(pandas, kind))


def is_number(value: object) -> bool:
    return isinstance(value, Real | Decimal) and not isinstance(value, bool)


def is_price(number: float) -> bool:
    """Whether a number is a valid price: 0, or within the range of prices."""
    return number == 0 or SMALLEST_PRICE <= number <= LARGEST_PRICE


def is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)  # NaN and NaT differ from themselves
    except TypeError:  # pandas.NA is neither equal nor different
        return True


def read_costs(costs: object) -> float | PerFeature | None:
    if costs is None:
        return None
    if is_number(costs):
        return checked_prices([("every feature", costs)], "costs")[0]
    entries = per_feature(costs, "costs")
    prices = checked_prices(shown(entries), "costs")
    return tuple(prices) if isinstance(entries, tuple) else dict(zip(entries, prices, strict=True))


def read_table(table: Any, groups: object) -> tuple[object, object]:
    """Costs and groups from a DataFrame with the columns feature, cost and group."""
    columns = set(table.columns)
    if not columns <= {"feature", "cost", "group"} or not columns & {"cost", "group"}:
        raise InvalidInputError(
            "a table of costs has the columns 'feature' (or an index of feature names), 'cost' and, "
            f"if wanted, 'group'; this one has {join_first(map(repr, table.columns))}"
        )
    refuse_duplicates(table.columns, "the table's header")
    if "group" in columns and groups is not None:
        raise InvalidInputError("groups are given twice: as a column of the table, and as groups=")
    if "feature" in columns:
        table = table.set_index("feature")
    return table.get("cost"), table.get("group", groups)


def read_group_costs(groups: PerFeature, group_costs: object) -> PriceList:
    # A dictionary, because it keeps the order of appearance.
    used = {group: None for _, entry in shown(groups) for group in entry}
    if group_costs is None:
        example = ", ".join(f"{group!r}: ..." for group in list(used)[:2])
        raise InvalidInputError(
            f"groups have no prices; write group_costs={{{example}}} with a price for each of the "
            f"{len(used)} groups, or group_costs=<number> if all cost the same"
        )
    if is_number(group_costs):
        group_costs = dict.fromkeys(used, group_costs)
    prices = read_price_list(group_costs, "group_costs")
    refuse_unpriced(groups, prices, "group_costs")
    unknown = [repr(group) for group, _ in prices if group not in used]
    refuse(unknown, "group_costs names unknown groups:", "; no feature is in them")
    return prices


def read_shared(entries: PerFeature, what: str) -> PerFeature:
    """Turn each entry (one name, several, or None) into a tuple of sources."""

    def sources(entry: Any) -> tuple[Hashable, ...] | None:
        if isinstance(entry, np.ndarray):
            entry = entry.tolist()
        several = isinstance(entry, list | tuple | AbstractSet)
        try:
            # Sorted, so that equal needs compare equal.
            return tuple(sorted(set(entry if several else () if is_missing(entry) else (entry,)), key=str))
        except TypeError:  # not hashable, so not a name
            return None

    read = map_entries(sources, entries)
    bad = [shown for shown, entry in shown(read) if entry is None]
    refuse(bad, f"{what} must be names, sequences of names or None, but are not for")
    return read


def per_feature(values: Any, what: str) -> PerFeature:
    if is_pandas(values, "Series"):
        # The default index holds no names.
        default = values.index.equals(values.reset_index(drop=True).index)
        return tuple(values) if default else as_mapping(values, what)
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


def as_mapping(values: Any, what: str) -> dict[Hashable, Any]:
    if is_pandas(values, "Series"):
        refuse_duplicates(values.index, what)
    elif not isinstance(values, Mapping):
        raise InvalidInputError(f"{what} must be a mapping or a pandas Series, not {type(values).__name__}")
    return dict(values.items())


def read_price_list(prices: object, what: str) -> PriceList:
    entries = as_mapping(prices, what)
    return tuple(zip(entries, checked_prices(shown(entries), what), strict=True))


def checked_prices(entries: Iterable[tuple[str, Any]], what: str) -> list[float]:
    prices, bad, extreme = [], [], []
    for shown, entry in entries:
        try:
            price = float(entry) if is_number(entry) else nan
        except (ValueError, OverflowError):  # a signalling NaN, an integer beyond all floats
            price = nan
        prices.append(price)
        if not 0 <= price < inf:
            bad.append(f"{shown} ({reprlib.repr(entry)})")
        elif not is_price(price):
            extreme.append(f"{shown} ({price:g})")
    refuse(bad, f"{what} must be finite numbers of at least 0, but are not for")
    refuse(extreme, f"{what} must be 0 or {PRICE_RANGE}, but are not for", "; use another unit")
    return prices


def map_entries(function: Callable[[Any], Any], entries: PerFeature) -> PerFeature:
    if isinstance(entries, tuple):
        return tuple(function(entry) for entry in entries)
    return {label: function(entry) for label, entry in entries.items()}


# --- Error messages -----------------------------------------------------------------------------------------


def refuse(culprits: list[str], problem: str, advice: str = "") -> None:
    if culprits:
        raise InvalidInputError(f"{problem} {join_first(culprits)}{advice}")


def refuse_unpriced(needs: PerFeature, prices: PriceList, what: str) -> None:
    priced = dict(prices)
    # Each source once, with a feature that needs it.
    bad = {source: shown for shown, sources in shown(needs) for source in sources if source not in priced}
    refuse(
        [f"{source!r} (of {shown})" for source, shown in bad.items()], f"{what} lacks", "; give each a price"
    )


def refuse_duplicates(labels: Iterable[Hashable], what: str) -> None:
    twice = [repr(label) for label, count in Counter(labels).items() if count > 1]
    refuse(twice, f"{what} has more than one entry for")


def shown(entries: PerFeature) -> list[tuple[str, Any]]:
    """Format entries with their labels for an error message."""
    if isinstance(entries, tuple):
        return [(f"column {k}", entry) for k, entry in enumerate(entries)]
    return [(repr(label), entry) for label, entry in entries.items()]


def join_first(items: Iterable[str], at_most: int = 5) -> str:
    """Join the first items with commas, and give the number of the others."""
    items = list(items)
    more = f" and {len(items) - at_most} more" if len(items) > at_most else ""
    return ", ".join(items[:at_most]) + more
