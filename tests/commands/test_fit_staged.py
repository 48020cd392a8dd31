"""``budgetprune fit`` with staged models, which are the default."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from budgetprune import BudgetPredictor, StagedPredictor
from budgetprune.model import BudgetModel
from budgetprune.workflow.tables import read_table_for, rows_for

from .commands import COSTS, HINT_COSTS, check_refused, hints, patients


@pytest.fixture
def fit(files, run, tmp_path):
    """Fit the clinic's rows, with other words or files."""

    def call(*words, frame=None, costs=None, target="ill"):
        data, prices = files.data, files.costs
        if frame is not None:
            data = tmp_path / "own.csv"
            frame.to_csv(data, index=False)
        if costs is not None:
            prices = tmp_path / "own_costs.csv"
            prices.write_text(costs)
        return run("fit", data, "--target", target, "--costs", prices, "--out", tmp_path / "m", *words)

    return call


# --- fit ----------------------------------------------------------------------------------------------------


def test_staged_models_are_the_default(staged):
    told, model = staged.told, staged.model
    loaded = BudgetModel.load(model)
    assert isinstance(loaded.predictor, StagedPredictor)
    assert loaded.path is None
    assert loaded.about.to_json() == {name: told[name] for name in loaded.about.to_json()}
    assert (told["model"], told["task"], told["budget"]) == ("staged", "classification", staged.budget)
    assert (told["n_train"], told["n_validation"]) == (500, 0)
    assert isinstance(BudgetPredictor.load(model), StagedPredictor)


def test_what_is_told_is_true(files, staged):
    """Costs and scores, counted again on the test rows from the model file."""
    told, predictor = staged.told, BudgetPredictor.load(staged.model)
    rows = rows_for(predictor.forest, read_table_for(predictor.forest, files.test))
    truth = pd.read_csv(files.test)["ill"].to_numpy()
    found, chosen = predictor.simulate(rows), told["compared"]["chosen"]
    assert told["compared"]["rows"] == "test"
    assert chosen["cost"] == pytest.approx(found.cost.mean())
    assert chosen["score"] == pytest.approx(np.mean(found.label == truth))
    assert chosen["score"] > 0.7
    assert 16 >= told["compared"]["whole"]["cost"] > chosen["cost"]  # all columns cost 16
    assert told["compared"]["whole"]["score"] > 0.7
    curve, stages = told["curve"], told["stages"]
    point = predictor.model.point
    assert curve["cost"][point] <= staged.budget
    assert curve["cost"] == sorted(curve["cost"])
    assert curve["score"] == sorted(curve["score"])
    assert sum(stage["stops"] for stage in stages) == pytest.approx(1)
    assert [stage["reached"] for stage in stages] == sorted((s["reached"] for s in stages), reverse=True)
    assert all(stage["price"] > 0 for stage in stages if stage["sources"])


def test_tables_for_people(fit, files, tmp_path):
    said = fit("--budget", 8, "--test", files.test, "--time-limit", 1)
    assert said.status == 0
    for words in (
        "What each budget buys",
        "<- your model",
        "stage by stage",
        "rows that stop",
        "plain model, all columns",
        "on 300 test rows",
        "budgetprune rebudget",
        f"Written: {tmp_path / 'm'}",
    ):
        assert words in said.out.replace("\n", " "), words
    for stage in ("reading", "training stages with", "on 500 rows", "comparing", "writing"):
        assert stage in said.err


def test_without_test_rows_there_is_no_comparison(fit):
    said = fit("--budget", 8, "--time-limit", 1)
    assert said.status == 0
    assert "Add test rows (--test)" in said.out
    assert "plain model, all" not in said.out
    assert "comparing" not in said.err


def test_the_same_seed_makes_the_same_model(fit, tmp_path):
    written = []
    for _ in range(2):
        assert fit("--budget", 3, "--quiet", frame=hints(200), costs=HINT_COSTS) == (0, "", "")
        written.append((tmp_path / "m").read_bytes())
    assert written[0] == written[1]


def test_regression(run, tmp_path):
    patients(400).drop(columns="ill").to_csv(tmp_path / "d.csv", index=False)
    patients(200, seed=1).drop(columns="ill").to_csv(tmp_path / "t.csv", index=False)
    words = ["fit", tmp_path / "d.csv", "--target", "risk", "--error-cost", 3, "--out", tmp_path / "m"]
    told = run(*words, "--test", tmp_path / "t.csv", "--json").json
    assert (told["task"], told["score_name"]) == ("regression", "R²")
    chosen = told["compared"]["chosen"]
    assert chosen["score"] > 0.5
    assert 0 < chosen["cost"] <= 6
    written = pd.read_csv(io.StringIO(run("predict", tmp_path / "m", tmp_path / "t.csv").out))
    truth = pd.read_csv(tmp_path / "t.csv")["risk"]
    assert chosen["cost"] == pytest.approx(written["cost"].mean())
    assert chosen["loss"] == pytest.approx(3 * np.mean((written["prediction"] - truth) ** 2))
    assert chosen["score"] == pytest.approx(1 - np.mean((written["prediction"] - truth) ** 2) / np.var(truth))


def test_without_lightgbm(fit, files, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "lightgbm", None)
    frame = pd.read_csv(files.data)[["age", "grade", "ill"]][:150]
    costs = "feature,cost\nage,1\ngrade,2\n"
    said = fit("--budget", 3, "--time-limit", 0.1, "--test", files.test, frame=frame, costs=costs)
    assert said.status == 0, said.err
    assert "HistGradientBoosting" in said.err
    assert "plain model (random-forest)" in said.err


def test_many_categories(fit, monkeypatch):
    """More categories than HistGradientBoosting takes; rare ones count as missing."""
    monkeypatch.setitem(__import__("sys").modules, "lightgbm", None)
    rng = np.random.default_rng(0)
    street = rng.integers(300, size=9000)
    frame = pd.DataFrame({"street": [f"s{k}" for k in street], "ill": np.where(street % 2, "yes", "no")})
    said = fit("--time-limit", 0.1, frame=frame, costs="feature,cost\nstreet,1\n")
    assert said.status == 0, said.err


# --- Prices of errors, limits -------------------------------------------------------------------------------


def test_prices_of_errors(fit, files):
    """A class that is expensive to miss is predicted more often."""
    words = ["--test", files.test, "--time-limit", 1]
    told = fit("--error-cost", "yes=400", "--error-cost", 40, "--json", *words).json
    assert told["budget"] is None
    chosen = told["compared"]["chosen"]
    in_all = np.array(told["curve"]["cost"]) + told["curve"]["loss"]
    point = int(np.argmin(in_all))
    assert told["curve"]["lam"][point] == told["lam"]
    assert chosen["loss"] > 0
    said = fit("--error-cost", "yes=400", "--error-cost", "no=40", *words)
    assert "errors cost" in said.out
    assert "in all" in said.out
    assert told["choices"].endswith("errors cost no: 40, yes: 400")


def test_errors_that_are_cheaper_than_any_column(fit):
    said = fit("--error-cost", 0.5, "--time-limit", 1, costs=COSTS.replace("grade,0", "grade,1"))
    assert said.status == 0
    assert "note: with these costs of errors, no column is worth its price" in said.err


def test_a_limit_for_each_row(fit, run, files, tmp_path):
    assert fit("--max-cost", 4, "--time-limit", 1).status == 0
    written = pd.read_csv(io.StringIO(run("predict", tmp_path / "m", files.test).out))
    assert 0 < written["cost"].max() <= 4
    assert BudgetPredictor.load(tmp_path / "m").max_cost == 4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--decided"], "--decided.: only for pruned models, but model .--model. is staged"),
        (["--slack", 0.1], "--slack.: only for pruned models"),
        (["--tolerance", 1], "--tolerance.: only for pruned models"),
        (["--trees", 5, "--validation", 0.2], "--trees., .*--validation.: only for pruned models"),
        (["--max-features", 0.5], "--max-features.: only for pruned models"),
        (["--model", "random-forest", "--error-cost", 3], "--error-cost.: only for staged models"),
        (
            ["--model", "lightgbm", "--max-cost", 3],
            "--max-cost.: only for staged models, but model .--model. is lightgbm",
        ),
        (["--model", "extra-trees", "--time-limit", 3], "--time-limit.: only for staged models"),
        (["--time-limit", "nan"], "--time-limit"),
        (["--max-cost", "inf"], r"max_cost \(--max-cost\) must be a number"),
        (["--error-cost", "high"], "--error-cost high: must be NUMBER or CLASS=NUMBER"),
        (["--error-cost", "yes=-1"], "--error-cost yes=-1: must be"),
        (["--error-cost", "maybe=3"], "--error-cost. is for the class 'maybe', .* 'no', 'yes'"),
        (
            ["--error-cost", "yes=3"],
            "--error-cost. has no cost for the class 'no'; add one .--error-cost no=",
        ),
        (["--error-cost", 3, "--error-cost", 4], "the same errors have two costs"),
        (["--error-cost", 0], "more than 0"),
    ],
)
def test_words_that_are_refused(fit, words, message, tmp_path):
    check_refused(fit(*words), message)
    assert not (tmp_path / "m").exists()


def test_classes_of_errors_are_no_words_for_numbers(run, tmp_path):
    patients(50).drop(columns="ill").to_csv(tmp_path / "d.csv", index=False)
    words = ["fit", tmp_path / "d.csv", "--target", "risk", "--out", tmp_path / "m", "--error-cost", "yes=3"]
    check_refused(run(*words), "the target holds numbers, not classes")


# --- Small budgets ------------------------------------------------------------------------------------------


def test_nothing_fits(fit):
    costs = COSTS.replace("grade,0", "grade,1")
    said = fit("--budget", 0.5, costs=costs)
    check_refused(said, "a budget of 0.5 buys nothing: the cheapest column costs 1; give at least that")
    check_refused(fit("--max-cost", 0.5, costs=costs), "a limit for each row of 0.5 buys nothing")


def test_what_fits_into_a_small_budget_is_bought(fit, run, tmp_path):
    """The stages begin with the exam, which is too expensive; the hint is better than nothing."""
    told = fit("--budget", 1.1, "--json", frame=hints(), costs=HINT_COSTS).json
    assert told["stages"][1]["sources"] == ["hint"]
    written = pd.read_csv(io.StringIO(run("predict", tmp_path / "m", tmp_path / "own.csv").out))
    assert written["label"].nunique() == 2
    assert written["cost"].max() <= 1.1
    assert (written["label"] == hints()["ill"]).mean() > 0.6
    assert BudgetPredictor.load(tmp_path / "m").max_cost is None


def test_columns_that_do_not_help(fit):
    rng = np.random.default_rng(0)
    noise = hints(400).assign(hint=rng.normal(size=400))
    said = fit("--budget", 1.1, frame=noise, costs=HINT_COSTS)
    check_refused(said, "they do not help to predict the target: the cheapest useful model costs 1.2 per")
    constant = hints(400).assign(hint=1, exam=2)
    check_refused(fit(frame=constant, costs=HINT_COSTS), "no column helps to predict")


def test_a_budget_that_is_left_is_told(fit):
    said = fit("--budget", 50, frame=hints(400), costs=HINT_COSTS)
    assert said.status == 0
    assert "much of the budget of 50 is left: a higher cost did not improve the score" in said.err
