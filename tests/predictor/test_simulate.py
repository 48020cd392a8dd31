"""`simulate`: many rows at once, as if each had asked for one source after the other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetprune import BudgetPredictor, InvalidInputError
from budgetprune.predictor import engine as _engine

from ..solvers.strategies import examples
from . import oracles
from .conftest import NAMES, ROW
from .forests import LookedUp, cases, random_bundles, random_forest, random_rows, stumps


@pytest.mark.uncompiled
@examples(80)
@given(case=cases(n_rows=3), data=st.data())
def test_sources_that_are_there_from_the_start(case, data):
    """The same as a mapping whose features that need nothing else are known."""
    predictor, needs = case.predictor(), case.predictor().costs
    known = data.draw(st.sets(st.sampled_from(predictor.source_names)))
    simulation = predictor.simulate(case.rows, known=known)
    names = np.array(predictor.source_names)
    at_hand = {
        name
        for k, name in enumerate(predictor.feature_names)
        if all(s in known or oracles.price_of(needs, s) == 0 for s in oracles.sources_of(needs, k))
    }
    # A source that gives nothing by itself cannot be known by a value.
    told = {s for name in at_hand for s in oracles.sources_of(needs, predictor.feature_names.index(name))}
    for i, row in enumerate(case.forest.prepare_rows(case.rows)):
        assert simulation.label[i] == oracles.plain_label(case.forest, row)
        acquired = set(names[simulation.acquired[i]])
        assert not acquired & known
        assert acquired <= oracles.sources_needed(case.forest, needs, row)
        assert simulation.cost[i] == pytest.approx(sum(oracles.price_of(needs, s) for s in acquired))
        if known <= told:
            named = case.named(i)
            given_values = {name: named[name] for name in at_hand}
            decision = predictor.decide(LookedUp(named), known=given_values)
            assert set(decision.acquired) == acquired
            assert decision.label == simulation.label[i]


@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 300])
def test_rows_do_not_depend_on_each_other(n_rows, monkeypatch):
    """Threads and chunks share the work, not the rows."""
    rng = np.random.default_rng(0)
    forest = random_forest(rng, "averaged, three classes", 5, 9)
    rows = random_rows(rng, forest, n_rows)
    predictor = BudgetPredictor(forest, random_bundles(rng, 5), max_cost=2.0)
    whole = predictor.simulate(rows)
    monkeypatch.setattr(_engine, "BLOCK", 50)
    chunked = predictor.simulate(rows)
    for name in ("label", "cost", "acquired", "decided"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(chunked, name))
    for i in range(0, n_rows, 37):
        one = predictor.simulate(rows[i : i + 1])
        assert one.label[0] == whole.label[i]
        np.testing.assert_array_equal(one.acquired[0], whole.acquired[i])


def test_many_features_and_sources():
    """More than 64 of them: marks of features are shared then."""
    rng = np.random.default_rng(1)
    forest = random_forest(rng, "boosted", 200, 40, has_categories=False)
    forest = replace(forest, missing="nan")
    rows = rng.integers(0, 4, (60, 200)).astype(float)
    predictor = BudgetPredictor(forest, rng.choice([0.0, 1.0, 2.0], 200))
    simulation = predictor.simulate(rows)
    np.testing.assert_array_equal(simulation.label, forest.predict(rows))
    for i in range(0, 60, 10):
        decision = predictor.decide(dict(zip(predictor.feature_names, rows[i], strict=True)))
        assert decision.cost == simulation.cost[i]
        assert decision.label == simulation.label[i]


def test_deep_trees():
    """A chain of splits, each on another feature: deeper than any window."""
    n = 60
    node = np.arange(2 * n + 1)
    is_split = (node % 2 == 0) & (node < 2 * n)
    # In pre-order: split, its left leaf, the next split, ...
    forest = stumps(
        n,
        tree_start=[0, 2 * n + 1],
        parent=np.where(node == 0, -1, np.where(node % 2 == 0, node - 2, node - 1)),
        left=np.where(is_split, node + 1, -1),
        right=np.where(is_split, node + 2, -1),
        feature=np.where(is_split, node // 2, -1),
        threshold=np.where(is_split, 0.5, np.nan),
        missing_left=np.zeros(2 * n + 1, bool),
        category_set=np.full(2 * n + 1, -1),
        value=node[:, np.newaxis].astype(float),
        weight=np.ones(2 * n + 1),
        tree_output=[-1],
        origin_node=node,
    )
    rows = np.triu(np.ones((n, n)), 1)[::-1].copy()
    rows = np.vstack([rows, np.ones((1, n))])
    predictor = BudgetPredictor(forest)
    simulation = predictor.simulate(rows)
    np.testing.assert_array_equal(simulation.label, forest.predict(rows))
    np.testing.assert_array_equal(
        simulation.cost, [oracles.full_cost(forest, predictor.costs, row) for row in rows]
    )


def test_tables_are_read_by_name(clinic):
    table = pd.DataFrame([ROW, ROW | {"TSH": None}])
    simulation = clinic.simulate(table)
    np.testing.assert_array_equal(simulation.label, clinic.forest.predict(table))
    assert simulation.cost.tolist() == [10.0, 10.0]
    assert simulation.acquired.tolist() == [[True, True, True, True, False]] * 2
    with pytest.raises(InvalidInputError, match="another order"):
        clinic.simulate(table[list(NAMES[::-1])])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"known": ["blood"]}, "there is no source 'blood'"),
        ({"known": "draw"}, "known must be a list of names of sources, not 'draw'"),
        ({"known": None}, "known must be a list"),
        ({"max_cost": -1.0}, "max_cost must not be negative"),
        ({"X": [[1.0]]}, "1 feature"),
        ({"X": [[np.inf] * 6]}, "infinity"),
        ({"X": np.empty((0, 6))}, "no rows"),
    ],
)
def test_wrong_arguments(clinic, wrong, message):
    with pytest.raises(InvalidInputError, match=message):
        clinic.simulate(**({"X": [[1.0] * 6]} | wrong))


def test_it_says_what_it_is(clinic):
    assert repr(clinic.simulate([list(ROW.values())])) == "Simulation(1 rows, mean cost 10, 100.0% decided)"
