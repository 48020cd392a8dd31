"""`decide` and `step`: one source after the other, whoever brings them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from budgetprune import BudgetPredictor, Decision, FeatureCosts, Forest
from budgetprune.predictor.rules import ORDERS

from ..solvers.strategies import examples
from . import oracles
from .conftest import ROW
from .forests import PRICED, LookedUp, by_source, cases, stumps

pytestmark = pytest.mark.uncompiled


def repeated_steps(predictor: BudgetPredictor, row: Mapping[str, Any], **settings: Any) -> Decision:
    """Be the client of a stateless service: send all that was acquired, get told what is next."""
    acquired: list[str] = []
    free: list[str] = []
    while True:
        values = {
            name: row[name]
            for name in predictor.feature_names
            if set(oracles.sources_of(predictor.costs, predictor.feature_names.index(name))) <= set(acquired)
            and (oracles.sources_of(predictor.costs, predictor.feature_names.index(name)) or name in free)
        }
        decision = predictor.step(values, acquired=acquired, **settings)
        if decision.next is None:
            return decision
        (acquired if decision.next in predictor.source_names else free).append(decision.next)


def assert_same(one: Decision, other: Decision, *, in_order: bool = True) -> None:
    assert one.label == other.label
    assert one.cost == pytest.approx(other.cost)
    assert set(one.acquired) == set(other.acquired)
    assert not in_order or one.acquired == other.acquired
    assert (one.decided, one.reason) == (other.decided, other.reason)
    np.testing.assert_allclose(one.lower, other.lower)
    np.testing.assert_allclose(one.upper, other.upper)
    if one.probabilities is not None:
        np.testing.assert_allclose(one.probabilities, other.probabilities)


SETTINGS = st.fixed_dictionaries(
    {
        "slack": st.sampled_from([0.0, 0.0, 0.2, 0.45]),
        "max_cost": st.sampled_from([None, 0.0, 0.3, 1.0, 2.3, 4.0]),
        "order": st.sampled_from(ORDERS),
    }
)


@examples(200)
@given(case=cases(prices=PRICED, n_rows=3), settings=SETTINGS)
def test_all_ways_to_ask_are_the_same(case, settings):
    """A table, a mapping, a callable and a client that starts anew with each request."""
    predictor = case.predictor(**settings)
    simulation = predictor.simulate(case.rows)
    names = np.array(predictor.source_names)
    for i in range(len(case.rows)):
        row = case.named(i)
        decision = predictor.decide(by_source(predictor, row))
        assert simulation.label[i] == decision.label
        assert simulation.cost[i] == pytest.approx(decision.cost)
        assert set(names[simulation.acquired[i]]) == set(decision.acquired)
        assert simulation.decided[i] == decision.decided
        assert_same(decision, predictor.decide(row))
        assert_same(decision, predictor.decide(LookedUp(row)))
        assert_same(decision, repeated_steps(predictor, row), in_order=False)


@examples(150)
@given(case=cases(n_rows=3), settings=SETTINGS)
def test_what_is_free_is_at_hand(case, settings):
    """A table and mappings of any kind have free features from the start; a callable is given them."""
    predictor = case.predictor(**settings)
    simulation = predictor.simulate(case.rows)
    names, needs = np.array(predictor.source_names), predictor.costs
    free = [
        name
        for k, name in enumerate(predictor.feature_names)
        if all(oracles.price_of(needs, s) == 0 for s in oracles.sources_of(needs, k))
    ]
    for i in range(len(case.rows)):
        row = case.named(i)
        decision = predictor.decide(row)
        assert simulation.label[i] == decision.label
        assert simulation.cost[i] == pytest.approx(decision.cost)
        assert set(names[simulation.acquired[i]]) == set(decision.acquired)
        assert simulation.decided[i] == decision.decided
        assert_same(decision, predictor.decide(LookedUp(row)))
        assert_same(decision, predictor.decide(row, known={name: row[name] for name in free}))


@examples(100)
@given(case=cases(n_rows=2))
def test_free_features_are_asked_for_by_name_if_a_tree_waits(case):
    predictor = case.predictor()
    for i, row in enumerate(case.forest.prepare_rows(case.rows)):
        asked: list[str] = []
        decision = predictor.decide(by_source(predictor, case.named(i), asked))
        assert len(asked) == len(set(asked))
        assert set(decision.acquired) <= set(asked)
        assert decision.label == oracles.plain_label(case.forest, row)
        assert set(decision.acquired) <= oracles.sources_needed(case.forest, predictor.costs, row)
        assert decision.cost == pytest.approx(
            sum(oracles.price_of(predictor.costs, s) for s in decision.acquired)
        )


@examples(100)
@given(case=cases(n_rows=2), data=st.data())
def test_known_values_are_free_and_change_no_label(case, data):
    """Whatever is known, the answer is the plain one, and no source is paid for that a known value needs."""
    predictor = case.predictor()
    known = data.draw(st.sets(st.sampled_from(predictor.feature_names)))
    paid_for = {s for name in known for s in needs_of(predictor, name)}
    for i, row in enumerate(case.forest.prepare_rows(case.rows)):
        named = case.named(i)
        given_values = {name: named[name] for name in known}
        for fetch in (by_source(predictor, named), named, LookedUp(named)):
            decision = predictor.decide(fetch, known=given_values)
            assert decision.decided
            assert decision.label == oracles.plain_label(case.forest, row)
            assert not set(decision.acquired) & paid_for
            assert set(decision.acquired) <= oracles.sources_needed(case.forest, predictor.costs, row)


def needs_of(predictor: BudgetPredictor, name: str) -> list[str]:
    return oracles.sources_of(predictor.costs, predictor.feature_names.index(name))


@examples(100)
@given(case=cases(n_rows=2), money=st.sampled_from([0.0, 0.1, 0.3, 1.0, 1.3, 2.0, 3.0]))
def test_an_example_never_costs_more_than_it_may(case, money):
    """And where money stops it, the best guess is between bounds that hold."""
    predictor = case.predictor()
    simulation = predictor.simulate(case.rows, max_cost=money)
    assert np.all(simulation.cost <= money + 1e-9)
    for i, row in enumerate(case.forest.prepare_rows(case.rows)):
        decision = predictor.decide(by_source(predictor, case.named(i)), max_cost=money)
        assert decision.cost <= money + 1e-9
        final = oracles.plain_probabilities(case.forest, row)
        assert np.all(decision.lower <= final)
        assert np.all(final <= decision.upper)
        if decision.decided:
            assert decision.label == oracles.plain_label(case.forest, row)
        else:
            assert decision.reason == "max_cost"
            assert decision.next is None
        if decision.probabilities is not None:
            assert np.all(decision.lower <= decision.probabilities)
            assert np.all(decision.probabilities <= decision.upper)


def test_small_prices_add_up_to_a_large_budget():
    """What is left of a large sum is not exact; all ways to ask must agree on what still fits."""
    predictor = BudgetPredictor(stumps(3), [1e6 - 0.2, 0.1, 0.1], max_cost=1e6)
    row = {"x0": 1.0, "x1": 1.0, "x2": 1.0}
    expected = predictor.simulate([[1.0, 1.0, 1.0]])
    decision = predictor.decide(by_source(predictor, row))
    assert decision.reason == "complete"
    assert expected.decided[0]
    assert decision.cost == pytest.approx(1e6)


def test_more_spent_than_allowed_still_gets_what_is_free(clinic):
    """A client may send values that cost more than the limit: no price fits any more, but free ones do."""
    spent = {name: ROW[name] for name in ("TSH", "T3", "TT4", "index")}
    decision = clinic.step(spent, max_cost=1.0)
    assert decision.cost == 10.0
    assert decision.next in ("age", "register")
    assert clinic.step(ROW, max_cost=1.0).reason == "complete"


# --- What a source gives ------------------------------------------------------------------------------------


def test_setup_costs_are_paid_once(clinic):
    asked: list[str] = []
    decision = clinic.decide(by_source(clinic, ROW, asked))
    assert sorted(decision.acquired) == ["T3", "TSH", "TT4", "draw"]
    assert decision.cost == 10.0
    assert {"age", "register"} <= set(asked)
    assert not {"age", "register"} & set(decision.acquired)


def fetch_one_by_one(source: str) -> Any:
    """Single values, nothing for the blood draw, and the derived feature with its last input."""
    if source == "TT4":
        return {"TT4": ROW["TT4"], "index": ROW["index"]}
    return {"draw": None, "register": ROW["sex"]}.get(source, ROW.get(source))


def test_single_values_and_none(clinic):
    assert_same(clinic.decide(fetch_one_by_one), clinic.decide(by_source(clinic, ROW)))


def test_values_that_come_early_are_kept_but_not_known(clinic):
    """A careless source brings all there is. What is not paid for must not decide anything."""
    careless = clinic.decide(lambda source: dict(ROW))
    assert_same(careless, clinic.decide(by_source(clinic, ROW)))


@pytest.mark.parametrize("late", [{}, {"T3": None}, {"T3": 3.0}])
def test_early_values_can_be_replaced_until_they_are_known(clinic, late):
    def fetch(source: str) -> Any:
        early = {"T3": 0.0} if source == "draw" else {}
        if source == "T3":
            return late
        return early | {name: ROW[name] for name in clinic.features_of(source) if name != "T3"}

    expected = clinic.decide(by_source(clinic, ROW | {"T3": 0.0} | late))
    assert clinic.decide(fetch).label == expected.label
    np.testing.assert_allclose(clinic.decide(fetch).lower, expected.lower)


def test_known_values_do_not_change(clinic):
    """What decisions were built on stays, even if a source brings something else later on."""
    other = by_source(clinic, ROW | {"index": 0.0})
    assert ROW["index"] == 1.0
    assert clinic.decide(other, known={"index": 1.0}).label == clinic.decide(ROW).label


def test_a_known_value_opens_its_sources_for_others(clinic):
    """The index is known, so TT4 and the draw are free; they are asked for where other features need them."""
    asked: list[str] = []
    decision = clinic.decide(by_source(clinic, ROW, asked), known={"index": ROW["index"]})
    assert decision.reason == "complete"
    assert "TT4" in asked
    assert sorted(decision.acquired) == ["T3", "TSH"]
    assert decision.cost == 3.0


def test_step_asks_again_for_what_a_source_has_kept_back(clinic):
    """TT4 and the draw are paid for, so there should be an index: it is asked for, at no cost."""
    values = {name: value for name, value in ROW.items() if name != "index"}
    decision = clinic.step(values, max_cost=10.0)
    assert decision.next == "TT4"
    assert decision.cost == 10.0
    assert clinic.step(values, unavailable=["TT4"]).reason == "unavailable"
    assert clinic.step(ROW).reason == "complete"


def test_step_counts_what_was_paid_for_in_vain(clinic):
    decision = clinic.step({"age": 1.0}, acquired=["draw"])
    assert decision.acquired == ("draw",)
    assert decision.cost == 4.0
    assert clinic.step({"T3": 1.0}, acquired=["draw"]).cost == 5.0
    assert clinic.step({"T3": 1.0}, known={"TSH": 1.0}).cost == 1.0


def test_step_without_a_source(clinic):
    """What cannot be had is not asked for, nor what is of no use without it."""
    values: dict[str, Any] = {}
    while (decision := clinic.step(values, unavailable=["draw"])).next is not None:
        assert decision.next not in ("draw", "TSH", "T3")
        values |= {name: ROW[name] for name in clinic.features_of(decision.next) if name != "index"}
    assert decision.reason == "unavailable"
    assert decision.acquired == ("TT4",)
    assert not decision.decided


def test_known_values_below_a_test_of_an_unavailable_source_count():
    """All roots test x0, which is not available; x1 decides on both sides."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 2)).astype(float)
    y = (2 * X[:, 0] + X[:, 1] >= 2) ^ (rng.random(400) < 0.1)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    predictor = BudgetPredictor(Forest.from_model(tree))
    assert tree.tree_.feature[0] == 0
    found = [predictor.step({"x1": value}, unavailable=["x0"]) for value in (0.0, 1.0)]
    assert [decision.reason for decision in found] == ["unavailable"] * 2
    share = (X[:, 0] == 0).sum() + 1  # smoothed, as `expected_values` does
    for decision, value in zip(found, (0.0, 1.0), strict=True):
        low, high = (tree.predict_proba([[x0, value]])[0] for x0 in (0.0, 1.0))
        np.testing.assert_allclose(decision.probabilities, low + (high - low) * (402 - share) / 402)
        assert np.all(decision.lower <= decision.probabilities)
        assert np.all(decision.probabilities <= decision.upper)
    assert found[0].probabilities[1] != found[1].probabilities[1]


def test_rows_of_a_pandas_table(clinic):
    row = pd.Series(ROW)
    assert_same(clinic.decide(row), clinic.decide(ROW))
    assert_same(
        clinic.step(row[["age"]], known=row[["TSH"]]),
        clinic.step({"age": ROW["age"]}, known={"TSH": ROW["TSH"]}),
    )


def test_sources_without_a_price_are_remembered_if_named():
    """Whoever sends back what `step` returned, and the next source, comes to an end."""
    costs = FeatureCosts.from_sources({"a": 0, "b": 0, "c": 1}, {k: ["a", "b", "c"] for k in range(2)})
    predictor = BudgetPredictor(stumps(2), costs)
    asked: tuple[str, ...] = ()
    while (decision := predictor.step({}, acquired=asked)).next != "c":
        assert decision.next not in asked
        asked = (*decision.acquired, decision.next)
    assert set(decision.acquired) == {"a", "b"}
    assert (decision.cost, decision.next_cost) == (0.0, 1.0)
