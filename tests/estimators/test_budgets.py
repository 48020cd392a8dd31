"""Which pruning is taken, what it costs, and what others would have cost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import log_loss

from budgetprune import FeatureCosts, Forest, PruningProblem
from budgetprune.errors import BudgetWarning, InvalidInputError
from budgetprune.estimators import BudgetPruneClassifier, BudgetPruneRegressor
from budgetprune.selection import LabelledRows, halves
from budgetprune.selection import fold as fold_module
from budgetprune.selection import tradeoff as tradeoff_module
from budgetprune.selection.tradeoff import MAX_POINTS, evenly_spaced

from .rows import N_FEATURES, draw, draw_targets, same_trees, sources_by_walking

FIXED = {"error": "held-out", "loss": "misclassification", "refit": None, "random_state": 0}
COSTS = {
    "unit": None,
    "own": [1.0, 2.0, 0.5, 4.0, 0.0, 1.0],
    "groups": FeatureCosts(
        [1.0, 1.0, 2.0, 0.0, 1.0, 1.0],
        groups=["blood", "blood", None, "scan", "scan", None],
        group_costs={"blood": 3.0, "scan": 2.0},
    ),
    "sources": FeatureCosts.from_sources(
        {"raw": 2.0, "other": 1.0, "third": 1.5, "unused": 9.0},
        {0: "other", 1: "raw", 2: ["raw", "other"], 3: "third", 4: None, 5: "third"},
    ),
}


def forest():
    return RandomForestClassifier(6, max_depth=5, random_state=0)


@pytest.fixture(scope="module")
def rows():
    return draw(300)


@pytest.fixture(scope="module")
def val():
    return draw(150, seed=1)


def fitted(rows, val, **parameters):
    model = BudgetPruneClassifier(**{"estimator": forest(), **FIXED, **parameters})
    return model.fit(*rows, X_val=val[0], y_val=val[1])


def problem_of(model, rows, val, **options):
    return PruningProblem(
        Forest.from_model(model.estimator_),
        *val,
        X_train=rows[0],
        y_train=rows[1],
        **{"error": "held-out", "loss": "misclassification", "costs": model.costs, **options},
    )


# --- The point ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("costs", "budget"),
    [("unit", 2.0), ("unit", 3.5), ("own", 2.0), ("groups", 5.0), ("groups", 9.0), ("sources", 3.0)],
)
def test_budget_holds_on_the_validation_rows(rows, val, costs, budget):
    model = fitted(rows, val, costs=COSTS[costs], budget=budget)
    assert model.acquisition_cost(val[0]).mean() <= budget * (1 + 1e-9)
    assert model.cost_ == pytest.approx(model.acquisition_cost(val[0]).mean())
    expected = problem_of(model, rows, val).path().at(budget=budget)
    assert same_trees(model.forest_, expected.forest)
    assert model.lambda_ == expected.lam


@pytest.mark.parametrize("weighted", [False, True])
def test_budget_holds_for_weighted_rows(rows, val, weighted):
    weight = np.where(val[0][:, 0] > 0, 10.0, 0.1) if weighted else None
    model = BudgetPruneClassifier(forest(), budget=2.0, **FIXED)
    model.fit(*rows, X_val=val[0], y_val=val[1], sample_weight_val=weight)
    cost = np.average(model.acquisition_cost(val[0]), weights=weight)
    assert model.cost_ == pytest.approx(cost)
    assert cost <= 2.0 + 1e-9


@pytest.mark.parametrize("lam", [0.0, 0.004, 0.02])
def test_lam_is_the_point_of_the_path(rows, val, lam):
    model = fitted(rows, val, lam=lam)
    expected = problem_of(model, rows, val).path().at(lam=lam)
    assert same_trees(model.forest_, expected.forest)
    assert same_trees(model.path_.at(lam=lam).forest, expected.forest)
    assert model.lambda_ == lam
    assert model.cost_ == pytest.approx(expected.cost)


@pytest.mark.parametrize("solver", ["lp", "primal-dual"])
def test_other_solvers_solve_for_one_lam(rows, val, solver):
    few = (val[0][:40], val[1][:40])
    model = fitted(rows, few, lam=0.02, solver=solver)
    problem = problem_of(model, rows, few)
    reached = problem.objective(problem.solve(0.02, solver=solver).keep, 0.02)
    assert model.path_.objective.tolist() == pytest.approx([reached])
    assert same_trees(model.path_.at(lam=0.02).forest, model.forest_)
    if solver == "lp":
        assert reached == pytest.approx(problem.objective(problem.solve(0.02).keep, 0.02))
    with pytest.raises(InvalidInputError, match="one point of the path only"):
        model.with_budget(2.0)


def test_without_a_wish_the_best_score_is_taken(rows, val):
    model = fitted(rows, val)
    best = np.flatnonzero(model.tradeoff_.score == model.tradeoff_.score.max())
    assert model.lambda_ == model.tradeoff_.lam[best[-1]]
    assert model.cost_ == model.tradeoff_.cost[best[-1]]


def test_budget_that_buys_nothing_warns(rows, val):
    with pytest.warns(BudgetWarning, match="buys nothing"):
        model = fitted(rows, val, budget=0.1)
    assert model.forest_.n_splits == 0
    assert not model.acquisition_cost(val[0]).any()


# --- Costs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("costs", COSTS)
def test_costs_are_those_of_a_walk_through_all_trees(rows, val, costs):
    few = RandomForestClassifier(2, max_depth=3, random_state=0)
    model = fitted(rows, val, costs=COSTS[costs], lam=0.002, estimator=few)
    table = FeatureCosts.of(COSTS[costs]).resolve(N_FEATURES)
    X = draw(40, seed=2)[0]
    used = sources_by_walking(model.forest_, table, X)
    priced = table.price > 0
    assert np.array_equal(model.sources_used(X)[:, priced], used[:, priced])
    assert model.acquisition_cost(X) == pytest.approx(used @ table.price)
    assert model.acquisition_cost(X).std() > 0
    assert model.source_names_ == table.source_names == model.path_.source_names


def test_names_of_sources(rows, val):
    assert fitted(rows, val, lam=0.1).source_names_ == ("x0", "x1", "x2", "x3", "x4", "x5")
    names = fitted(rows, val, lam=0.1, costs=COSTS["groups"]).source_names_
    assert names == ("x0", "x1", "x2", "x3", "x4", "x5", "blood", "scan")


# --- The trade-off ------------------------------------------------------------------------------------------


def mean_log_loss(estimator, X, y):
    return -log_loss(y, np.clip(estimator.predict_proba(X), 0.01, 0.99))


SCORERS = {"accuracy": None, "a callable": mean_log_loss, "a name": "roc_auc"}


@pytest.mark.parametrize("scoring", SCORERS)
@pytest.mark.parametrize("measure", ["in-bag", "held-out"])
def test_scores_are_cross_fitted(rows, val, monkeypatch, scoring, measure):
    """By hand: each half prunes for a cost, and the other half, whose labels had no part in it, judges."""
    monkeypatch.setattr(fold_module, "RESOLUTION", 0.0)
    model = fitted(rows, val, scoring=SCORERS[scoring], error=measure, lam=0.0)
    tradeoff = model.tradeoff_
    assert not np.any(tradeoff.is_refitted)
    folds = list(halves(LabelledRows(*val), np.random.RandomState(0), by_class=True))
    for k in np.linspace(0, len(tradeoff) - 1, 5).astype(int):
        scores = []
        for makes, judges in folds:
            # In-bag errors need no labels of V, so all of it counts costs.
            makers = val if measure == "in-bag" else (val[0][makes], val[1][makes])
            path = problem_of(model, rows, makers, error=measure).path()
            within = [pruning for pruning in path if pruning.cost <= tradeoff.cost[k] * (1 + 1e-9)]
            pruned = BudgetPruneClassifier(forest())
            pruned._pruned, pruned.classes_ = within[0], np.arange(2)
            pruned.n_features_in_ = N_FEATURES
            scorer = SCORERS[scoring]
            X, y = val[0][judges], val[1][judges]
            if scorer == "roc_auc":
                pruned.scoring = scorer
                scores.append(pruned.score(X, y))
            else:
                scores.append(np.mean(pruned.predict(X) == y) if scorer is None else scorer(pruned, X, y))
        assert tradeoff.score[k] == pytest.approx(np.mean(scores))


def test_tradeoff_of_a_short_path_has_all_its_points(rows, val):
    model = fitted(rows, val, lam=0.0)
    assert len(model.path_) <= 200
    costs = np.unique(model.path_.cost)[::-1]
    assert model.tradeoff_.cost == pytest.approx(costs)
    assert set(model.tradeoff_.lam) <= set(model.path_.lam)


@pytest.mark.parametrize("refit", [None, "squared"])
def test_tradeoff_of_a_long_path_has_some_of_its_points(monkeypatch, refit):
    monkeypatch.setattr(tradeoff_module, "MAX_POINTS", 20)
    X, y = draw_targets(2000)
    model = BudgetPruneRegressor(
        # About a hundred breakpoints, far more than the forty that the test needs.
        ExtraTreesRegressor(20, max_depth=8, random_state=0),
        error="in-bag",
        refit=refit,
        ridge=4.0,
        lam=0.0,
        random_state=0,
    ).fit(X, y)
    tradeoff, path = model.tradeoff_, model.path_
    assert len(path) > 40
    assert 5 < len(tradeoff) <= 20
    assert np.all(np.diff(tradeoff.cost) < 0)
    assert tradeoff.cost[[0, -1]].tolist() == path.cost[[0, -1]].tolist()
    for lam, cost in zip(tradeoff.lam, tradeoff.cost, strict=True):
        assert path.at(lam=lam).cost == cost
    assert np.isfinite(tradeoff.score).all()
    assert tradeoff.is_refitted.any() == (refit is not None)
    frame = tradeoff.to_frame()
    assert frame["cost"].tolist() == tradeoff.cost.tolist()
    assert frame["score"].tolist() == tradeoff.score.tolist()


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 2000), st.integers(0, 10**6))
def test_points_are_evenly_spaced_in_cost(n_costs, seed):
    cost = np.sort(np.random.default_rng(seed).exponential(size=n_costs) ** 2)[::-1]
    points = evenly_spaced(cost, MAX_POINTS)
    assert len(points) <= MAX_POINTS == 200
    assert np.all(np.diff(points) > 0)
    assert points[0] == 0
    assert points[-1] == n_costs - 1
    step = (cost[0] - cost[-1]) / (MAX_POINTS - 1)
    # No cost that is left out is far from one that is not.
    assert np.abs(cost[:, np.newaxis] - cost[points]).min(axis=1).max() <= step * (1 + 1e-9)


# --- Another budget -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("refit", [None, "squared", "softmax"])
def test_another_budget_is_another_estimator_with_the_same_choices(rows, val, refit):
    fixed = {"refit": refit, "ridge": 8.0}
    model = fitted(rows, val, budget=4.0, **fixed)
    before = model.forest_
    other = model.with_budget(2.0)
    fresh = fitted(rows, val, budget=2.0, **fixed)
    assert same_trees(other.forest_, fresh.forest_)
    assert other.get_params()["budget"] == 2.0
    assert (other.cost_, other.lambda_) == (fresh.cost_, fresh.lambda_)
    assert other.refit_gradient_norm_ == fresh.refit_gradient_norm_
    assert other.path_ is model.path_
    assert other.choices_ == model.choices_
    # The first one is as it was, and the second one can go on.
    assert model.forest_ is before
    assert model.budget == 4.0
    assert same_trees(other.with_budget(4.0).forest_, before)


def test_another_budget_instead_of_lam(rows, val):
    model = fitted(rows, val, lam=0.0)
    other = model.with_budget(2.0)
    assert other.lam is None
    assert other.cost_ <= 2.0
    assert model.lam == 0.0
    with pytest.raises(InvalidInputError, match="budget must be"):
        model.with_budget(-1.0)


def test_regression_goes_the_same_ways(val):
    X, y = draw_targets()
    regressor = RandomForestRegressor(6, max_depth=5, random_state=0)
    fixed = {"error": "held-out", "refit": "squared", "ridge": 2.0, "random_state": 0}
    model = BudgetPruneRegressor(regressor, budget=3.0, **fixed).fit(X, y)
    assert model.cost_ <= 3.0
    fresh = BudgetPruneRegressor(regressor, budget=2.0, **fixed).fit(X, y)
    assert same_trees(model.with_budget(2.0).forest_, fresh.forest_)
    table = FeatureCosts().resolve(N_FEATURES)
    assert np.array_equal(model.sources_used(val[0]), sources_by_walking(model.forest_, table, val[0]))
