"""Scores, class weights, thresholds, units, and all probabilities on the command line."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss, recall_score, roc_auc_score

from budgetprune.model import BudgetModel

from .commands import FOREST, check_refused, patients


@pytest.fixture(scope="module")
def measured(files, tmp_path_factory):
    """A pruned model and a staged one, with all of the options; and their output."""
    from .conftest import _said

    folder = tmp_path_factory.mktemp("measured")
    words = [files.data, "--target", "ill", "--costs", files.costs, "--test", files.test, "--unit", "EUR"]
    words += ["--scoring", "roc_auc", "--class-weight", "yes=3", "--threshold", 0.4]
    pruned = [*FOREST, *words, "--trees", 8, "--budget", 14, "--out", folder / "pruned"]
    staged = ["fit", *words, "--time-limit", 1, "--budget", 8, "--out", folder / "staged"]
    return {
        name: (folder / name, _said(given)[0]) for name, given in (("pruned", pruned), ("staged", staged))
    }


@pytest.mark.parametrize("kind", ["pruned", "staged"])
def test_tables_and_probabilities(kind, measured, files, run, tmp_path):
    """What fit shows is what scikit-learn finds in the probabilities that predict writes."""
    model, out = measured[kind]
    test = pd.read_csv(files.test)
    full = ["--full"] if kind == "pruned" else []
    said = run("predict", model, files.test, "--proba", *full)
    written = pd.read_csv(io.StringIO(said.out))
    shares = written[["probability_no", "probability_yes"]].to_numpy()
    assert np.allclose(shares.sum(axis=1), 1)
    assert written["label"].tolist() == np.where(shares[:, 1] >= 0.4, "yes", "no").tolist()
    assert np.allclose(written["probability"], np.where(shares[:, 1] >= 0.4, shares[:, 1], shares[:, 0]))
    own = BudgetModel.load(model).about
    assert (own.score_name, own.unit) == ("roc_auc", "EUR")
    quality, auc = own.compared.chosen.quality, roc_auc_score(test["ill"] == "yes", shares[:, 1])
    assert quality.auc == pytest.approx(auc)
    assert own.compared.chosen.score == pytest.approx(auc)
    assert quality.log_loss == pytest.approx(log_loss(test["ill"], shares))
    recall = recall_score(test["ill"], written["label"], pos_label="yes")
    assert quality.by_class[1].recall == pytest.approx(recall)
    for text in (f"{auc:.4f}", f"{100 * recall:.1f} %", "recall of yes", "log loss", "EUR", "roc_auc"):
        assert text in out
    inspected = run("inspect", model).out
    assert f"{100 * recall:.1f} %" in inspected
    assert "EUR" in inspected
    other = pd.read_csv(io.StringIO(run("predict", model, files.test, "--threshold", 0.7, *full).out))
    assert other["label"].tolist() == np.where(shares[:, 1] >= 0.7, "yes", "no").tolist()
    assert other["cost"].tolist() == written["cost"].tolist()
    said = run("predict", model, files.test, "--out", tmp_path / "p.csv")
    assert " EUR on average" in said.out


def test_the_unit_of_a_report(measured, files, run):
    pytest.importorskip("jinja2")
    said = run("report", measured["pruned"][0], "--data", files.test, "--json", "--rows", 100)
    assert said.json["unit"] == "EUR"
    said = run(
        "report", measured["pruned"][0], "--data", files.test, "--json", "--rows", 100, "--unit", "min"
    )
    assert said.json["unit"] == "min"


def test_rebudget_keeps_unit_and_threshold(measured, run, tmp_path):
    for kind, budget in (("pruned", 14), ("staged", 6)):
        said = run("rebudget", measured[kind][0], "--budget", budget, "--out", tmp_path / "other")
        assert said.status == 0, said.err
        other = BudgetModel.load(tmp_path / "other")
        assert other.about.unit == "EUR"
        assert other.predictor.threshold == 0.4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--scoring", "auc"], "'auc' is not a scorer of scikit-learn"),
        (["--scoring", "r2"], "r2 cannot score these rows"),
        (["--class-weight", "maybe=2"], "is for the class 'maybe', which the target does not have"),
        (["--class-weight", "2"], "must be balanced, or CLASS=WEIGHT"),
        (["--class-weight", "no=1", "--class-weight", "no=2"], "'no' has two weights"),
        (["--class-weight", "balanced", "--class-weight", "no=2"], "balanced is for all classes"),
        (["--threshold", 0.5, "--error-cost", 5], "not both: each of them chooses the class"),
        (["--qid", "query"], "'query' is not a column of"),
    ],
)
def test_refused(words, message, files, run, tmp_path):
    said = run("fit", files.data, "--target", "ill", "--out", tmp_path / "m", *words)
    check_refused(said, message)
    assert not (tmp_path / "m").exists()


def test_options_of_classes_need_classes(files, run, tmp_path):
    words = ["fit", files.data, "--target", "lab", "--drop", "ill", "--out", tmp_path / "m"]
    check_refused(
        run(*words, "--threshold", 0.5), "decides between two classes, but the target holds numbers"
    )
    check_refused(run(*words, "--class-weight", "balanced"), "is for classification")


def test_refused_predictions(measured, files, run, tmp_path):
    model = measured["pruned"][0]
    frame = pd.read_csv(files.test).assign(probability_no=1)
    frame.to_csv(tmp_path / "t.csv", index=False)
    said = run("predict", model, tmp_path / "t.csv", "--proba", "--keep", "probability_no")
    check_refused(said, "has the name of a column that is written")


@pytest.mark.parametrize("kind", ["pruned", "staged"])
def test_intervals(kind, run, tmp_path):
    for name, seed in (("data", 0), ("test", 1)):
        patients(500, seed).drop(columns="ill").to_csv(tmp_path / f"{name}.csv", index=False)
    words = [*FOREST, "--trees", 8] if kind == "pruned" else ["fit"]
    model, test = tmp_path / "m", tmp_path / "test.csv"
    said = run(*words, tmp_path / "data.csv", "--target", "risk", "--out", model)
    assert said.status == 0, said.err

    def predict(*more):
        return run("predict", model, test, *more)

    written = pd.read_csv(io.StringIO(predict("--interval", 0.8).out))
    truth = pd.read_csv(test)["risk"]
    inside = (written["lower"] <= truth) & (truth <= written["upper"])
    assert 0.7 <= inside.mean() <= 0.9
    assert np.allclose((written["lower"] + written["upper"]) / 2, written["prediction"])
    for extra in (["--full"], ["--max-cost", 3]):
        check_refused(predict("--interval", 0.8, *extra), "leave --full and --max-cost out")
    check_refused(predict("--interval", 2), "must be above 0 and below 1")
    check_refused(predict("--proba"), "--proba is for classes")
    check_refused(predict("--threshold", 0.4), "decides between two classes")
    pd.read_csv(test).assign(lower=1).to_csv(test, index=False)
    check_refused(predict("--interval", 0.8, "--keep", "lower"), "name of a column that is written")


def test_no_intervals_of_classes(files, run):
    said = run("predict", files.model, files.test, "--interval", 0.8)
    check_refused(said, "intervals are for regression; a classifier has probabilities")
