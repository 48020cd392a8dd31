"""What scikit-learn's checks do not ask: searches, pipelines, tables, metadata, pickles."""

from __future__ import annotations

import doctest
import io
import pickle
import sys

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pytest
from lightgbm import LGBMClassifier
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import budgetprune.estimators.base as base
from budgetprune import FeatureCosts, InvalidInputError
from budgetprune.estimators import BudgetPruneClassifier, BudgetPruneRegressor
from budgetprune.estimators import classifier as _classifier
from budgetprune.estimators import regressor as _regressor
from budgetprune.utils.threads import kernel_thread_count

from .rows import draw, draw_targets, same_trees

NAMES = ["age", "blood pressure", "tsh", "t3", "t4", "noise"]
COSTS = dict(zip(NAMES, [0.5, 1.0, 3.0, 2.0, 2.0, 1.0], strict=True))
FIXED = {"error": "in-bag", "loss": "misclassification", "refit": None, "random_state": 0}


def forest(**parameters):
    return RandomForestClassifier(6, max_depth=5, **{"random_state": 0, **parameters})


@pytest.fixture(scope="module")
def rows():
    return draw(300)


def model_for(budget, rows):
    return BudgetPruneClassifier(forest(), budget=budget, **FIXED).fit(*rows)


# --- Searches and pipelines ---------------------------------------------------------------------------------


def test_grid_search_over_budgets(rows):
    grid = {"budget": [1.5, 3.0, 5.0], "estimator__max_depth": [2, 5]}
    search = GridSearchCV(BudgetPruneClassifier(forest(), **FIXED), grid, cv=3).fit(*rows)
    assert search.best_estimator_.cost_ <= search.best_params_["budget"]
    assert search.predict(rows[0]).shape == (300,)
    assert search.cv_results_["mean_test_score"].max() == search.best_score_ > 0.8
    # A budget reaches the estimator: with more of it, other splits stay.
    sizes = {budget: model_for(budget, rows).forest_.n_splits for budget in (1.5, 5.0)}
    assert sizes[1.5] < sizes[5.0]


def test_cross_validation_uses_the_scorer(rows):
    model = BudgetPruneClassifier(forest(), scoring=lambda m, X, y: 7.0, lam=0.0, **FIXED)
    assert cross_val_score(model, *rows, cv=2).tolist() == [7.0, 7.0]


def test_pipeline_with_tables(rows):
    table = pd.DataFrame(rows[0], columns=NAMES)
    scaler = StandardScaler().set_output(transform="pandas")
    pipeline = make_pipeline(scaler, BudgetPruneClassifier(forest(), costs=COSTS, budget=4.0, **FIXED))
    pipeline.fit(table, rows[1])
    model = pipeline[-1]
    assert model.feature_names_in_.tolist() == NAMES
    assert model.source_names_ == tuple(NAMES)
    assert pipeline.score(table, rows[1]) > 0.8
    scaled = pipeline[:-1].transform(table)
    assert model.acquisition_cost(scaled) == pytest.approx(model.sources_used(scaled) @ list(COSTS.values()))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(scaled[NAMES[::-1]])


def test_pipeline_transforms_validation_rows_that_were_routed(rows):
    """Validation rows pass the scaler too; if they did not, all of them would be far off."""
    X, y = 1000 + 50 * rows[0], rows[1]
    X_val, y_val = draw(120, seed=1)
    X_val = 1000 + 50 * X_val
    with config_context(enable_metadata_routing=True):
        model = BudgetPruneClassifier(forest(), budget=2.5, **FIXED).set_fit_request(X_val=True, y_val=True)
        steps = [("scale", StandardScaler()), ("prune", model)]
        pipeline = Pipeline(steps, transform_input=["X_val"]).fit(X, y, X_val=X_val, y_val=y_val)
        scaler, fitted = (step for _, step in pipeline.steps)
    assert fitted.cost_ == pytest.approx(fitted.acquisition_cost(scaler.transform(X_val)).mean())
    by_hand = BudgetPruneClassifier(forest(), budget=2.5, **FIXED)
    by_hand.fit(scaler.transform(X), y, X_val=scaler.transform(X_val), y_val=y_val)
    assert same_trees(fitted.forest_, by_hand.forest_)


def test_weights_are_routed(rows):
    X, y = rows
    weight = np.where(y == 1, 5.0, 1.0)
    with config_context(enable_metadata_routing=True):
        model = BudgetPruneClassifier(forest(), lam=0.0, **FIXED)
        model.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(model, {"lam": [0.0, 0.01]}, cv=2).fit(X, y, sample_weight=weight)
    best = BudgetPruneClassifier(forest(), **FIXED).set_params(**search.best_params_).fit(X, y, weight)
    assert same_trees(search.best_estimator_.forest_, best.forest_)


# --- Containers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", [pd, pl])
@pytest.mark.parametrize("ensemble", [forest(), LGBMClassifier(n_estimators=5, verbose=-1)])
def test_tables(rows, library, ensemble):
    if library is pl and isinstance(ensemble, LGBMClassifier) and lightgbm.__version__.startswith("4.6."):
        pytest.skip("LightGBM 4.6 cannot be fitted to polars tables with scikit-learn 1.8")
    X, y = rows
    schema = {"columns": NAMES} if library is pd else {"schema": NAMES}
    table, labels = library.DataFrame(X, **schema), library.Series(y)
    fixed = {**FIXED, "loss": None, "lam": 0.001}
    model = BudgetPruneClassifier(ensemble, costs=COSTS, **fixed).fit(table, labels)
    plain = BudgetPruneClassifier(ensemble, costs=list(COSTS.values()), **fixed).fit(X, y)
    assert same_trees(model.forest_, plain.forest_)
    assert np.array_equal(model.predict(table), plain.predict(X))
    assert np.array_equal(model.acquisition_cost(table), plain.acquisition_cost(X))
    assert model.acquisition_cost(table).any()
    assert model.source_names_ == tuple(NAMES)
    assert model.feature_names_in_.tolist() == NAMES
    assert not hasattr(plain, "feature_names_in_")
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table.rename(columns={"age": "years"}) if library is pd else table.rename({"age": "y"}))


def test_explicit_validation_table_must_have_the_same_columns(rows):
    table = pd.DataFrame(rows[0], columns=NAMES)
    model = BudgetPruneClassifier(forest(), **FIXED)
    with pytest.raises(ValueError, match="feature names"):
        model.fit(table, rows[1], X_val=table[NAMES[::-1]], y_val=rows[1])


def test_costs_by_name_for_a_model_that_was_trained_on_an_array(rows):
    model = BudgetPruneClassifier(FrozenEstimator(forest().fit(*rows)), costs=COSTS, lam=0.01, **FIXED)
    table = pd.DataFrame(rows[0], columns=NAMES)
    model.fit(table, rows[1])
    assert model.source_names_ == tuple(NAMES)


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("refit", [None, "squared"])
def test_sparse_rows(rows, container, refit):
    X = np.where(np.abs(rows[0]) < 0.7, 0.0, rows[0])
    fixed = {**FIXED, "refit": refit, "ridge": 4.0, "budget": 3.0}
    model = BudgetPruneClassifier(ExtraTreesClassifier(6, max_depth=4, random_state=0), **fixed).fit(
        container(X), rows[1]
    )
    dense = BudgetPruneClassifier(ExtraTreesClassifier(6, max_depth=4, random_state=0), **fixed).fit(
        X, rows[1], X_val=X[:100], y_val=rows[1][:100]
    )
    assert model.cost_ <= 3.0
    assert np.array_equal(model.predict(container(X)), model.predict(X))
    assert np.array_equal(model.acquisition_cost(container(X)), model.acquisition_cost(X))
    explicit = BudgetPruneClassifier(ExtraTreesClassifier(6, max_depth=4, random_state=0), **fixed).fit(
        container(X), rows[1], X_val=container(X[:100]), y_val=rows[1][:100]
    )
    assert same_trees(explicit.forest_, dense.forest_)


@pytest.mark.parametrize("refit", [None, "auto"])
def test_labels_of_text(rows, refit):
    X, y = rows
    text = np.array(["no", "yes"])[y]
    fixed = {"refit": refit, "random_state": 0, "budget": 3.0}
    model = BudgetPruneClassifier(forest(), **fixed).fit(X, text)
    numbers = BudgetPruneClassifier(forest(), **fixed).fit(X, y)
    assert model.classes_.tolist() == ["no", "yes"]
    assert np.array_equal(model.predict(X), np.array(["no", "yes"])[numbers.predict(X)])
    assert model.score(X, text) == numbers.score(X, y)


def test_sample_weights_change_trees_costs_and_choices(rows):
    X, y = rows
    weight = np.where(X[:, 0] > 0, 20.0, 1.0)
    plain = BudgetPruneClassifier(forest(), lam=0.005, **FIXED).fit(X, y)
    model = BudgetPruneClassifier(forest(), lam=0.005, **FIXED).fit(X, y, weight)
    # Trees care for the heavy rows only, and so does the average cost.
    assert not same_trees(plain.path_.forest, model.path_.forest)
    is_heavy = X[:, 0] > 0
    assert model.cost_ == pytest.approx(model.acquisition_cost(X[is_heavy]).mean(), abs=0.4)

    class NoWeights(RandomForestClassifier):
        def fit(self, X, y):
            return super().fit(X, y)

    NoWeights.__module__, NoWeights.__qualname__ = "sklearn.ensemble", "RandomForestClassifier"
    with pytest.raises(InvalidInputError, match="takes no sample_weight"):
        BudgetPruneClassifier(NoWeights(5), **FIXED).fit(X, y, weight)


# --- Parameters that everybody knows ------------------------------------------------------------------------


def test_random_state_decides_everything(rows):
    first, again, other = (
        BudgetPruneClassifier(forest(random_state=None), budget=3.0, random_state=seed).fit(*rows)
        for seed in (0, 0, 1)
    )
    assert same_trees(first.forest_, again.forest_)
    assert first.choices_ == again.choices_
    assert np.array_equal(first.tradeoff_.score, again.tradeoff_.score)
    assert not same_trees(first.path_.forest, other.path_.forest)
    assert first.estimator_.random_state is not None
    assert first.estimator.random_state is None


def test_random_state_of_the_ensemble_is_respected(rows):
    model = BudgetPruneClassifier(forest(random_state=5), lam=0.0, **FIXED).fit(*rows)
    assert model.estimator_.random_state == 5


def test_number_of_threads(rows, monkeypatch):
    before = kernel_thread_count()
    seen = []
    original = base.select_pruning

    def spy(*args):
        seen.append(kernel_thread_count())
        return original(*args)

    monkeypatch.setattr(base, "select_pruning", spy)
    models = [
        BudgetPruneClassifier(forest(), budget=3.0, random_state=0, n_jobs=n_jobs).fit(*rows)
        for n_jobs in (None, 1, -1)
    ]
    assert seen[:2] == [before, 1]
    assert kernel_thread_count() == before
    assert [model.estimator_.n_jobs for model in models] == [None, 1, -1]
    assert same_trees(models[1].forest_, models[2].forest_)
    kept = BudgetPruneClassifier(forest(n_jobs=2), lam=0.0, n_jobs=1, **FIXED).fit(*rows)
    assert kept.estimator_.n_jobs == 2


def test_threads_are_given_back_after_an_error(rows):
    before = kernel_thread_count()
    with pytest.raises(InvalidInputError):
        BudgetPruneClassifier(forest(), costs=[1.0], n_jobs=1).fit(*rows)
    assert kernel_thread_count() == before


@pytest.mark.parametrize("verbose", [0, 1])
def test_verbose(rows, verbose, capsys):
    BudgetPruneClassifier(forest(), random_state=0, verbose=verbose).fit(*rows)
    written = capsys.readouterr()
    assert bool(written.err) == bool(verbose)
    assert not written.out
    if verbose:
        assert "choosing" in written.err


def test_parameters_survive_cloning():
    given = {
        "estimator": forest(),
        "costs": FeatureCosts(COSTS),
        "budget": 3.0,
        "lam": None,
        "error": "held-out",
        "loss": "brier",
        "refit": "squared",
        "ridge": 2.0,
        "counting": "decided",
        "slack": 0.0,
        "threshold": 0.4,
        "error_weight": {0: 2.0},
        "validation_fraction": 0.4,
        "scoring": "roc_auc",
        "solver": "parametric",
        "random_state": 3,
        "n_jobs": 1,
        "verbose": 0,
        "needs": {"step": "all"},
    }
    model = BudgetPruneClassifier(**given)
    assert model.get_params(deep=False) == given
    twin = clone(model)
    assert {**twin.get_params(deep=False), "estimator": None} == {**given, "estimator": None}
    assert twin.set_params(estimator__n_estimators=9).estimator.n_estimators == 9
    regressor = BudgetPruneRegressor(RandomForestRegressor(), budget=2.0)
    assert set(regressor.get_params(deep=False)) == set(given) - {"threshold", "error_weight"} | {"tolerance"}
    assert is_classifier(model)
    assert is_regressor(regressor)
    assert "BudgetPruneRegressor(budget=2.0" in repr(regressor)


# --- Pickles ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("refit", [None, "softmax"])
def test_pickles_hold_no_rows(refit):
    small, large = (
        BudgetPruneClassifier(
            RandomForestClassifier(4, max_leaf_nodes=8, random_state=0),
            **{**FIXED, "refit": refit},
            ridge=4.0,
        ).fit(*draw(n_rows))
        for n_rows in (300, 6000)
    )
    sizes = [len(pickle.dumps(model)) for model in (small, large)]
    assert sizes[1] < 1.3 * sizes[0]
    assert large._sample is not None


@pytest.mark.parametrize("refit", [None, "squared", "softmax"])
def test_pickled_estimator_goes_on(rows, refit):
    fixed = {**FIXED, "refit": refit, "ridge": 4.0, "budget": 4.0}
    model = BudgetPruneClassifier(forest(), **fixed).fit(*rows)
    back = pickle.loads(pickle.dumps(model))
    assert np.array_equal(back.predict_proba(rows[0]), model.predict_proba(rows[0]))
    assert np.array_equal(back.acquisition_cost(rows[0]), model.acquisition_cost(rows[0]))
    expected = model.with_budget(2.0)
    if refit is None:
        assert same_trees(back.with_budget(2.0).forest_, expected.forest_)
        return
    with pytest.raises(InvalidInputError, match=r"write with_budget\(budget, X, y\)"):
        back.with_budget(2.0)
    other = back.with_budget(2.0, *rows)
    assert np.array_equal(other.forest_.feature, expected.forest_.feature)
    # The same rows in another order: refits agree up to where they stop.
    assert other.predict_proba(rows[0]) == pytest.approx(expected.predict_proba(rows[0]), abs=0.02)
    assert same_trees(other.with_budget(4.0).with_budget(2.0).forest_, other.forest_)


# --- The rest -----------------------------------------------------------------------------------------------


def test_nothing_works_before_fit(rows):
    model = BudgetPruneClassifier()
    for method in ("predict", "predict_proba", "acquisition_cost", "sources_used"):
        with pytest.raises(NotFittedError):
            getattr(model, method)(rows[0])
    with pytest.raises(NotFittedError):
        model.to_sklearn()
    with pytest.raises(NotFittedError):
        model.with_budget(1.0)
    with pytest.raises(NotFittedError):
        model.source_names_  # noqa: B018
    assert not hasattr(model, "decision_function")


def test_default_ensembles():
    model = BudgetPruneClassifier(lam=0.0, **FIXED).fit(*draw(100))
    assert type(model.estimator_) is RandomForestClassifier
    regressor = BudgetPruneRegressor(lam=0.0, refit=None, error="in-bag").fit(*draw_targets(100))
    assert type(regressor.estimator_) is RandomForestRegressor


def test_the_estimator_given_is_not_fitted(rows):
    given = forest()
    BudgetPruneClassifier(given, lam=0.0, **FIXED).fit(*rows)
    assert not hasattr(given, "estimators_")


@pytest.mark.parametrize("module", [_classifier, _regressor])
def test_examples_of_docstrings(module):
    output = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", output)
        results = doctest.testmod(module)
    assert results.attempted > 3
    assert not results.failed, output.getvalue()


@pytest.mark.parametrize("kind", [BudgetPruneClassifier, BudgetPruneRegressor])
def test_docstrings_describe_every_parameter_and_attribute(kind):
    text = kind.__doc__
    rows = draw(100) if kind is BudgetPruneClassifier else draw_targets(100)
    model = kind(lam=0.0, refit=None, error="in-bag").fit(pd.DataFrame(rows[0], columns=NAMES), rows[1])
    attributes = [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]
    assert len(attributes) >= 10
    for name in (*model.get_params(deep=False), *attributes, "source_names_"):
        assert f"\n    {name} : " in text, name
    assert "{" not in text.replace('{"', "")
    assert max(map(len, text.splitlines())) <= 115
