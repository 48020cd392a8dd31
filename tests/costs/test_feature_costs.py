"""FeatureCosts: every way to write costs ends in the right sources and needs, or in a clear error."""

import copy
import pickle
import re
import subprocess
import sys
from dataclasses import FrozenInstanceError, replace
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone

from budgetprune.costs import CostTable, FeatureCosts, check_cost_table
from budgetprune.errors import InvalidInputError

NAMES = ["age", "TSH", "T3"]


def sources(table: CostTable) -> dict[str, float]:
    return dict(zip(table.source_names, table.price.tolist(), strict=True))


def needs(table: CostTable) -> list[list[str]]:
    """What each feature needs, by name."""
    return [[table.source_names[s] for s in table.needs[a:b]] for a, b in pairwise(table.needs_start)]


# --- The cases of the design's table ------------------------------------------------------------------------


def test_plain_costs_are_one_source_per_feature():
    table = FeatureCosts([1, 2.5, 3]).resolve(3, NAMES)
    assert sources(table) == {"age": 1.0, "TSH": 2.5, "T3": 3.0}
    assert needs(table) == [["age"], ["TSH"], ["T3"]]
    assert (table.n_sources, table.n_features) == (3, 3)


def test_without_names_sources_are_called_as_in_scikit_learn():
    assert sources(FeatureCosts().resolve(2)) == {"x0": 1.0, "x1": 1.0}


def test_grouped_features_pay_for_their_group_only():
    table = FeatureCosts(groups=["g", "h", "g"], group_costs={"h": 7, "g": 5}).resolve(3, NAMES)
    assert list(sources(table).items()) == [("h", 7.0), ("g", 5.0)]  # in the order of group_costs
    assert needs(table) == [["g"], ["h"], ["g"]]


def test_setup_plus_own_cost():
    costs = FeatureCosts([1, 4, 3], groups={"TSH": "blood", "T3": "blood"}, group_costs={"blood": 10})
    table = costs.resolve(3, NAMES)
    assert sources(table) == {"age": 1.0, "TSH": 4.0, "T3": 3.0, "blood": 10.0}
    assert needs(table) == [["age"], ["TSH", "blood"], ["T3", "blood"]]


def test_derived_features_need_the_sources_of_their_inputs():
    costs = FeatureCosts.from_sources(
        {"TT4": 10, "T4U": 8, "unused": 99}, {"TT4": "TT4", "T4U": "T4U", "FTI": ["T4U", "TT4", "T4U"]}
    )
    table = costs.resolve(3, ["FTI", "T4U", "TT4"])
    assert sources(table) == {"TT4": 10.0, "T4U": 8.0, "unused": 99.0}
    assert needs(table) == [["TT4", "T4U"], ["T4U"], ["TT4"]]


def test_one_hot_columns_need_the_raw_column():
    costs = FeatureCosts.from_sources({"sex": 2}, {"sex_f": "sex", "sex_m": "sex"})
    assert needs(costs.resolve(2, ["sex_f", "sex_m"])) == [["sex"], ["sex"]]


@pytest.mark.parametrize("free", [None, float("nan"), pd.NA, [], ()])
def test_free_features_need_nothing(free):
    costs = FeatureCosts.from_sources({"test": 2}, {"age": free, "TSH": "test", "T3": "test"})
    assert needs(costs.resolve(3, NAMES)) == [[], ["test"], ["test"]]


def test_a_cost_of_zero_keeps_the_source_in_its_place_but_nobody_needs_it():
    table = FeatureCosts([0, 4, 0], groups=[None, None, "g"], group_costs={"g": 5}).resolve(3, NAMES)
    assert table.source_names == ("age", "TSH", "T3", "g")
    assert needs(table) == [[], ["TSH"], ["g"]]


# --- Ways to write costs and groups -------------------------------------------------------------------------


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


def test_of_keeps_feature_costs_as_they_are():
    costs = FeatureCosts([1, 2])
    assert FeatureCosts.of(costs) is costs


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


def test_a_group_named_like_another_source_is_renamed():
    names = ["blood", "blood (group)"]
    costs = FeatureCosts([1, 2], groups=["blood", 1], group_costs={"blood": 10, 1: 3})
    assert costs.resolve(2, names).source_names == (*names, "blood (group) (group)", "1")
    both = FeatureCosts(groups=[1, "1"], group_costs={1: 10, "1": 3}).resolve(2)
    assert both.source_names == ("1", "1 (group)")
    assert needs(both) == [["1"], ["1 (group)"]]


# --- Errors -------------------------------------------------------------------------------------------------

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
    words = r"must be 0 or from 1e-50 to 1e\+50, but are not for 'b' \(.*\); count in another unit"
    with pytest.raises(InvalidInputError, match=f"costs {words}"):
        FeatureCosts({"a": 1e-50, "b": price, "c": 1e50})
    with pytest.raises(InvalidInputError, match=f"prices {words}"):
        FeatureCosts.from_sources({"a": 0, "b": price}, {"a": "a"})
    table = replace(FeatureCosts([1.0, 2.0]).resolve(2), price=np.array([1.0, price]))
    with pytest.raises(InvalidInputError, match=r"prices must be 0 or from 1e-50 to 1e\+50"):
        check_cost_table(table, 2)


# --- The table of costs -------------------------------------------------------------------------------------

PRICES = st.just(0.0) | st.floats(1e-50, 1e6)


@given(st.data())
def test_layout_is_a_sorted_csr_of_what_was_written(data):
    prices = data.draw(st.dictionaries(st.text(max_size=3), PRICES, max_size=6))
    some = st.lists(st.sampled_from(sorted(prices)), max_size=8) if prices else st.just([])
    wanted = data.draw(st.dictionaries(st.text(max_size=3), some, max_size=6))
    names = data.draw(st.permutations(list(wanted)))
    table = FeatureCosts.from_sources(prices, wanted).resolve(len(names), names)
    assert sources(table) == prices
    assert [set(entry) for entry in needs(table)] == [set(wanted[name]) for name in names]
    for a, b in pairwise(table.needs_start):
        assert np.all(np.diff(table.needs[a:b]) > 0)
    assert (table.price.dtype, table.needs_start.dtype, table.needs.dtype) == (np.float64, np.int64, np.int32)
    assert (table.n_sources, table.n_features) == (len(prices), len(names))


@given(st.lists(st.sampled_from([None, "g", "h"]), min_size=1, max_size=6), PRICES)
def test_groups_are_short_for_sources(groups, own):
    """The special case and the general one give the same table."""
    used = {g: k + 2.0 for k, g in enumerate(dict.fromkeys(g for g in groups if g))}
    names = [f"f{k}" for k in range(len(groups))]
    short = FeatureCosts(own, groups=groups, group_costs=used).resolve(len(names), names)
    wanted = {n: ([n] if own > 0 else []) + ([g] if g else []) for n, g in zip(names, groups, strict=True)}
    general = FeatureCosts.from_sources(dict.fromkeys(names, own) | used, wanted).resolve(len(names), names)
    assert sources(short) == sources(general)
    assert needs(short) == needs(general)


@given(st.lists(PRICES, min_size=1, max_size=5), st.integers(0, 4), st.randoms())
def test_total_adds_up_each_row(prices, n_rows, random):
    table = FeatureCosts(prices).resolve(len(prices))
    mask = [[random.random() < 0.5 for _ in prices] for _ in range(n_rows)]
    mask = np.array(mask, dtype=bool).reshape(n_rows, len(prices))
    expected = [sum(p for p, bought in zip(prices, row, strict=True) if bought) for row in mask]
    np.testing.assert_allclose(table.total(mask), expected)


def test_total_refuses_a_mask_of_another_shape():
    table = FeatureCosts().resolve(3)
    for shape in [(2, 4), (3,)]:
        with pytest.raises(InvalidInputError, match=rf"{re.escape(str(shape))}.*3 sources"):
            table.total(np.ones(shape, dtype=bool))


def test_a_feature_space_without_sources_costs_nothing():
    table = FeatureCosts.from_sources({}, {"age": None}).resolve(1, ["age"])
    assert table.total(np.ones((2, 0), dtype=bool)).tolist() == [0.0, 0.0]


# --- A value like any other ---------------------------------------------------------------------------------

ALL_KINDS = [
    FeatureCosts(),
    FeatureCosts([1, 2, 3]),
    FeatureCosts({"age": 1, "TSH": 2, "T3": 0}),
    FeatureCosts(groups=["g", "g", "h"], group_costs={"g": 1, "h": 2}),
    FeatureCosts(2, groups={"age": "g"}, group_costs=3),
    FeatureCosts.from_sources({"s": 1, "t": 2}, {"age": None, "TSH": "s", "T3": ["s", "t"]}),
]


@pytest.mark.parametrize("costs", ALL_KINDS, ids=repr)
def test_survives_copying_pickling_and_its_own_repr(costs):
    for twin in (copy.deepcopy(costs), pickle.loads(pickle.dumps(costs)), eval(repr(costs))):
        assert twin == costs
        assert sources(twin.resolve(3, NAMES)) == sources(costs.resolve(3, NAMES))
    assert sum(costs == other for other in ALL_KINDS) == 1


def test_a_long_repr_is_cut():
    assert len(repr(FeatureCosts([1.0] * 1000))) < 80


def test_the_order_of_sources_is_part_of_equality():
    wanted = {"age": ["a", "b"]}
    assert FeatureCosts.from_sources({"a": 1, "b": 2}, wanted) != FeatureCosts.from_sources(
        {"b": 2, "a": 1}, wanted
    )
    assert FeatureCosts.from_sources({"a": 1, "b": 2}, {"age": {"b", "a"}}) == FeatureCosts.from_sources(
        {"a": 1, "b": 2}, wanted
    )


def test_a_feature_alone_costs_all_that_it_needs():
    costs = FeatureCosts.from_sources(
        {"TT4": 10, "T4U": 8, "unused": 99}, {"TT4": "TT4", "T4U": "T4U", "FTI": ["TT4", "T4U"], "age": None}
    )
    assert costs.resolve(4, ["age", "FTI", "TT4", "T4U"]).price_alone.tolist() == [0, 18, 10, 8]
    assert FeatureCosts([3, 0]).resolve(2).price_alone.tolist() == [3, 0]


def test_immutable():
    prices = {"age": 1.0}
    costs = FeatureCosts(prices)
    prices["age"] = 2.0
    table = costs.resolve(1, ["age"])
    assert sources(table) == {"age": 1.0}
    with pytest.raises(FrozenInstanceError):
        costs._own = 3.0
    with pytest.raises(ValueError, match="read-only"):
        table.price[0] = 3.0


class Estimator(BaseEstimator):
    def __init__(self, costs=None):
        self.costs = costs


def test_works_as_a_scikit_learn_parameter():
    estimator = Estimator(FeatureCosts([1, 2]))
    assert clone(estimator).costs == estimator.costs
    assert "FeatureCosts((1.0, 2.0))" in repr(estimator)


def test_pandas_is_not_imported():
    program = (
        "import sys; sys.modules['pandas'] = None\n"
        "import budgetprune.costs as c\n"
        "c.FeatureCosts([1, 2], groups=['g', None], group_costs={'g': 1}).resolve(2)\n"
        "c.FeatureCosts.from_sources({'s': 1}, {0: 's'}).resolve(1)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_available_and_needed():
    """By definition: a feature is available if all that it needs is there."""
    costs = FeatureCosts.from_sources(
        {"a": 1, "b": 2, "c": 3}, {0: "a", 1: ["a", "b"], 2: None, 3: "c"}
    ).resolve(4)
    for bits in range(8):
        has = (bits >> np.arange(3) & 1).astype(bool)
        expected = [has[0], has[0] and has[1], True, has[2]]
        assert costs.available(has).tolist() == expected
    assert costs.needed_by(np.array([1, 2])).tolist() == [True, True, False]
    assert costs.needed_by(np.array([], dtype=int)).tolist() == [False] * 3
