"""Conversion of published test prices to sources that are paid once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from budgetprune.costs import FeatureCosts
from budgetprune.errors import InvalidInputError


class Price(NamedTuple):
    """Price of a test alone, price with others of its group, and the group."""

    alone: float
    together: float
    group: str | None = None


def published_costs(
    prices: Mapping[str, Price],
    *,
    derived: Mapping[str, Sequence[str]] | None = None,
    group_names: Mapping[str, str] | None = None,
) -> FeatureCosts:
    """Make feature costs from two prices per test: alone, and with others of its group.

    The difference is the price of the group's shared step (such as a blood draw), which becomes a separate
    source. The lower price is that of the test itself.

    Parameters
    ----------
    prices : mapping of feature name to Price
        In the order of the columns.
    derived : mapping of feature name to names of features, optional
        Features that are computed from others: they need what these need, and nothing else.
    group_names : mapping, optional
        Name of the source that a group shares; by default the group's name.

    Returns
    -------
    FeatureCosts
        By column number, so that it fits rows that are an array. Sources have names: those of the tests.

    Examples
    --------
    >>> blood_tests = {"TSH": Price(22.78, 20.68, "blood"), "T3": Price(11.41, 9.31, "blood")}
    >>> table = published_costs(blood_tests).resolve(2)
    >>> dict(zip(table.source_names, table.price.tolist(), strict=True))
    {'TSH': 20.68, 'T3': 9.31, 'blood': 2.1}
    """
    derived = derived or {}
    group_names = group_names or {}
    own = {name: price for name, price in prices.items() if name not in derived}
    shared: dict[str, float] = {}
    for name, price in own.items():
        if price.together > price.alone:
            raise InvalidInputError(
                f"{name!r} costs {price.together} together with others but {price.alone} alone; the first "
                "must not be larger."
            )
        if price.group is not None:
            difference = round(price.alone - price.together, 2)  # cents: 22.78 - 20.68 is not quite 2.1
            if shared.setdefault(price.group, difference) != difference:
                raise InvalidInputError(
                    f"the tests of group {price.group!r} do not share one price: {name!r} saves "
                    f"{difference}, others save {shared[price.group]}."
                )
        elif price.together != price.alone:
            raise InvalidInputError(f"{name!r} has two prices, but no group that it could share one with.")

    unknown = [part for parts in derived.values() for part in parts if part not in own]
    if unknown:
        raise InvalidInputError(f"there is no price for {', '.join(map(repr, unknown))}, which others need.")
    sources = {name: price.together for name, price in own.items()}
    sources |= {group_names.get(group, group): price for group, price in shared.items()}
    needs = {
        name: [name] if price.group is None else [name, group_names.get(price.group, price.group)]
        for name, price in own.items()
    }
    for name, parts in derived.items():
        needs[name] = list(dict.fromkeys(source for part in parts for source in needs[part]))
    return FeatureCosts.from_sources(sources, {k: needs[name] for k, name in enumerate(prices)})
