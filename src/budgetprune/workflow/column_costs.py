"""Feature costs of a table's columns, from all accepted forms."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from budgetprune.costs import FeatureCosts, is_pandas
from budgetprune.workflow.tables import PriceList, as_pandas, price_list_of, read_price_list


def column_costs(
    costs: Any,
    names: Sequence[str],
    *,
    target: str,
    dropped: Sequence[str],
    others: Sequence[str] | None = None,
) -> FeatureCosts:
    """Return the costs of columns, by name.

    Parameters
    ----------
    costs : file, DataFrame of pandas or polars, Arrow table, mapping, FeatureCosts or None
        Path of a price list, or the same as a table; price of each column; the first argument of
        `FeatureCosts`. None means 1 for each column.
    names : columns that are features
    target : column that is predicted
    dropped : columns that are left out, which a price list may contain
    others : for a model that exists, further columns of the data, which a price list may contain
    """
    costs = as_pandas(costs, "the price list")
    if costs is None:
        return PriceList(dict.fromkeys(names, 1.0)).for_features(names)
    if isinstance(costs, str | os.PathLike):
        prices, source = read_price_list(costs), os.fspath(costs)
    elif is_pandas(costs, "DataFrame"):
        prices, source = price_list_of(costs), "the price list"
    elif isinstance(costs, Mapping):
        FeatureCosts(costs)  # raises for an invalid price
        prices, source = PriceList(dict(costs)), "the price list"
    else:
        return FeatureCosts.of(costs)
    prices.check(names, target=target, dropped=dropped, file=source, others=others)
    return prices.for_features(names)


def with_keys(costs: FeatureCosts, names: Sequence[str], keys: Sequence[Hashable]) -> FeatureCosts:
    """Return the same costs for features that are called `keys` instead of `names`, or have numbers."""
    table = costs.resolve(len(names), names)
    needs = {
        key: [table.source_names[s] for s in table.needs[table.needs_start[k] : table.needs_start[k + 1]]]
        for k, key in enumerate(keys)
    }
    return FeatureCosts.from_sources(dict(zip(table.source_names, table.price.tolist(), strict=True)), needs)
