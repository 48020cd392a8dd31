"""Which source next: the rule of `BudgetPredictor`'s docstring, in plain Python, against the kernels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetprune import BudgetPredictor, FeatureCosts
from budgetprune.predictor.rules import ORDERS

from ..solvers.strategies import examples
from . import oracles
from .forests import PRICED, REGRESSIONS, TWO_CLASSES, Case, cases, spoken, stumps

pytestmark = pytest.mark.uncompiled

DATA = st.data()


def best_of(found: dict[int, tuple[float, float, str]]) -> set[str]:
    """First sources of the features with the greatest gain per unit of cost; several if they tie."""
    rates = {k: gain / price for k, (gain, price, _) in found.items()}
    best = max(rates.values())
    # Sums are rounded, here and there.
    return {found[k][2] for k, rate in rates.items() if rate >= best - 1e-6 * abs(best) - 1e-9}


def acquired_at_random(case: Case, predictor: BudgetPredictor, data: st.DataObject):
    """Some sources are there; features that need no others are known."""
    acquired = data.draw(st.sets(st.sampled_from(predictor.source_names)))
    needs = [set(oracles.sources_of(predictor.costs, k)) for k in range(case.forest.n_features)]
    known = np.array([need <= acquired for need in needs])
    values = {f"x{k}": spoken(case.forest, k, case.rows[0, k]) for k in np.flatnonzero(known)}
    return acquired, known, values


@examples(250)
@given(case=cases(prices=PRICED, n_rows=1), order=st.sampled_from(ORDERS), ahead=st.integers(0, 3), data=DATA)
def test_the_greatest_need_per_unit_of_cost(case, order, ahead, data):
    predictor = case.predictor(order=order, look_ahead=ahead)
    acquired, known, values = acquired_at_random(case, predictor, data)
    decision = predictor.step(values, acquired=acquired)
    found = oracles.ratings(predictor, case.forest.prepare_rows(case.rows)[0], known, acquired)
    if decision.next is None:
        assert decision.decided
        assert not found or decision.reason == "certain"
    else:
        assert decision.next in best_of(found)


@examples(80)
@given(case=cases(TWO_CLASSES, prices=PRICED, n_rows=1), threshold=st.sampled_from([0.2, 0.6]), data=DATA)
def test_with_a_threshold(case, threshold, data):
    """What is at stake is the score that the threshold cuts."""
    predictor = case.predictor(threshold=threshold)
    acquired, known, values = acquired_at_random(case, predictor, data)
    decision = predictor.step(values, acquired=acquired)
    if decision.next is not None:
        row = case.forest.prepare_rows(case.rows)[0]
        assert decision.next in best_of(oracles.ratings(predictor, row, known, acquired))


@examples(120)
@given(
    case=cases(REGRESSIONS, prices=PRICED, n_rows=1),
    money=st.sampled_from([0.0, 0.3, 1.0, 1.3, 2.0, 3.0]),
    data=DATA,
)
def test_only_what_still_fits_is_considered(case, money, data):
    """A feature that needs several sources is considered only if all of them fit."""
    predictor = case.predictor()
    acquired, known, values = acquired_at_random(case, predictor, data)
    spent = sum(oracles.price_of(predictor.costs, s) for s in acquired)
    decision = predictor.step(values, acquired=acquired, max_cost=spent + money)
    row = case.forest.prepare_rows(case.rows)[0]
    found = oracles.ratings(predictor, row, known, acquired, money)
    if decision.next is not None:
        assert decision.next in best_of(found)
    elif decision.reason == "max_cost":
        assert not found
    else:
        assert decision.decided


@examples(120)
@given(case=cases(prices=PRICED, n_rows=1), data=DATA)
def test_what_cannot_be_had_is_not_asked_for(case, data):
    predictor = case.predictor()
    lost = data.draw(st.sets(st.sampled_from(predictor.source_names)))
    decision = predictor.step({}, unavailable=lost)
    nothing = np.zeros(case.forest.n_features, bool)
    found = oracles.ratings(predictor, case.rows[0], nothing, set())
    found = {
        k: rating for k, rating in found.items() if not lost & set(oracles.sources_of(predictor.costs, k))
    }
    if decision.next is not None:
        assert decision.next in best_of(found)
    else:
        assert decision.decided or (decision.reason == "unavailable" and not found)


# --- By hand ------------------------------------------------------------------------------------------------


def test_the_price_counts():
    """x2 moves the target most, until it costs too much for that."""
    assert BudgetPredictor(stumps(3), [1.0, 1.0, 1.0]).step({}).next == "x2"
    assert BudgetPredictor(stumps(3), [1.0, 1.0, 2.1]).step({}).next == "x1"
    assert BudgetPredictor(stumps(3), [0.2, 1.0, 2.1]).step({}).next == "x0"


def test_orders():
    """Trees that count alike leave the choice to the prices; their ranges, or a look ahead, do not."""
    prices = [1.0, 0.9, 1.0]
    assert BudgetPredictor(stumps(3), prices, order="waiting").step({}).next == "x1"
    assert BudgetPredictor(stumps(3), prices, order="range").step({}).next == "x2"
    assert BudgetPredictor(stumps(3), prices).step({}).next == "x2"


def test_free_things_come_first():
    assert BudgetPredictor(stumps(3), [0.0, 1.0, 1.0]).step({}).next == "x0"


def test_a_shared_source_is_worth_all_that_it_gives():
    shared = FeatureCosts([0.0, 0.0, 1.5], groups=["g", "g", None], group_costs={"g": 1.0})
    assert BudgetPredictor(stumps(3), shared).step({}).next == "g"
    alone = FeatureCosts([0.0, 1.0, 1.0], groups=["g", None, None], group_costs={"g": 1.0})
    assert BudgetPredictor(stumps(3), alone).step({}).next == "x2"


def test_the_source_that_most_features_need_comes_first():
    """x2 is worth its own price and that of the draw; the draw serves others too, so it comes first."""
    costs = FeatureCosts([1.0, 1.0, 1.0], groups=["draw"] * 3, group_costs={"draw": 1.0})
    predictor = BudgetPredictor(stumps(3), costs)
    assert predictor.step({}).next == "draw"
    assert predictor.step({}, acquired=["draw"]).next == "x2"


def test_ties_go_to_the_cheaper_one():
    """Gains of 1, 2 and 4 at prices of 1, 2 and 4."""
    assert BudgetPredictor(stumps(3), [1.0, 2.0, 4.0]).step({}).next == "x0"


def test_setup_costs_make_a_feature_less_attractive():
    costs = FeatureCosts.from_sources({"setup": 5.0, "a": 1.0, "b": 1.0}, {0: "a", 1: "b", 2: ["setup", "b"]})
    assert BudgetPredictor(stumps(3), costs).step({}).next == "b"
