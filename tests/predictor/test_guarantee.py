"""What is promised: without slack, the label of the plain forest, for never more than its full cost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier

from budgetprune import BudgetPredictor, FeatureCosts, Forest
from budgetprune.predictor.rules import ORDERS
from budgetprune.problem.acquisition import sources_used
from budgetprune.refit import refit

from ..forest.adapters.lightgbm import zoo as lightgbm_zoo
from ..forest.adapters.xgboost import zoo as xgboost_zoo
from ..forest.conftest import build_case
from ..solvers.strategies import examples
from . import oracles
from .forests import KINDS, TWO_CLASSES, Case, cases, random_bundles, random_forest, random_rows, stumps

THRESHOLDS = [0.0, 0.25, 1 / 3, 0.5, 0.75, 1.0]


def assert_guaranteed(case: Case, **settings) -> None:
    """Every row has the plain answer, what it acquires is on its paths, and all of it is accounted for."""
    predictor, forest = case.predictor(**settings), case.forest
    simulation = predictor.simulate(case.rows)
    plain = [oracles.plain_label(forest, row, predictor.threshold) for row in forest.prepare_rows(case.rows)]
    np.testing.assert_array_equal(simulation.label, plain)
    np.testing.assert_array_equal(predictor.predict(case.rows), plain)
    assert simulation.decided.all()
    names = np.array(predictor.source_names)
    for i, row in enumerate(forest.prepare_rows(case.rows)):
        acquired = set(names[simulation.acquired[i]])
        assert acquired <= oracles.sources_needed(forest, predictor.costs, row)
        assert simulation.cost[i] == pytest.approx(
            sum(oracles.price_of(predictor.costs, s) for s in acquired)
        )


@pytest.mark.uncompiled
@examples(400)
@given(case=cases(), order=st.sampled_from(ORDERS), ahead=st.sampled_from([0, 1, 2, 6]))
def test_the_label_is_the_plain_one(case, order, ahead):
    assert_guaranteed(case, order=order, look_ahead=ahead)


@pytest.mark.uncompiled
@examples(150)
@given(case=cases(TWO_CLASSES), data=st.data())
def test_the_label_is_the_plain_one_with_a_threshold(case, data):
    """Also with thresholds that are exactly the probability of some row, or one step beside it."""
    rows = case.forest.prepare_rows(case.rows)
    exact = [float(np.clip(oracles.plain_probabilities(case.forest, row)[1], 0, 1)) for row in rows]
    near = [float(np.clip(np.nextafter(p, to), 0, 1)) for p in exact for to in (0, 1)]
    assert_guaranteed(case, threshold=data.draw(st.sampled_from(THRESHOLDS + exact + near)))


@pytest.mark.uncompiled
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind(kind):
    """All kinds in turn, so that none depends on what hypothesis happens to draw."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        forest = random_forest(rng, kind, 4, 5)
        assert_guaranteed(Case(forest, random_bundles(rng, 4), random_rows(rng, forest, 8)))


# --- Forests that libraries have grown ----------------------------------------------------------------------

GROWN = [
    "random forest",
    "random forest, two classes",
    "random forest, one class",
    "random forest, missing",
    "extra trees",
    "tree, missing, best first",
    "bag, missing classes",
    "regression forest",
    "regression bag",
    "boosting",
    "boosting, three classes",
    "hist",
    "hist, three classes",
    "hist, poisson",
]
LIGHTGBM = [
    "binary",
    "binary, zero is missing",
    "binary, random forest",
    "multiclass",
    "multiclass, random forest",
    "regression, far from zero",
    "poisson",
    "classifier, three classes",
]
XGBOOST = ["logistic, missing", "logistic, categories", "random forest", "softmax", "squared", "gamma"]


def assert_guaranteed_on(forest: Forest, rows: np.ndarray, threshold: float | None = None) -> None:
    """For all rows at once; every feature but the first two has a price, and the last two share a source."""
    rows = rows[:400]
    price = np.arange(forest.n_features) % 3 + 1.0
    price[:2] = 0.0
    groups = [None] * (forest.n_features - 2) + ["g", "g"]
    costs = FeatureCosts(price, groups=groups, group_costs={"g": 2.5})
    costs = costs.resolve(forest.n_features, forest.feature_names)
    predictor = BudgetPredictor(forest, costs, threshold=threshold)
    simulation = predictor.simulate(rows)
    np.testing.assert_array_equal(simulation.label, predictor.predict(rows))
    assert simulation.decided.all()
    full = sources_used(forest, costs, rows)
    assert not np.any(simulation.acquired & ~full)
    assert np.all(simulation.cost <= costs.total(full))
    if forest.is_classifier and forest.n_trees > 1 and forest.classes.size > 1:
        assert simulation.cost.sum() < costs.total(full).sum()


@pytest.mark.parametrize("name", GROWN)
def test_forests_of_scikit_learn(name):
    case = build_case(name)
    assert_guaranteed_on(case.forest, case.rows)


@pytest.mark.parametrize("name", LIGHTGBM)
def test_forests_of_lightgbm(name):
    case = lightgbm_zoo.build(name)
    assert_guaranteed_on(case.forest, case.rows)


@pytest.mark.parametrize("name", XGBOOST)
def test_forests_of_xgboost(name):
    case = xgboost_zoo.build(name)
    assert_guaranteed_on(case.forest, case.rows)


@pytest.mark.parametrize("name", ["random forest, two classes", "hist"])
@pytest.mark.parametrize("threshold", [0.0, 0.2, 0.5, 0.9, 1.0])
def test_thresholds(name, threshold):
    case = build_case(name)
    assert_guaranteed_on(case.forest, case.rows, threshold)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_forests_whose_leaves_were_refitted(n_classes):
    """The softmax of sums: two scores whose difference counts, or three."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (200, 5)).astype(float)
    y = np.digitize(X @ [1, 1, -1, 0.5, 0] + rng.normal(size=200), [1.5, 4.0][: n_classes - 1])
    model = RandomForestClassifier(15, max_depth=4, random_state=0).fit(X, y)
    forest = refit(Forest.from_model(model), X, y, kind="softmax", ridge=1.0).forest
    assert forest.link == "softmax"
    assert_guaranteed_on(forest, X)


@pytest.mark.uncompiled
@pytest.mark.parametrize("answers", [(2.0, 0.0, 1.0), (1.0, 0.0, 1.0), (0.5, 0.0, 1.0)])
def test_a_leader_who_may_be_caught_up_with(answers):
    """The last class has its score for certain; the first may reach it, and wins ties as it comes first."""
    last, low, high = answers
    forest = stumps(
        1,
        tree_start=[0, 1, 4],
        parent=[-1, -1, 1, 1],
        left=[-1, 2, -1, -1],
        right=[-1, 3, -1, -1],
        feature=[-1, 0, -1, -1],
        threshold=[np.nan, 0.5, np.nan, np.nan],
        missing_left=np.zeros(4, bool),
        category_set=np.full(4, -1),
        value=[[last], [low], [low], [high]],
        weight=np.ones(4),
        origin_node=np.arange(4),
        tree_output=[2, 0],
        base=[0.0, -9.0, 0.0],
        link="softmax",
        classes=np.array(["first", "never", "last"]),
    )
    predictor = BudgetPredictor(forest)
    assert predictor.step({}).decided == (last > high)
    assert predictor.decide({"x0": 1.0}).label == ("last" if last > high else "first")
    assert predictor.decide({"x0": 0.0}).label == "last"


def test_votes_that_tie():
    """An even number of one-hot trees: half of all rows are ties, which go to the first class."""
    rng = np.random.default_rng(5)
    forest = random_forest(rng, "votes", 6, 2, has_categories=False)
    forest = replace(forest, missing="nan")
    rows = rng.integers(0, 4, (400, 6)).astype(float)
    scores = forest.scores(rows)
    assert np.mean(scores[:, 0] == scores[:, 1]) > 0.1
    assert_guaranteed_on(forest, rows)
