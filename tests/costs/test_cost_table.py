"""`CostTable`: layout, totals, and checks."""

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetprune.costs import CostTable, FeatureCosts
from budgetprune.errors import InvalidInputError


def sources(table: CostTable) -> dict[str, float]:
    return dict(zip(table.source_names, table.price.tolist(), strict=True))


def needs(table: CostTable) -> list[list[str]]:
    """What each feature needs, by name."""
    return [[table.source_names[s] for s in table.needs[a:b]] for a, b in pairwise(table.needs_start)]


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


def test_a_feature_alone_costs_all_that_it_needs():
    costs = FeatureCosts.from_sources(
        {"TT4": 10, "T4U": 8, "unused": 99}, {"TT4": "TT4", "T4U": "T4U", "FTI": ["TT4", "T4U"], "age": None}
    )
    assert costs.resolve(4, ["age", "FTI", "TT4", "T4U"]).price_alone.tolist() == [0, 18, 10, 8]
    assert FeatureCosts([3, 0]).resolve(2).price_alone.tolist() == [3, 0]


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
