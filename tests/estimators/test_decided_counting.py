"""Budgets of decided cost: what predictions acquire until they are certain, or nearly so."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.base import clone
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator

from budgetprune import BudgetPredictor, BudgetWarning, FeatureCosts, InvalidInputError
from budgetprune.estimators import BudgetPruneClassifier, BudgetPruneRegressor
from budgetprune.selection import final_model as final_module
from budgetprune.selection import select as select_module

from .decided import (
    FIXED,
    N_FEATURES,
    TEST,
    TRAIN,
    VAL,
    check_budget,
    draw,
    fitted,
    forest,
    full_cost,
)
from .rows import same_trees

# --- The budget ---------------------------------------------------------------------------------------------

COSTS = {
    "unit": (None, 4.0),
    "own": ([1.0, 2.0, 0.5, 1.0, 0.0, 1.0, 1.0, 1.0], 3.0),
    "groups": (
        FeatureCosts(1.0, groups=["a", "a", None, "b", "b", None, None, None], group_costs={"a": 1, "b": 2}),
        5.0,
    ),
}


@pytest.mark.parametrize(
    ("costs", "refit", "slack"),
    [
        ("unit", None, 0.0),
        ("unit", "squared", 0.2),
        ("unit", "softmax", 0.0),
        ("own", "squared", 0.0),
        ("groups", None, 0.2),
        ("groups", "softmax", 0.0),
    ],
)
def test_budget_holds_and_buys_more_than_a_budget_of_full_cost(costs, refit, slack):
    costs, budget = COSTS[costs]
    fixed = {"costs": costs, "budget": budget, "refit": refit, "ridge": 8.0}
    model = fitted(slack=slack, **fixed)
    check_budget(model, VAL[0], budget)
    assert model.slack_ == slack
    full = fitted(counting="full", **fixed)
    assert model.forest_.n_splits >= full.forest_.n_splits
    if costs is None:  # paths for the others jump just there
        assert model.forest_.n_splits > full.forest_.n_splits
        assert full_cost(model, VAL[0]).mean() > budget
    assert full.cost_ == pytest.approx(full_cost(full, VAL[0]).mean())


def test_without_refits_the_point_is_the_one_of_the_path():
    model = fitted(budget=4.0)
    pruning = model.path_.decided(VAL[0]).at(budget=4.0)
    # The search is content with most of the budget.
    assert same_trees(model.forest_, pruning.forest) or 0.98 * 4.0 <= model.cost_ <= 4.0
    assert model.lambda_ in model.path_.lam


def test_weights_count():
    weight = np.where(VAL[0][:, 0] > 0, 10.0, 0.1)
    model = BudgetPruneClassifier(forest(), budget=4.0, counting="decided", **FIXED)
    model.fit(*TRAIN, X_val=VAL[0], y_val=VAL[1], sample_weight_val=weight)
    check_budget(model, VAL[0], 4.0, weight)


def test_costs_are_estimated_on_some_rows_and_counted_on_all(monkeypatch):
    monkeypatch.setattr(select_module, "TRIAL_ROWS", 50)
    model = fitted(budget=4.0, refit="squared", ridge=8.0)
    check_budget(model, VAL[0], 4.0)


def test_search_ends_within_the_budget_however_wrong_expectations_are(monkeypatch):
    """Only one try, and too large a model is expected to be cheap: what remains is the one of full cost."""
    monkeypatch.setattr(final_module, "MAX_SIMULATIONS", 1)
    monkeypatch.setattr(final_module.np, "interp", lambda x, xp, fp: np.asarray(x) / 100)
    model = fitted(budget=4.0)
    monkeypatch.undo()
    check_budget(model, VAL[0], 4.0)
    assert same_trees(model.forest_, model.path_.at(budget=4.0).forest)


@pytest.mark.parametrize("lam", [0.0, 0.004])
def test_lam_is_the_point_and_its_cost_is_decided(lam):
    model = fitted(lam=lam, slack=0.1)
    assert same_trees(model.forest_, model.path_.at(lam=lam).forest)
    check_budget(model, VAL[0], np.inf)


def test_budgets_at_both_ends():
    assert fitted(budget=np.inf).lambda_ == 0.0
    with pytest.warns(BudgetWarning, match="buys nothing"):
        model = fitted(budget=0.01)
    assert model.forest_.n_splits == 0
    assert model.cost_ == 0.0


def test_few_rows_choose_nothing_but_keep_the_budget():
    few = (VAL[0][:15], VAL[1][:15])
    with pytest.warns(BudgetWarning, match="usual ridge and no slack"):
        model = fitted(val=few, budget=4.0, slack="auto", refit="auto")
    assert model.slack_ == 0.0
    check_budget(model, few[0], 4.0)


# --- The trade-off ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("refit", [None, "squared"])
@pytest.mark.parametrize("slack", [0.0, 0.3])
def test_tradeoff_has_both_costs(refit, slack):
    model = fitted(budget=4.0, refit=refit, ridge=8.0, slack=slack)
    tradeoff = model.tradeoff_
    assert np.all(tradeoff.cost <= tradeoff.full_cost)
    assert np.all(np.diff(tradeoff.cost) <= 0)
    assert tradeoff.cost[0] < 0.95 * tradeoff.full_cost[0]
    for lam, full in zip(tradeoff.lam, tradeoff.full_cost, strict=True):
        assert model.path_.at(lam=lam).cost == full
    assert tradeoff.to_frame().columns.tolist() == ["lam", "cost", "full_cost", "score", "refitted"]
    # Interpolation tells what other budgets would cost, to a few percent.
    for k in (len(tradeoff) // 4, len(tradeoff) // 2):
        other = clone(model).set_params(budget=None, lam=tradeoff.lam[k])
        other.fit(*TRAIN, X_val=VAL[0], y_val=VAL[1])
        assert tradeoff.cost[k] == pytest.approx(other.cost_, rel=0.1)


def test_scores_without_slack_are_those_of_full_counting():
    one, other = (fitted(lam=0.0, counting=counting).tradeoff_ for counting in ("full", "decided"))
    assert np.array_equal(one.score, other.score)
    assert np.array_equal(one.full_cost, other.full_cost)
    assert np.array_equal(one.cost, one.full_cost)


def test_scores_with_slack_are_those_of_labels_that_are_decided_early():
    """So much slack that labels suffer, and the table says so."""
    plain, early = (fitted(lam=0.0, slack=slack) for slack in (0.0, 0.49))
    assert early.tradeoff_.score[0] < plain.tradeoff_.score[0]
    expected = np.mean(early.predictor().simulate(TEST[0]).label == TEST[1])
    assert early.score(*TEST) == expected < plain.score(*TEST)


# --- Answers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
def test_answers_are_plain_without_slack_and_decided_with_it(n_classes):
    rows, val = draw(n_classes=n_classes), draw(300, n_classes, seed=1)
    exact, early = (fitted(rows=rows, val=val, budget=4.0, slack=slack) for slack in (0.0, 0.4))
    X = TEST[0]
    assert np.array_equal(exact.predict(X), exact.forest_.predict(X))
    assert np.array_equal(exact.predict(X), exact.predictor().simulate(X).label)
    assert np.array_equal(early.predict(X), early.predictor().simulate(X).label)
    assert np.any(early.predict(X) != early.forest_.predict(X))
    for model in (exact, early):
        assert np.array_equal(model.predict_proba(X), model.forest_.predict_proba(X))


def test_predictor_is_the_estimator_one_row_at_a_time():
    model = fitted(budget=4.0, slack=0.1, threshold=0.3, costs=COSTS["groups"][0])
    predictor = model.predictor(max_cost=6.0)
    assert isinstance(predictor, BudgetPredictor)
    assert (predictor.slack, predictor.threshold, predictor.max_cost) == (0.1, 0.3, 6.0)
    assert predictor.source_names == model.source_names_
    row = dict(zip(predictor.feature_names, TEST[0][0], strict=True))
    decision = model.predictor().decide(row)
    assert decision.label == model.predict(TEST[0][:1])[0]
    assert decision.cost == model.acquisition_cost(TEST[0][:1])[0]
    plain = fitted(counting="full", budget=4.0).predictor()
    assert (plain.slack, plain.threshold, plain.tolerance) == (0.0, None, None)


def test_threshold_decides():
    low, high = (fitted(budget=4.0, threshold=threshold) for threshold in (0.2, 0.8))
    for model in (low, high):
        check_budget(model, VAL[0], 4.0)
        assert np.array_equal(model.predict(TEST[0]), model.predictor().predict(TEST[0]))
    assert low.predict(TEST[0]).mean() > high.predict(TEST[0]).mean()


# --- Regression ---------------------------------------------------------------------------------------------


def test_regression_with_a_tolerance():
    rows, val = draw(n_classes=0), draw(300, 0, seed=1)
    fixed = {"estimator": RandomForestRegressor(10, max_depth=6, random_state=0), "rows": rows, "val": val}
    fixed |= {"kind": BudgetPruneRegressor, "budget": 5.0, "refit": "squared", "ridge": 4.0}
    full = fitted(counting="full", **fixed)
    exact, rough, auto = (
        fitted(tolerance=tolerance, slack=slack, **fixed)
        for tolerance, slack in ((None, 0.0), (3.0, 0.0), (3.0, "auto"))
    )
    for model in (exact, rough, auto):
        check_budget(model, val[0], 5.0)
    assert full.forest_.n_splits <= exact.forest_.n_splits < rough.forest_.n_splits
    X = TEST[0]
    assert np.array_equal(exact.predict(X), exact.forest_.predict(X))
    assert np.array_equal(rough.predict(X), rough.predictor().simulate(X).label)
    assert 0 < np.abs(rough.predict(X) - rough.forest_.predict(X)).max() <= 3.0
    assert rough.predictor().tolerance == 3.0
    assert rough.with_budget(3.0).cost_ <= 3.0


# --- Citizens -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("refit", [None, "squared"])
def test_another_budget(refit):
    fixed = {"refit": refit, "ridge": 8.0, "slack": 0.1}
    model, fresh = (fitted(budget=budget, **fixed) for budget in (5.0, 3.0))
    other = model.with_budget(3.0)
    assert same_trees(other.forest_, fresh.forest_)
    assert (other.cost_, other.slack_, other.budget) == (fresh.cost_, 0.1, 3.0)
    check_budget(other, VAL[0], 3.0)
    assert model.cost_ > 3.0
    assert same_trees(other.with_budget(5.0).forest_, model.forest_)


def test_pickles_hold_no_rows():
    model = fitted(budget=4.0, slack=0.2)
    loaded = pickle.loads(pickle.dumps(model))
    assert loaded._counting is None
    assert loaded._sample is None
    assert np.array_equal(loaded.predict(TEST[0]), model.predict(TEST[0]))
    assert np.array_equal(loaded.acquisition_cost(TEST[0]), model.acquisition_cost(TEST[0]))
    with pytest.raises(InvalidInputError, match=r"no rows to count decided costs on; write with_budget"):
        loaded.with_budget(3.0)
    assert same_trees(loaded.with_budget(3.0, *VAL).forest_, model.with_budget(3.0).forest_)
    unfitted = clone(model)
    assert (unfitted.counting, unfitted.slack) == ("decided", 0.2)


@pytest.mark.parametrize("train_too", [False, True])
def test_frozen_ensembles(train_too):
    theirs = forest().fit(*TRAIN)
    model = BudgetPruneClassifier(
        FrozenEstimator(theirs), budget=4.0, counting="decided", slack=0.1, random_state=0
    )
    if train_too:
        model.fit(*TRAIN, X_val=VAL[0], y_val=VAL[1])
    else:
        model.fit(*VAL)
    check_budget(model, VAL[0], 4.0)


BOOSTED = {
    "gradient": GradientBoostingClassifier(n_estimators=15, random_state=0),
    "hist": HistGradientBoostingClassifier(max_iter=15, random_state=0),
    "lightgbm": LGBMClassifier(n_estimators=15, verbose=-1),
}


@pytest.mark.parametrize("ensemble", BOOSTED)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_boosted_ensembles(ensemble, n_classes):
    rows, val = draw(n_classes=n_classes), draw(300, n_classes, seed=1)
    fixed = {"estimator": BOOSTED[ensemble], "error": "in-bag", "loss": None, "budget": 4.0}
    fixed |= {"refit": "own", "ridge": 8.0, "rows": rows, "val": val}
    model, full = fitted(**fixed), fitted(counting="full", **fixed)
    check_budget(model, val[0], 4.0)
    assert model.forest_.n_splits >= full.forest_.n_splits
    if n_classes == 2:
        assert model.forest_.n_splits > full.forest_.n_splits
    assert np.array_equal(model.predict(TEST[0]), model.predictor().simulate(TEST[0]).label)


def test_boosted_regression():
    rows, val = draw(n_classes=0), draw(300, 0, seed=1)
    fixed = {"estimator": LGBMRegressor(n_estimators=15, verbose=-1), "rows": rows, "val": val}
    model = fitted(BudgetPruneRegressor, budget=4.0, tolerance=1.0, slack=0.1, **fixed)
    check_budget(model, val[0], 4.0)


@pytest.mark.parametrize("kind", [BudgetPruneClassifier, BudgetPruneRegressor])
def test_tables_and_names(kind):
    pd = pytest.importorskip("pandas")
    names = [f"test {k}" for k in range(N_FEATURES)]
    table, val = (pd.DataFrame(rows[0], columns=names) for rows in (TRAIN, VAL))
    fixed = {"tolerance": 0.2} if kind is BudgetPruneRegressor else {}
    estimator = RandomForestRegressor(5, random_state=0) if fixed else forest()
    model = fitted(
        kind, (table, TRAIN[1]), (val, VAL[1]), estimator=estimator, budget=4.0, slack=0.1, **fixed
    )
    check_budget(model, val, 4.0)
    assert model.predictor().feature_names == tuple(names)
