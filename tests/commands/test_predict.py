"""``budgetprune predict``: predictions of a model file."""

from __future__ import annotations

import csv
import io

import numpy as np
import pandas as pd
import pytest

from budgetprune import BudgetPredictor
from budgetprune.model import BudgetModel
from budgetprune.problem.acquisition import sources_used
from budgetprune.workflow.tables import read_table_for, rows_for

from ..golden.write import FOLDER
from .commands import FOREST, check_refused


@pytest.fixture
def rows(files):
    forest = BudgetModel.load(files.model).predictor.forest
    return rows_for(forest, read_table_for(forest, files.test))


def test_predictions_stop_early(files, run, rows, tmp_path):
    said = run("predict", files.model, files.test, "--out", tmp_path / "p.csv", "--keep", "age")
    assert said.status == 0
    assert "300 predictions cost" in said.out
    written = pd.read_csv(tmp_path / "p.csv", keep_default_na=False)
    assert list(written) == ["age", "label", "probability", "cost", "decided", "features_used"]
    predictor = BudgetPredictor.load(files.model)
    simulation = predictor.simulate(rows)
    assert written["label"].tolist() == simulation.label.tolist() == predictor.predict(rows).tolist()
    assert written["cost"].tolist() == pytest.approx(simulation.cost.tolist())
    assert written["decided"].all()
    assert written["probability"].between(0.5, 1).all()
    for names, cost in zip(written["features_used"], written["cost"], strict=True):
        bought = set(names.split(";")) - {"", "grade"}
        assert cost == sum(
            {"age": 1, "town": 2, "smoker": 1, "lab": 4, "marker": 3}[name] for name in bought
        ) + (5 if bought & {"lab", "marker"} else 0)


def test_predictions_from_everything(files, run, rows):
    said = run("predict", files.model, files.test, "--full")
    written = list(csv.DictReader(io.StringIO(said.out)))
    predictor = BudgetPredictor.load(files.model)
    proba = predictor.predict_proba(rows)
    classes = predictor.forest.classes.tolist()
    assert [line["label"] for line in written] == predictor.predict(rows).tolist()
    own = [proba[i, classes.index(line["label"])] for i, line in enumerate(written)]
    assert [float(line["probability"]) for line in written] == pytest.approx(own)
    used = sources_used(predictor.forest, predictor.costs, rows)
    assert [float(line["cost"]) for line in written] == pytest.approx(predictor.costs.total(used).tolist())
    early = run("predict", files.model, files.test, "--json", "--keep", "age").json
    assert [line["label"] for line in early["predictions"]] == predictor.predict(rows).tolist()
    assert any(line["age"] is None for line in early["predictions"])
    assert early["mean_cost"] < predictor.costs.total(used).mean()


def test_a_limit_for_each_row(files, run):
    said = run("predict", files.model, files.test, "--max-cost", 3)
    written = pd.read_csv(io.StringIO(said.out), keep_default_na=False)
    assert written["cost"].max() <= 3
    assert not written["decided"].all()
    assert not written["features_used"].str.contains("lab").any()


def test_columns_that_nobody_asks_for_may_be_absent(files, run, tmp_path):
    frame = pd.read_csv(files.test).head(20)
    used = {line["name"] for line in run("inspect", files.model, "--json").json["features"]}
    unused = [name for name in frame.columns if name not in used]
    assert "ill" in unused
    frame.drop(columns=unused).to_csv(tmp_path / "d.csv", index=False)
    short = run("predict", files.model, tmp_path / "d.csv")
    frame.to_csv(tmp_path / "d.csv", index=False)
    assert run("predict", files.model, tmp_path / "d.csv").out == short.out
    frame.drop(columns=min(used)).to_csv(tmp_path / "d.csv", index=False)
    check_refused(
        run("predict", files.model, tmp_path / "d.csv"), f"lacks '{min(used)}', which the model needs"
    )


def test_regression(run, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a b", "c[1]", "d"])
    y = frame @ [5, 2, 0.1]
    frame.assign(y=y).to_csv(tmp_path / "d.csv", index=False)
    words = [
        *FOREST,
        tmp_path / "d.csv",
        "--target",
        "y",
        "--trees",
        5,
        "--budget",
        2,
        "--out",
        tmp_path / "m",
    ]
    assert run(*words, "--quiet").status == 0
    written = pd.read_csv(io.StringIO(run("predict", tmp_path / "m", tmp_path / "d.csv").out))
    assert list(written) == ["prediction", "cost", "decided", "features_used"]
    assert np.corrcoef(written["prediction"], y)[0, 1] > 0.7
    assert "c[1]" in run("inspect", tmp_path / "m").out


def test_models_that_know_no_names(run, tmp_path):
    rows = pd.DataFrame([[0.0, 1.0, 2.0], [1.0, 0.0, 33.0]], columns=list("pqr"))
    rows.to_csv(tmp_path / "d.csv", index=False)
    golden = FOLDER / "boosted-1.budgetprune"
    written = pd.read_csv(io.StringIO(run("predict", golden, tmp_path / "d.csv", "--full").out))
    assert written["prediction"].tolist() == pytest.approx(
        BudgetPredictor.load(golden).predict(rows.to_numpy())
    )
    rows.assign(s=1).to_csv(tmp_path / "d.csv", index=False)
    check_refused(run("predict", golden, tmp_path / "d.csv"), "has 4 columns, but the model has 3 features")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--keep", "name"], "--keep 'name' is not a column of"),
        (["--full", "--max-cost", 3], "--max-cost is for predictions that stop early"),
        (["--out", "nowhere/p.csv"], "there is no folder nowhere"),
    ],
)
def test_what_is_refused(files, run, words, message):
    check_refused(run("predict", files.model, files.test, *words), message)


def test_names_that_are_taken(files, run, tmp_path):
    pd.read_csv(files.test).assign(cost=1).to_csv(tmp_path / "d.csv", index=False)
    check_refused(
        run("predict", files.model, tmp_path / "d.csv", "--keep", "cost"), "--keep cost has the name of"
    )


def test_text_where_the_model_wants_numbers(files, run, tmp_path):
    frame = pd.read_csv(files.test).astype({"lab": object})
    frame.loc[4, "lab"] = "low"
    frame.to_csv(tmp_path / "d.csv", index=False)
    said = run("predict", files.model, tmp_path / "d.csv")
    check_refused(said, r"column 'lab' holds numbers, but also text: 'low' in line 6 of")
    assert "--categorical" not in said.err


@pytest.mark.parametrize("command", ["predict", "path", "inspect"])
def test_files_that_are_no_models(files, run, tmp_path, command):
    (tmp_path / "m").write_text("hello")
    words = [files.test] if command == "predict" else []
    check_refused(run(command, tmp_path / "m", *words), "not a model that budgetprune saved")
    check_refused(run(command, tmp_path / "n", *words), "does not exist")


def test_digits_are_kept(files, run):
    told = run("predict", files.model, files.test, "--json").json["predictions"]
    written = run("predict", files.model, files.test).out.splitlines()[1:]
    assert [str(line["probability"]) for line in told] == [line.split(",")[1] for line in written]


# --- Spreadsheets -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def clinic_of_formulas(files, tmp_path_factory):
    """Rows, a price list and a model whose labels and columns begin like formulas."""
    folder = tmp_path_factory.mktemp("formulas")
    names = {"ill": "=ill", "age": "+age", "lab": "@lab", "marker": "-marker"}
    frame = pd.read_csv(files.data).rename(columns=names)
    frame["=ill"] = frame["=ill"].map({"yes": "=1+1", "no": "-1"})
    frame.to_csv(folder / "d.csv", index=False)
    return folder


def test_formulas_are_escaped(clinic_of_formulas, run):
    folder = clinic_of_formulas
    costs, model = folder / "costs.csv", folder / "m"
    words = ["--target", "=ill", "--out"]
    assert run("costs", "init", folder / "d.csv", *words, costs).status == 0
    assert [line.partition(",")[0] for line in costs.read_text().splitlines()[1:]] == [
        "'+age",
        "town",
        "smoker",
        "grade",
        "'@lab",
        "'-marker",
    ]
    costs.write_text(costs.read_text().replace(",,,", ",2,,"))
    said = run(*FOREST, folder / "d.csv", *words, model, "--costs", costs, "--trees", 5, "--quiet")
    assert said == (0, "", "")
    predict = ["predict", model, folder / "d.csv", "--keep", "=ill", "--full"]
    for out in (run(*predict).out, _written(run, folder, predict)):
        lines = list(csv.DictReader(io.StringIO(out)))
        assert {line["label"] for line in lines} == {"'=1+1", "-1"}
        assert {line["'=ill"] for line in lines} == {"'=1+1", "-1"}
        used = {name for line in lines for name in line["features_used"].split(";")}
        assert {"'+age", "'@lab", "'-marker"} <= used
    plain = list(csv.DictReader(io.StringIO(run(*predict, "--no-escape-formulas").out)))
    assert {line["label"] for line in plain} == {line["=ill"] for line in plain} == {"=1+1", "-1"}
    assert not any("'" in line["features_used"] for line in plain)
    told = run(*predict, "--json").json["predictions"]
    assert {line["label"] for line in told} == {"=1+1", "-1"}


def _written(run, folder, predict):
    assert run(*predict, "--out", folder / "p.csv").status == 0
    return (folder / "p.csv").read_text()


def test_price_lists_without_quotes_are_understood(clinic_of_formulas, run):
    folder = clinic_of_formulas
    words = ["costs", "init", folder / "d.csv", "--target", "=ill", "--no-escape-formulas"]
    text = run(*words).out
    assert "\n+age,,," in text
    (folder / "plain.csv").write_text(text.replace(",,,", ",2,,"))
    words = [*FOREST, folder / "d.csv", "--target", "=ill", "--costs", folder / "plain.csv", "--trees", 2]
    assert run(*words, "--out", folder / "n", "--quiet") == (0, "", "")


def test_parquet_files_part_by_part(files, run, tmp_path):
    """A pattern of files, and a folder of predictions; the same predictions as of one table."""
    table = pd.read_csv(files.test)
    for name, part in (("a", table[:120]), ("b", table[120:])):
        part.to_parquet(tmp_path / f"{name}.parquet")
    options = "--engine", "local", "--out", tmp_path / "out", "--keep", "age"
    said = run("predict", files.model, tmp_path / "*.parquet", *options)
    assert said.status == 0
    assert "300 predictions cost" in said.out
    assert run("predict", files.model, files.test, "--out", tmp_path / "p.csv", "--keep", "age").status == 0
    written = pd.read_parquet(tmp_path / "out" / "part-000000.parquet")
    expected = pd.read_csv(tmp_path / "p.csv")
    for column in ("age", "cost", "probability"):
        assert written[column].tolist() == pytest.approx(expected[column].tolist(), nan_ok=True)
    assert written["label"].tolist() == expected["label"].tolist()
    check_refused(run("predict", files.model, tmp_path / "*.parquet"), "a pattern needs --engine")
    check_refused(run("predict", files.model, tmp_path), "is a folder; name a file, or add --engine")
    check_refused(run("predict", files.model, tmp_path, "--engine", "local"), "add --out with a folder")
    check_refused(run("predict", files.model, files.test, "--workers", "2"), "--workers is for --engine ray")
    again = (
        "predict",
        files.model,
        tmp_path / "*.parquet",
        "--engine",
        "local",
        "--out",
        tmp_path / "out",
        "--full",
    )
    check_refused(run(*again), "is not empty")
