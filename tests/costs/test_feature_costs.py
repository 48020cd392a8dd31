"""FeatureCosts: every way to write costs ends in the right sources and needs, or in a clear error."""

import copy
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError
from itertools import pairwise

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone

from budgetprune.costs import CostTable, FeatureCosts

NAMES = ["age", "TSH", "T3"]


def sources(table: CostTable) -> dict[str, float]:
    return dict(zip(table.source_names, table.price.tolist(), strict=True))


def needs(table: CostTable) -> list[list[str]]:
    """What each feature needs, by name."""
    return [[table.source_names[s] for s in table.needs[a:b]] for a, b in pairwise(table.needs_start)]


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


def test_of_keeps_feature_costs_as_they_are():
    costs = FeatureCosts([1, 2])
    assert FeatureCosts.of(costs) is costs


def test_a_group_named_like_another_source_is_renamed():
    names = ["blood", "blood (group)"]
    costs = FeatureCosts([1, 2], groups=["blood", 1], group_costs={"blood": 10, 1: 3})
    assert costs.resolve(2, names).source_names == (*names, "blood (group) (group)", "1")
    both = FeatureCosts(groups=[1, "1"], group_costs={1: 10, "1": 3}).resolve(2)
    assert both.source_names == ("1", "1 (group)")
    assert needs(both) == [["1"], ["1 (group)"]]


PRICES = st.just(0.0) | st.floats(1e-50, 1e6)


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
