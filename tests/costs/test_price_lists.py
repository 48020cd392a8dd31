"""Ways to write prices and groups, and the errors for invalid ones."""

import re
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from budgetprune.costs import CostTable, FeatureCosts, check_cost_table
from budgetprune.errors import InvalidInputError

NAMES = ["age", "TSH", "T3"]


def sources(table: CostTable) -> dict[str, float]:
    return dict(zip(table.source_names, table.price.tolist(), strict=True))


def needs(table: CostTable) -> list[list[str]]:
    """What each feature needs, by name."""
    return [[table.source_names[s] for s in table.needs[a:b]] for a, b in pairwise(table.needs_start)]


@pytest.mark.parametrize(
    "costs",
    [
        (0.5, 2, 3),
        np.array([0.5, 2, 3], dtype=np.float32),
        [Decimal("0.5"), np.int64(2), 3],
        {"T3": 3, "age": 0.5, "TSH": 2},
        pd.Series({"T3": 3, "age": 0.5, "TSH": 2}),
        pd.Series([0.5, 2, 3]),
        pd.DataFrame({"feature": ["T3", "age", "TSH"], "cost": [3, 0.5, 2]}),
        pd.DataFrame({"cost": [3, 0.5, 2]}, index=["T3", "age", "TSH"]),
        pd.DataFrame({"cost": [0.5, 2, 3]}),
        FeatureCosts([0.5, 2, 3]),
    ],
    ids=lambda costs: type(costs).__name__,
)
def test_costs_by_position_and_by_name_agree(costs):
    assert sources(FeatureCosts.of(costs).resolve(3, NAMES)) == {"age": 0.5, "TSH": 2.0, "T3": 3.0}


@pytest.mark.parametrize("costs", [{1: 4, 0: 3}, {"x1": 4, "x0": 3}, {np.int64(0): 3, "x1": 4}])
def test_columns_without_names_go_by_number_or_default_name(costs):
    assert sources(FeatureCosts(costs).resolve(2)) == {"x0": 3.0, "x1": 4.0}


def test_a_number_is_the_cost_of_each_feature():
    assert sources(FeatureCosts(2).resolve(2)) == {"x0": 2.0, "x1": 2.0}
    assert FeatureCosts() == FeatureCosts(1) == FeatureCosts.of(None)


@pytest.mark.parametrize(
    "groups",
    [
        [None, "blood", "blood"],
        np.array([None, "blood", "blood"], dtype=object),
        {"TSH": "blood", "T3": "blood"},
        {"age": float("nan"), "TSH": ["blood"], "T3": "blood"},
        pd.Series([pd.NA, "blood", "blood"], dtype="string"),
        pd.Series(["blood", "blood", None], index=["T3", "TSH", "age"], dtype="category"),
    ],
    ids=lambda groups: type(groups).__name__,
)
@pytest.mark.parametrize("group_costs", [{"blood": 10}, pd.Series({"blood": 10}), 10])
def test_groups_and_their_prices_by_position_and_by_name_agree(groups, group_costs):
    table = FeatureCosts([1, 4, 3], groups=groups, group_costs=group_costs).resolve(3, NAMES)
    assert sources(table) == {"age": 1.0, "TSH": 4.0, "T3": 3.0, "blood": 10.0}
    assert needs(table) == [["age"], ["TSH", "blood"], ["T3", "blood"]]


def test_a_table_may_hold_the_groups():
    table = pd.DataFrame({"feature": NAMES, "cost": [1, 4, 3], "group": [None, "blood", "blood"]})
    expected = FeatureCosts(
        dict(zip(NAMES, [1, 4, 3], strict=True)),
        groups={"age": None, "TSH": "blood", "T3": "blood"},
        group_costs={"blood": 10},
    )
    assert FeatureCosts(table, group_costs={"blood": 10}) == expected
    only_groups = FeatureCosts(table[["feature", "group"]].iloc[1:], group_costs={"blood": 10})
    assert sources(only_groups.resolve(2, NAMES[1:])) == {"blood": 10.0}


def test_groups_may_be_numbers_that_pandas_turned_into_floats():
    groups = pd.Series([0, 1, None])  # 0.0, 1.0, NaN
    table = FeatureCosts(1, groups=groups, group_costs={1: 5, 0: 6}).resolve(3, NAMES)
    assert table.source_names == (*NAMES, "1", "0")
    assert needs(table) == [["age", "0"], ["TSH", "1"], ["T3"]]


def test_a_feature_may_be_in_several_groups():
    costs = FeatureCosts(groups=[["visit", "blood"], "visit"], group_costs={"visit": 1, "blood": 10})
    assert needs(costs.resolve(2)) == [["visit", "blood"], ["visit"]]


BAD_PRICES = [-1, float("nan"), float("inf"), "3", None, True, pd.NA, 1j, [1], 10**400, Decimal("sNaN")]


@pytest.mark.parametrize("bad", BAD_PRICES, ids=lambda bad: repr(bad)[:12])
def test_a_bad_price_is_named_at_once(bad):
    with pytest.raises(InvalidInputError, match=r"costs must be finite.*'TSH' \("):
        FeatureCosts({"age": 1, "TSH": bad})
    with pytest.raises(InvalidInputError, match=r"costs must be finite.*column 1 \("):
        FeatureCosts([1, bad])
    with pytest.raises(InvalidInputError, match=r"group_costs must be finite.*'g' \("):
        FeatureCosts(groups=["g"], group_costs={"g": bad})
    with pytest.raises(InvalidInputError, match=r"prices must be finite.*'s' \("):
        FeatureCosts.from_sources({"s": bad}, {"age": "s"})


def test_a_long_list_of_culprits_is_cut():
    with pytest.raises(InvalidInputError, match=r"column 4 \(-1\) and 3 more$"):
        FeatureCosts([-1] * 8)


def refused_at_once(message, *args, **kwargs):
    return pytest.param(message, args, kwargs, id=message)


@pytest.mark.parametrize(
    ("message", "args", "kwargs"),
    [
        refused_at_once("every feature (-2)", -2),
        refused_at_once("every feature (nan)", np.nan),
        refused_at_once("not str", "free"),
        refused_at_once("not bool", True),
        refused_at_once("not set", {1, 2}),
        refused_at_once("an array of shape (1, 3)", np.ones((1, 3))),
        refused_at_once("costs has more than one entry for 'age'", pd.Series([1, 2], index=["age", "age"])),
        refused_at_once("this one has 'feature', 'price'", pd.DataFrame({"feature": NAMES, "price": 1})),
        refused_at_once("this one has 'feature'", pd.DataFrame({"feature": NAMES})),
        refused_at_once(
            "the table's header has more than one entry for 'cost'",
            pd.DataFrame([[1, 2]], columns=["cost", "cost"]),
        ),
        refused_at_once(
            "costs has more than one entry for 'a'", pd.DataFrame({"feature": ["a", "a"], "cost": [1, 2]})
        ),
        refused_at_once(
            "groups are given twice", pd.DataFrame({"cost": [1], "group": ["g"]}), groups=["g"], group_costs=1
        ),
        refused_at_once("write group_costs={'g': ..., 'h': ...}", groups=["g", "h", "g"]),
        refused_at_once("write group_costs={'k': ...}", pd.DataFrame({"cost": [1], "group": ["k"]})),
        refused_at_once("group_costs needs groups=", [1, 2], group_costs={"g": 1}),
        refused_at_once("group_costs lacks 'h' (of column 1)", groups=["g", "h"], group_costs={"g": 1}),
        refused_at_once("unknown groups: 'x', 'y'", groups=["g"], group_costs={"g": 1, "x": 2, "y": 3}),
        refused_at_once("group_costs must be a mapping", groups=["g"], group_costs=[1]),
        refused_at_once(
            "group_costs has more than one entry for 'g'",
            groups=["g"],
            group_costs=pd.Series([1, 2], index=["g", "g"]),
        ),
        refused_at_once("'g' (-1)", groups=["g"], group_costs=-1),
        refused_at_once("not for 'age'", groups={"age": {"g": 1}}, group_costs=1),
        refused_at_once("not str", groups="g", group_costs=1),
        refused_at_once("costs has 2 entries, but groups has 3", [1, 2], groups=["g"] * 3, group_costs=1),
    ],
)
def test_what_makes_no_sense_is_refused_at_once(message, args, kwargs):
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        FeatureCosts(*args, **kwargs)


@pytest.mark.parametrize(
    ("message", "prices", "wanted"),
    [
        ("prices lacks 'blood' (of 'TSH')", {"s": 1}, {"age": "s", "TSH": ["s", "blood"]}),
        ("prices must be a mapping", [1, 2], {"age": None}),
        ("needs must be a mapping", {"s": 1}, ["s"]),
        ("needs must be names, sequences of names or None, but are not for 'age'", {"s": 1}, {"age": [{}]}),
        ("prices has more than one entry for '1'", {1: 1, "1": 2}, {"age": 1}),
        ("prices has more than one entry for 's'", pd.Series([1, 2], index=["s", "s"]), {"age": "s"}),
    ],
)
def test_what_makes_no_sense_in_sources_is_refused_at_once(message, prices, wanted):
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        FeatureCosts.from_sources(prices, wanted)


@pytest.mark.parametrize(
    ("message", "costs"),
    [
        ("costs has 2 entries for 3 features", FeatureCosts([1, 2])),
        ("costs lacks 'TSH', 'T3'; write 0", FeatureCosts({"age": 1})),
        ("costs names unknown features: 'Age'; X has 'age', 'TSH', 'T3'", FeatureCosts({"Age": 1})),
        ("costs names unknown features: 0", FeatureCosts({0: 1})),
        ("groups has 1 entries for 3 features", FeatureCosts(1, groups=["g"], group_costs=1)),
        ("groups names unknown features: 'Age'", FeatureCosts(1, groups={"Age": "g"}, group_costs=1)),
        (
            "no costs, and no group, for 'age', 'T3'; put each",
            FeatureCosts(groups=[None, "g", None], group_costs=1),
        ),
        ("needs lacks 'T3'; write None", FeatureCosts.from_sources({}, {"age": None, "TSH": None})),
        ("needs names unknown features: 'T4'", FeatureCosts.from_sources({}, dict.fromkeys([*NAMES, "T4"]))),
    ],
)
def test_what_does_not_fit_the_features_is_named(message, costs):
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        costs.resolve(3, NAMES)


def test_one_column_cannot_be_priced_by_name_and_by_number():
    with pytest.raises(InvalidInputError, match="costs has more than one entry for 'x1'"):
        FeatureCosts({0: 1, 1: 2, "x1": 3}).resolve(2)


def test_feature_names_must_fit():
    with pytest.raises(InvalidInputError, match="3 feature names for 4 features"):
        FeatureCosts().resolve(4, NAMES)
    with pytest.raises(InvalidInputError, match="feature_names has more than one entry for 'a'"):
        FeatureCosts().resolve(2, ["a", "a"])


@pytest.mark.parametrize("price", [1e308, 1.1e50, 0.9e-50, 5e-324])
def test_prices_that_sums_cannot_hold_are_refused(price):
    words = r"must be 0 or from 1e-50 to 1e\+50, but are not for 'b' \(.*\); use another unit"
    with pytest.raises(InvalidInputError, match=f"costs {words}"):
        FeatureCosts({"a": 1e-50, "b": price, "c": 1e50})
    with pytest.raises(InvalidInputError, match=f"prices {words}"):
        FeatureCosts.from_sources({"a": 0, "b": price}, {"a": "a"})
    table = replace(FeatureCosts([1.0, 2.0]).resolve(2), price=np.array([1.0, price]))
    with pytest.raises(InvalidInputError, match=r"prices must be 0 or from 1e-50 to 1e\+50"):
        check_cost_table(table, 2)
