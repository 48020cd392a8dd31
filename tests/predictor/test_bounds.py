"""Bounds hold whatever comes: every prefix of acquisitions, completed in every way that a split can tell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetprune import BudgetPredictor, Decision, Forest

from ..solvers.strategies import examples
from ..uncompiled import UNCOMPILED
from . import oracles
from .forests import CLASSIFIERS, REGRESSIONS, TWO_CLASSES, Case, cases, random_forest, spoken, stumps

# Completions of a row that are tried; where kernels are plain Python, fewer.
AT_MOST = 40 if UNCOMPILED else 1500


def finals(predictor: BudgetPredictor, rows: np.ndarray) -> np.ndarray:
    """Probabilities of all classes, or targets, of shape (n_rows, n_classes)."""
    forest = predictor.forest
    return forest.predict_proba(rows) if forest.is_classifier else forest.predict(rows)[:, np.newaxis]


def known_values(case: Case, i: int, features: list[int]) -> dict[str, object]:
    return {f"x{k}": spoken(case.forest, k, case.rows[i, k]) for k in features}


def assert_bounded(decision: Decision, final: np.ndarray) -> None:
    assert np.all(decision.lower <= final.min(axis=0))
    assert np.all(final.max(axis=0) <= decision.upper)


@pytest.mark.uncompiled
@examples(150)
@given(case=cases(n_rows=1), data=st.data())
def test_every_prefix_in_any_order(case, data):
    """The bounds hold, shrink, and end at the final answer; what is decided stays decided."""
    predictor, forest = case.predictor(), case.forest
    order = data.draw(st.permutations(range(forest.n_features)))
    lower, upper = -np.inf, np.inf
    for n_known in range(forest.n_features + 1):
        features = list(order[:n_known])
        known = np.isin(np.arange(forest.n_features), features)
        decision = predictor.step({}, known=known_values(case, 0, features))
        rows = oracles.completions(forest, case.rows[0], known, AT_MOST)
        assert_bounded(decision, finals(predictor, rows))
        if decision.decided:
            possible = set(predictor.predict(rows).tolist())
            assert possible == {decision.label}
        # Knowing more never makes bounds wider, but for rounding.
        width = 1e-7 * (1 + np.abs(decision.lower) + np.abs(decision.upper))
        assert np.all(decision.lower >= lower - width)
        assert np.all(decision.upper <= upper + width)
        lower, upper = decision.lower, decision.upper
        if decision.probabilities is not None:
            assert decision.probabilities.sum() == pytest.approx(1.0)
            assert np.all(decision.lower <= decision.probabilities)
            assert np.all(decision.probabilities <= decision.upper)
        else:
            assert decision.lower[0] <= decision.label <= decision.upper[0]
    assert decision.reason == "complete"
    np.testing.assert_array_equal(lower, upper)
    np.testing.assert_array_equal(lower, finals(predictor, case.rows[:1])[0])


@pytest.mark.uncompiled
@examples(80)
@given(case=cases(TWO_CLASSES, n_rows=1), data=st.data())
def test_what_is_decided_is_decided_with_a_threshold_too(case, data):
    """Thresholds are taken from what the forest can answer, so that equality happens."""
    forest = case.forest
    nothing = np.zeros(forest.n_features, bool)
    possible = np.clip(
        forest.predict_proba(oracles.completions(forest, case.rows[0], nothing, 30))[:, 1], 0, 1
    )
    predictor = case.predictor(threshold=data.draw(st.sampled_from([0.0, 1.0, *possible.tolist()])))
    features = sorted(data.draw(st.sets(st.integers(0, forest.n_features - 1))))
    decision = predictor.step({}, known=known_values(case, 0, features))
    if decision.decided:
        known = np.isin(np.arange(forest.n_features), features)
        rows = oracles.completions(forest, case.rows[0], known, AT_MOST)
        assert set(predictor.predict(rows).tolist()) == {decision.label}


@pytest.mark.uncompiled
@examples(60)
@given(case=cases(REGRESSIONS, n_rows=2), tolerance=st.sampled_from([0.0, 0.1, 0.5, 2.0, np.inf]))
def test_targets_are_known_to_the_tolerance(case, tolerance):
    predictor = case.predictor(tolerance=tolerance)
    for i in range(2):
        decision = predictor.decide(case.named(i))
        final = case.forest.predict(case.rows[i : i + 1])[0]
        assert decision.decided
        assert abs(decision.label - final) <= tolerance * (1 + 1e-9) + 1e-12
        assert decision.lower[0] <= final <= decision.upper[0]
    simulation = predictor.simulate(case.rows)
    assert np.all(np.abs(simulation.label - case.forest.predict(case.rows)) <= tolerance * (1 + 1e-9) + 1e-12)
    if tolerance == np.inf:
        assert not simulation.cost.any()


@pytest.mark.uncompiled
@examples(60)
@given(case=cases(CLASSIFIERS, n_rows=2), slack=st.sampled_from([0.1, 0.3, 0.49]))
def test_slack_is_honest(case, slack):
    """It stops earlier, never later; its bounds still hold, and `reason` tells if the label could change."""
    patient, hasty = case.predictor(), case.predictor(slack=slack)
    for i in range(2):
        decision, sooner = patient.decide(case.named(i)), hasty.decide(case.named(i))
        assert sooner.decided
        assert set(sooner.acquired) <= set(decision.acquired)
        assert_bounded(sooner, case.forest.predict_proba(case.rows[i : i + 1]))
        if sooner.reason != "slack":
            assert sooner.label == decision.label


def test_bounds_are_tight_where_nothing_is_known():
    """Stumps that move a target by 1, 2 and 4 have all sums as answers."""
    decision = BudgetPredictor(stumps(3)).step({})
    np.testing.assert_allclose((decision.lower, decision.upper), [[0.0], [7.0]], atol=1e-8)
    decision = BudgetPredictor(stumps(3)).step({"x1": 1.0})
    np.testing.assert_allclose((decision.lower, decision.upper), [[2.0], [7.0]], atol=1e-8)


@pytest.mark.parametrize("threshold", [None, 0.3])
def test_shares_that_add_up_are_bounded_as_tightly_as_each_by_itself(threshold):
    """Two classes: the bounds of one share follow from those of the other; trees of one class each do not."""
    rng = np.random.default_rng(4)
    forest = random_forest(rng, "averaged", 4, 6, has_categories=False)
    second = rng.choice([0.0, 0.1, 0.5, 0.7, 1.0], forest.n_nodes)
    together = replace(forest, value=np.column_stack([1 - second, second]), missing="nan")
    apart = replace(together, value=together.value + [0.0, 1e-6] * rng.integers(0, 2, (forest.n_nodes, 1)))
    quick, slow = (BudgetPredictor(each, threshold=threshold) for each in (together, apart))
    assert quick._engine.probability_bounds._score_pair is not None
    assert slow._engine.probability_bounds._score_pair is None
    rows = rng.integers(0, 4, (10, 4)).astype(float)
    for row in rows:
        for n_known in range(5):
            values = {f"x{k}": row[k] for k in range(n_known)}
            one, other = quick.step(values), slow.step(values)
            np.testing.assert_allclose(one.lower, other.lower, atol=2e-6)
            np.testing.assert_allclose(one.upper, other.upper, atol=2e-6)


# --- Numbers of all sizes -----------------------------------------------------------------------------------


def rescaled(forest: Forest, size: float, base: float) -> Forest:
    return replace(forest, value=forest.value * size, base=np.full(forest.n_outputs, base))


@pytest.mark.parametrize("kind", ["regression", "regression, exp", "boosted", "boosted, three classes"])
@pytest.mark.parametrize(
    ("size", "base"),
    [
        (1e-300, 0.0),
        (1e-12, 0.0),
        (1e-12, 1.0),
        (1e-9, 1e9),
        (1e-9, -1e9),
        (1.0, 1e15),
        (1.0, -1e15),
        (1e9, 1e-9),
        (1e100, 0.0),
        (1e100, 1e-100),
        (1e300, -1e300),
        (0.0, 0.0),
        (0.0, 3.0),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # of plain forests, in exp
def test_answers_of_all_sizes(kind, size, base):
    """Trees that whisper beside a base that shouts, and the other way round."""
    rng = np.random.default_rng(1)
    forest = random_forest(rng, kind, 4, 5, has_categories=False)
    forest = rescaled(replace(forest, missing="nan"), size, base)
    predictor = BudgetPredictor(forest)
    rows = rng.integers(0, 4, (40, 4)).astype(float)
    plain = forest.predict(rows)
    simulation = predictor.simulate(rows)
    np.testing.assert_array_equal(simulation.label, plain)
    assert simulation.decided.all()
    final = finals(predictor, rows)
    for i in range(5):
        for n_known in range(5):
            decision = predictor.step({f"x{k}": rows[i, k] for k in range(n_known)})
            assert_bounded(decision, final[i : i + 1])
            assert not decision.decided or decision.label == plain[i]


@pytest.mark.parametrize("divisor", [1e-3, 1.0, 1e12])
@pytest.mark.parametrize("size", [1e-300, 1.0, 1e302])
@pytest.mark.parametrize("kind", ["regression", "regression, exp", "boosted", "softmax"])
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # of plain forests, in exp
def test_divisors_of_all_sizes(kind, size, divisor):
    """All that a forest may have: nothing overflows or vanishes on the way to an answer."""
    rng = np.random.default_rng(4)
    forest = rescaled(replace(random_forest(rng, kind, 4, 5), missing="nan", divisor=divisor), size, 0.0)
    predictor = BudgetPredictor(forest)
    rows = rng.integers(0, 4, (40, 4)).astype(float)
    simulation = predictor.simulate(rows)
    assert simulation.decided.all()
    np.testing.assert_array_equal(simulation.label, forest.predict(rows))
    for row in rows[:5]:
        decision = predictor.decide({f"x{k}": row[k] for k in range(4)})
        assert_bounded(decision, finals(predictor, row[np.newaxis]))


@pytest.mark.parametrize("kind", ["boosted", "boosted, three classes", "softmax", "regression"])
def test_one_loud_leaf_does_not_drown_the_others(kind):
    """A leaf of 1e6 among leaves of 1e-3: the bounds must still tell the small ones apart in the end."""
    rng = np.random.default_rng(2)
    forest = random_forest(rng, kind, 4, 6, has_categories=False)
    value = forest.value * 1e-3
    value[np.flatnonzero(~forest.is_split)[0]] = 1e6
    forest = replace(forest, value=value, missing="nan")
    rows = rng.integers(0, 4, (200, 4)).astype(float)
    predictor = BudgetPredictor(forest)
    simulation = predictor.simulate(rows)
    np.testing.assert_array_equal(simulation.label, forest.predict(rows))
    for i in range(20):
        decision = predictor.decide({f"x{k}": rows[i, k] for k in range(4)})
        assert decision.label == simulation.label[i]
        assert_bounded(decision, finals(predictor, rows[i : i + 1]))


@pytest.mark.parametrize("n_trees", [7, 1000])
def test_ties_that_rounding_hides(n_trees):
    """Tenths do not add up exactly: a tie on paper falls to one side, and it must be the plain one."""
    rng = np.random.default_rng(3)
    forest = random_forest(rng, "softmax, three classes", 3, n_trees, has_categories=False)
    value = rng.choice([0.1, 0.2, 0.3, -0.1, -0.2, -0.3], forest.value.shape)
    forest = replace(forest, value=value, base=np.zeros(3), missing="nan", divisor=1.0)
    rows = rng.integers(0, 4, (64, 3)).astype(float)
    np.testing.assert_array_equal(BudgetPredictor(forest).simulate(rows).label, forest.predict(rows))


def test_targets_beyond_all_numbers():
    """Bounds of an exponential target may be infinite; that is no error."""
    forest = stumps(3)
    forest = replace(
        forest, value=np.where(forest.is_split, 0.0, 400 * forest.value[:, 0])[:, None], link="exp"
    )
    decision = BudgetPredictor(forest).step({})
    assert decision.upper == np.inf
    assert BudgetPredictor(forest).decide({"x0": 0.0, "x1": 0.0, "x2": 0.0}).label == 1.0
