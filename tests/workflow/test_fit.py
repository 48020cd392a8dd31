"""`fit_table`: the same models as the command, from files, DataFrames and price lists of all forms."""

from __future__ import annotations

import doctest
from contextlib import nullcontext

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import budgetprune.workflow.fit
from budgetprune import (
    BudgetModel,
    BudgetPruneClassifier,
    FeatureCosts,
    FitOptions,
    InvalidInputError,
    PruneOptions,
    cli,
    fit_table,
)
from budgetprune.workflow import ErrorCosts

NAMES = ["age", "town", "lab"]
COSTS = "feature,cost,source\nage,1,\ntown,2,\nlab,4,blood draw\n,5,blood draw\n"
# Few trees and rows: these tests compare models, and need no good ones.
FOREST = {"model": "random-forest", "budget": 11.5, "options": FitOptions(n_trees=4)}


def patients(n_rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    town = rng.integers(3, size=n_rows)
    age, lab = rng.normal(size=n_rows), rng.normal(size=n_rows)
    age[rng.random(n_rows) < 0.1] = np.nan
    risk = np.nan_to_num(age) + np.array([1, -1, 0])[town] + 2 * lab
    return pd.DataFrame(
        {
            "age": age.round(4),
            "town": np.array(["Aix", "Bonn", "Caen"])[town],
            "lab": lab.round(4),
            "ill": np.where(risk > 0, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    patients(200, 0).to_csv(folder / "data.csv", index=False)
    patients(80, 1).to_csv(folder / "test.csv", index=False)
    (folder / "costs.csv").write_text(COSTS)
    return folder


def content(model: BudgetModel, folder) -> bytes:
    model.save(folder / "saved")
    return (folder / "saved").read_bytes()


def command(*words, folder) -> bytes:
    with pytest.raises(SystemExit) as end:
        cli.main([*map(str, words), "--out", str(folder / "by_command"), "--quiet"])
    assert end.value.code == 0
    return (folder / "by_command").read_bytes()


@pytest.mark.parametrize("kind", ["staged", "random-forest"])
def test_same_model_as_the_command(files, tmp_path, kind):
    data, test, costs = (files / name for name in ("data.csv", "test.csv", "costs.csv"))
    trees = {} if kind == "staged" else {"n_trees": 4}
    words = ["--trees", 4] if trees else []
    expected = command(
        *("fit", data, "--target", "ill", "--costs", costs, "--budget", 11.5, "--test", test),
        *("--model", kind, "--seed", 3, "--jobs", 1, *words),
        folder=tmp_path,
    )
    options = FitOptions(random_state=3, n_jobs=1, **trees)
    model = fit_table(data, "ill", costs, budget=11.5, model=kind, test=test, options=options)
    assert content(model, tmp_path) == expected
    assert model.about.compared.rows == "test"


def test_same_model_from_a_data_frame(files, tmp_path):
    expected = fit_table(files / "data.csv", "ill", files / "costs.csv", test=files / "test.csv", **FOREST)
    frame, prices = pd.read_csv(files / "data.csv"), pd.read_csv(files / "costs.csv")
    before = frame.copy()
    model = fit_table(frame, "ill", prices, test=pd.read_csv(files / "test.csv"), **FOREST)
    assert content(model, tmp_path) == content(expected, tmp_path)
    pd.testing.assert_frame_equal(frame, before)


def test_costs_in_all_forms(files):
    table = pd.read_csv(files / "data.csv")
    own = {"age": 1.0, "town": 2.0, "lab": 4.0}
    for costs in (own, FeatureCosts(own), pd.DataFrame({"feature": list(own), "cost": list(own.values())})):
        predictor = fit_table(table, "ill", costs, **FOREST).predictor
        assert predictor.costs.price_alone.tolist() == [1, 2, 4]
        assert predictor.source_names == tuple(NAMES)
    assert fit_table(table, "ill", **FOREST).predictor.costs.price_alone.tolist() == [1, 1, 1]


def test_shared_prices_in_feature_costs(files):
    costs = FeatureCosts.from_sources(
        {"visit": 2, "draw": 5}, {"age": None, "town": "visit", "lab": ["visit", "draw"]}
    )
    predictor = fit_table(files / "data.csv", "ill", costs, **FOREST).predictor
    assert predictor.source_names == ("visit", "draw")
    assert predictor.costs.price_alone.tolist() == [0, 2, 7]


def test_stages_and_notes_go_to_the_observer(files):
    class Recorder:
        has_bars = False

        def __init__(self):
            self.stages, self.notes = [], []

        def stage(self, what, *, bars=False):
            self.stages.append(what.split()[0].rstrip(","))
            return nullcontext()

        def note(self, message):
            self.notes.append(message)

    recorder = Recorder()
    frame = pd.read_csv(files / "data.csv").assign(key=[f"row {k}" for k in range(200)])
    fit_table(frame, "ill", observer=recorder, **FOREST)
    assert recorder.stages == ["reading", "dividing", "growing", "pruning", "comparing"]
    assert any("column 'key' has 200 different texts" in note for note in recorder.notes)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"target": None}, "say which column of the table is predicted: target="),
        ({"target": "il"}, "the target 'il' is not a column of the table; did you mean 'ill'"),
        ({"costs": {"age": 1}}, "the price list has no cost for 2 of 3 columns: 'town', 'lab'"),
        ({"costs": {"age": 1, "town": 1, "lab": 1, "x": 1}}, "the price list has costs for columns that"),
        ({"budget": -1.0}, r"budget \(--budget\) must be at least 0"),
        ({"budget": np.inf}, r"budget \(--budget\) must be a number"),
        ({"model": "svm"}, "a model is one of staged, random-forest"),
        ({"options": FitOptions(error_costs=3.0)}, r"error_costs \(--error-cost\): only for staged models"),
        ({"options": FitOptions(drop=["x"])}, r"drop \(--drop\) 'x' is not a column of the table"),
        ({"options": FitOptions(slack=0.1)}, "add counting='decided' .--decided"),
        ({"test": pd.DataFrame({"age": [1.0], "ill": ["yes"]})}, "the test table lacks 'town', 'lab'"),
        ({"table": pd.DataFrame({"age": [], "ill": []})}, "the table cannot be read: it has no rows"),
        ({"table": [1, 2]}, "the table must be the path of a file or a table .*, not list"),
    ],
)
def test_invalid_arguments(files, how, message):
    given = {"table": pd.read_csv(files / "data.csv"), "target": "ill"} | FOREST | how
    with pytest.raises(InvalidInputError, match=message):
        fit_table(given.pop("table"), given.pop("target"), **given)


def test_options_of_pruned_models_are_refused_for_staged_ones(files):
    options = FitOptions(n_trees=3, counting="decided", validation_fraction=0.2)
    with pytest.raises(
        InvalidInputError, match=r"n_trees .--trees., .*--validation.: only for pruned models"
    ):
        fit_table(files / "data.csv", "ill", options=options)


def test_error_costs_of_unknown_classes(files):
    options = FitOptions(error_costs=ErrorCosts({"maybe": 3.0}, others=1.0))
    with pytest.raises(InvalidInputError, match="the class 'maybe', which the target does not have"):
        fit_table(files / "data.csv", "ill", options=options)


@pytest.mark.parametrize("price", [-1, np.nan, -np.inf, np.inf, None, "free", True, 1e-60])
def test_invalid_prices_in_a_mapping(files, price):
    with pytest.raises(InvalidInputError, match=r"costs must be .* not for 'age'"):
        fit_table(files / "data.csv", "ill", {"age": price, "town": 1, "lab": 1}, **FOREST)


def test_a_price_of_zero_in_a_mapping(files):
    predictor = fit_table(files / "data.csv", "ill", {"age": 0, "town": 2, "lab": 4}, **FOREST).predictor
    assert predictor.costs.price_alone.tolist() == [0, 2, 4]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"budget": "3"}, r"budget \(--budget\) must be a number, not '3'"),
        ({"budget": True}, "must be a number, not True"),
        (
            {"options": {"n_trees": 4}},
            r"options must be FitOptions, not dict; write options=FitOptions\(...\)",
        ),
        ({"options": {}}, "options must be FitOptions, not dict"),
        ({"options": PruneOptions()}, "options must be FitOptions, not PruneOptions"),
        (
            {"target": pd.Series([1, 2])},
            "target .--target. must be the name of a column .*, not Series. Give",
        ),
        ({"target": 3}, "name of a column of the table, not 3; names are strings"),
        ({"model": ["staged"]}, "a model is one of"),
    ],
)
def test_arguments_are_checked_before_the_table_is_read(tmp_path, how, message):
    given = {"target": "ill"} | FOREST | how
    with pytest.raises(InvalidInputError, match=message):
        fit_table(tmp_path / "absent.csv", given.pop("target"), **given)


def test_max_features_of_one_are_all_columns(files, tmp_path):
    one, default = (
        fit_table(files / "data.csv", "ill", model="extra-trees", options=FitOptions(n_trees=4, **how))
        for how in ({"max_features": 1}, {})
    )
    assert content(one, tmp_path) == content(default, tmp_path)


def test_same_model_from_arrow_tables_and_relations(files, tmp_path):
    expected = fit_table(files / "data.csv", "ill", files / "costs.csv", test=files / "test.csv", **FOREST)
    with duckdb.connect() as connection:
        table, test = (connection.from_df(pd.read_csv(files / name)) for name in ("data.csv", "test.csv"))
        prices = pa.Table.from_pandas(pd.read_csv(files / "costs.csv"))
        model = fit_table(table, "ill", prices, test=test.to_arrow_table(), **FOREST)
        assert content(model, tmp_path) == content(expected, tmp_path)
        rows = test.project("* EXCLUDE (ill)")
        predicted = model.predictor.predict(rows)
    X = pd.read_csv(files / "test.csv").drop(columns="ill")
    assert np.array_equal(predicted, expected.predictor.predict(X))


def test_same_model_from_a_polars_table(files, tmp_path):
    polars = pytest.importorskip("polars")
    expected = fit_table(files / "data.csv", "ill", files / "costs.csv", test=files / "test.csv", **FOREST)
    table, prices, test = (polars.read_csv(files / name) for name in ("data.csv", "costs.csv", "test.csv"))
    model = fit_table(table, "ill", prices, test=test, **FOREST)
    assert content(model, tmp_path) == content(expected, tmp_path)
    with pytest.raises(InvalidInputError, match=r"a relation of DuckDB\), not polars\.LazyFrame"):
        fit_table(table.lazy(), "ill", **FOREST)


def test_examples_of_the_docstring():
    result = doctest.testmod(budgetprune.workflow.fit)
    assert result.attempted > 5
    assert result.failed == 0


@pytest.mark.parametrize("decided", [False, True])
def test_small_budgets_if_the_most_informative_column_is_expensive(decided):
    """Trees that may begin with that column all do; below its price, cheaper columns must serve."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 4))
    risk = 1.6 * X[:, 0] + X[:, 1] + 0.7 * X[:, 2] + 0.5 * rng.normal(size=len(X))
    table = pd.DataFrame(X, columns=["scan", "test", "age", "noise"]).assign(ill=(risk > 1.2).astype(int))
    costs = {"scan": 20.0, "test": 2.0, "age": 1.0, "noise": 0.5}
    options = FitOptions(n_trees=10, counting="decided" if decided else "full")
    found = [
        fit_table(table, "ill", costs, budget=budget, model="random-forest", options=options)
        for budget in (2.5, 3.5, 8.0)
    ]
    for model in found:
        assert model.predictor.forest.n_splits > 0
        compared = model.about.compared
        chosen = compared.chosen.decided_cost if decided else compared.chosen.cost
        assert chosen <= model.about.budget * 1.000001
        assert compared.whole.n_features == 4  # the comparison is with the forest on all columns
    assert found[-1].about.compared.chosen.score > (table["ill"] == 0).mean() + 0.02


def rare_illness(seed: int) -> tuple[pd.DataFrame, dict[str, float]]:
    """Only expensive columns tell who is ill, so small budgets buy nothing useful."""
    X = np.random.default_rng(seed).normal(size=(500, 4)).round(1)
    risk = 2 * X[:, 0] + X[:, 1] + 0.3 * X[:, 2]
    table = pd.DataFrame(X, columns=["scan", "test", "age", "noise"]).assign(ill=(risk > 3).astype(int))
    return table, {"scan": 20.0, "test": 10.0, "age": 1.0, "noise": 1.0}


@pytest.mark.parametrize("seed", [0, 1])
def test_a_budget_that_is_too_small_names_one_that_is_not(seed):
    """The trees on all columns cost more, but for the price of the test there is a useful forest."""
    table, costs = rare_illness(seed)
    settings = {"model": "random-forest", "options": FitOptions(n_trees=8, counting="decided")}
    with pytest.raises(InvalidInputError, match=r"budget of 3 buys nothing useful. A budget of 10 does"):
        fit_table(table, "ill", costs, budget=3, **settings)
    found = fit_table(table, "ill", costs, budget=10, **settings)
    assert found.predictor.forest.n_splits > 0
    assert 3 < found.about.compared.chosen.decided_cost <= 10


def test_unknown_costs_are_never_named(monkeypatch):
    monkeypatch.setattr(BudgetPruneClassifier, "_useful_costs", lambda self: [np.nan, np.inf, 0.5])
    table, costs = rare_illness(0)
    with pytest.raises(InvalidInputError, match=r"A budget of 10 does"):
        fit_table(
            table,
            "ill",
            costs,
            budget=3,
            model="random-forest",
            options=FitOptions(n_trees=8, counting="decided"),
        )


def test_a_larger_budget_buys_something_too():
    """Each column is affordable alone, but trees on all of them need two, which cost more than the budget."""
    X = np.random.default_rng(0).normal(size=(400, 4)).round(1)
    risk = 2 * X[:, 0] + 1.5 * X[:, 1] + 0.8 * X[:, 2]
    table = pd.DataFrame(X, columns=["scan", "test", "age", "noise"]).assign(ill=(risk > 2.5).astype(int))
    costs = {"scan": 20.0, "test": 18.0, "age": 2.0, "noise": 1.0}
    for budget in (18, 20, 24):
        options = FitOptions(n_trees=8, counting="decided")
        found = fit_table(table, "ill", costs, budget=budget, model="random-forest", options=options)
        assert 0 < found.about.compared.chosen.decided_cost <= budget
        assert found.about.compared.whole.n_features == 4
