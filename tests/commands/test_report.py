"""``budgetprune report``: a page, or the same as JSON; one line for what is wrong, never a traceback."""

from __future__ import annotations

import json
import re
import shutil
import sys
from dataclasses import replace

import numpy as np
import pytest

from budgetprune import BudgetPredictor, cli
from budgetprune.report import to_json
from budgetprune.workflow import rebudget_model

from ..report.models import case, summary_of

pytest.importorskip("plotly")
pytest.importorskip("jinja2")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    for name, target in (("categories", "verdict"), ("diabetes", "progression")):
        found = case(name)
        found.model.save(folder / f"{name}.budgetprune")
        found.X.assign(**{target: found.y}).to_csv(folder / f"{name}.csv", index=False)
    case("boosted").predictor.save(folder / "alone.budgetprune")
    staged = case("three classes")
    staged.model.save(folder / "staged.budgetprune")
    staged.X.assign(diagnosis=staged.y).to_csv(folder / "staged.csv", index=False)
    return folder


def run(monkeypatch, capfd, *words):
    """Call `main` as the console script does."""
    monkeypatch.setattr(sys, "argv", ["budgetprune", "report", *map(str, words)])
    status = 0
    try:
        cli.main()
    except SystemExit as end:
        status = end.code or 0
    said = capfd.readouterr()
    return status, said.out, said.err


def test_a_page(monkeypatch, capfd, files, tmp_path):
    words = [files / "categories.budgetprune", "--data", files / "categories.csv"]
    status, out, err = run(monkeypatch, capfd, *words, "--out", tmp_path / "page.html", "--unit", "EUR")
    assert status == 0, err
    assert "Your model costs" in out
    assert "page.html" in out
    assert "measuring all points" in err
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Predicting verdict on a budget" in page
    assert "EUR per prediction" in page


def test_the_default_page_is_here(monkeypatch, capfd, files, tmp_path):
    monkeypatch.chdir(tmp_path)
    words = [
        files / "diabetes.budgetprune",
        "--data",
        files / "diabetes.csv",
        "--title",
        "Sugar <3",
        "--quiet",
    ]
    assert run(monkeypatch, capfd, *words) == (0, "", "")
    assert "Sugar &lt;3" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["categories", "diabetes"])
def test_json(monkeypatch, capfd, files, tmp_path, name):
    monkeypatch.chdir(tmp_path)
    words = [files / f"{name}.budgetprune", "--data", files / f"{name}.csv", "--json"]
    status, out, err = run(monkeypatch, capfd, *words)
    assert status == 0, err
    expected = to_json(replace(summary_of(name), model_name=f"{name}.budgetprune"))
    assert json.loads(out) == json.loads(json.dumps(expected))
    assert not list(tmp_path.iterdir())


def test_a_page_of_a_staged_model(monkeypatch, capfd, files, tmp_path):
    words = [files / "staged.budgetprune", "--data", files / "staged.csv", "--unit", "EUR"]
    status, out, err = run(monkeypatch, capfd, *words, "--out", tmp_path / "page.html")
    assert status == 0, err
    assert "Your model costs" in out
    assert "measuring all points of the curve on 240 rows" in err
    assert ">Stages</h2>" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_json_of_a_staged_model(monkeypatch, capfd, files):
    words = [files / "staged.budgetprune", "--data", files / "staged.csv", "--json", "--quiet"]
    status, out, err = run(monkeypatch, capfd, *words)
    assert (status, err) == (0, "")
    expected = to_json(replace(summary_of("three classes"), model_name="staged.budgetprune"))
    assert json.loads(out) == json.loads(json.dumps(expected))
    status, out, _ = run(monkeypatch, capfd, *words, "--stories", "0", "--rows", "30")
    assert (status, json.loads(out)["stories"], json.loads(out)["n_point_rows"]) == (0, [], 30)


@pytest.mark.parametrize("name", ["staged", "categories"])
def test_a_command_of_the_page_gives_its_point(monkeypatch, capfd, files, tmp_path, name):
    monkeypatch.chdir(tmp_path)
    shutil.copy(files / f"{name}.budgetprune", tmp_path)
    words = [f"{name}.budgetprune", "--data", files / f"{name}.csv", "--json", "--quiet"]
    told = json.loads(run(monkeypatch, capfd, *words)[1])
    for number, point in enumerate(told["points"]):
        if point["budget"] is None:
            continue
        command = point["decided"]["words"]["command"].split()
        monkeypatch.setattr(sys, "argv", command)
        with pytest.raises(SystemExit, match=r"^0$"):
            cli.main()
        found = BudgetPredictor.load(command[-1])
        if name == "staged":
            assert found.model.point == number
        else:
            assert found.forest.n_splits == point["n_splits"]
    assert sum(point["budget"] is not None for point in told["points"]) >= 3
    assert "splits on" in capfd.readouterr().out or name == "staged"


def test_error_costs_and_downloads(monkeypatch, capfd, files):
    words = [files / "categories.budgetprune", "--data", files / "categories.csv", "--json", "--quiet"]
    more = ["--error-cost", "keep=3", "--error-cost", "2", "--download", "/v1/model?budget={budget}"]
    status, out, err = run(monkeypatch, capfd, *words, *more)
    assert (status, err) == (0, "")
    told = json.loads(out)
    assert told["error_prices"] == "A wrong answer costs 3 for keep and 2 for sell."
    own = told["points"][told["delivered"]]
    (_, kept), (sold, _) = own["full"]["confusion"]
    assert own["full"]["error_cost"] == pytest.approx((3 * kept + 2 * sold) / told["n_rows"], rel=1e-4)
    assert own["download"] == f"/v1/model?budget={own['budget']}"


def test_another_model(monkeypatch, capfd, files, tmp_path):
    found = case("categories")
    rebudget_model(found.model, 5.0).save(tmp_path / "other.budgetprune")
    words = [files / "categories.budgetprune", "--data", files / "categories.csv"]
    words += ["--compare", tmp_path / "other.budgetprune"]
    status, out, err = run(monkeypatch, capfd, *words, "--json", "--quiet")
    assert (status, err) == (0, "")
    told = json.loads(out)
    assert told["rival"]["name"] == "other.budgetprune"
    status, out, err = run(monkeypatch, capfd, *words, "--out", tmp_path / "page.html")
    assert status == 0, err
    assert told["rival"]["full"]["words"]["verdict"] in out
    for text in told["rival"]["full"]["facts"][:3]:
        assert text in out
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "other.budgetprune" in page
    wrong = [*words[:3], "--compare", files / "diabetes.budgetprune", "--json", "--quiet"]
    status, _, err = run(monkeypatch, capfd, *wrong)
    assert status == 2
    assert "predicts 'progression', not 'verdict'; compare models for the same target" in err
    status, _, err = run(monkeypatch, capfd, *wrong, "--target", "verdict")
    assert status == 2
    assert re.search(r"--compare .*diabetes.budgetprune: .*categories.csv lacks 'age'", err)


@pytest.mark.parametrize("name", ["categories", "staged"])
def test_the_terminal_has_the_summary_of_the_page(monkeypatch, capfd, files, tmp_path, name):
    """The same measures, recommendation, recall and precision as in the JSON output."""
    words = [files / f"{name}.budgetprune", "--data", files / f"{name}.csv"]
    told = json.loads(run(monkeypatch, capfd, *words, "--json", "--quiet")[1])
    status, out, err = run(monkeypatch, capfd, *words, "--out", tmp_path / "page.html")
    assert status == 0, err
    assert told["headline"] in out
    assert told["recommendation"] in out
    own = told["points"][told["delivered"]]
    outcome = own.get(told["counting"]) or own["decided"]
    table = [line.split() for line in out.splitlines()]
    for fact in outcome["facts"]:
        assert any(fact.split()[0] in line for line in table), fact
    for label, measures in zip(told["named_classes"], outcome["by_class"], strict=True):
        line = next(line for line in table if line[:1] == [label] and len(line) == 4)
        assert line[1] == str(measures["n_rows"])
        for text, share in zip(line[2:], (measures["recall"], measures["precision"]), strict=True):
            assert text == ("–" if share is None else f"{share:.1%}")


def test_other_wishes(monkeypatch, capfd, files):
    words = [files / "categories.budgetprune", "--data", files / "categories.csv", "--json", "--quiet"]
    status, out, err = run(monkeypatch, capfd, *words, "--stories", "0", "--rows", "30", "--seed", "3")
    assert (status, err) == (0, "")
    told = json.loads(out)
    assert told["stories"] == []
    assert told["n_path_rows"] == 30


def test_labels_that_the_model_does_not_know(monkeypatch, capfd, files, tmp_path):
    found = case("categories")
    y = np.array(found.y, dtype=object)
    y[:2] = "lend"
    found.X.assign(verdict=y).to_csv(tmp_path / "rows.csv", index=False)
    words = [files / "categories.budgetprune", "--data", tmp_path / "rows.csv", "--json", "--quiet"]
    status, out, err = run(monkeypatch, capfd, *words)
    assert (status, err) == (0, "")
    told = json.loads(out)
    assert told["classes"][-1] == "unknown to the model"
    assert sum(told["points"][0]["full"]["confusion"][-1]) == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing.budgetprune", "--data", "diabetes.csv"], "nothing.budgetprune"),
        (["diabetes.csv", "--data", "diabetes.csv"], "not a model that budgetprune saved"),
        (["diabetes.budgetprune", "--data", "nothing.csv"], "nothing.csv"),
        (["diabetes.budgetprune"], "--data"),
        (
            ["diabetes.budgetprune", "--data", "diabetes.csv", "--error-cost", "x=1"],
            "one number of at least 0",
        ),
        (["diabetes.budgetprune", "--data", "diabetes.csv", "--download", "x"], "download must be a URL"),
        (["diabetes.budgetprune", "--data", "categories.csv"], "the target 'progression' is not a column"),
        (
            ["diabetes.budgetprune", "--data", "diabetes.csv", "--target", "gain"],
            "the target 'gain' is not a column",
        ),
        (
            ["diabetes.budgetprune", "--data", "diabetes.csv", "--out", "no/page.html"],
            "there is no folder no",
        ),
        (["diabetes.budgetprune", "--data", "diabetes.csv", "--out", "."], "is a folder"),
        (["diabetes.budgetprune", "--data", "diabetes.csv", "--stories", "9"], "--stories"),
        (["alone.budgetprune", "--data", "diabetes.csv"], "no path with it"),
        (["staged.budgetprune", "--data", "diabetes.csv"], "the target 'diagnosis' is not a column"),
        (["staged.budgetprune", "--data", "diabetes.csv", "--target", "sex"], "lacks|never one of"),
        (["categories.budgetprune", "--data", "diabetes.csv", "--target", "sex"], "lacks|never one of"),
    ],
)
def test_refusals(monkeypatch, capfd, files, words, message):
    monkeypatch.chdir(files)
    before = sorted(files.iterdir())
    status, out, err = run(monkeypatch, capfd, *words)
    assert status == 2
    assert out == ""
    line = err.splitlines()[-1]
    assert re.fullmatch(rf"budgetprune: error: .*({message}).*", line), err
    assert "Traceback" not in err
    assert sorted(files.iterdir()) == before


def test_the_address_is_checked_before_the_data_is_read(monkeypatch, capfd, files):
    words = [files / "diabetes.budgetprune", "--data", files / "diabetes.csv", "--download", "x"]
    status, _, err = run(monkeypatch, capfd, *words)
    assert status == 2
    assert "reading" not in err


@pytest.mark.parametrize("package", ["jinja2", "plotly"])
def test_an_extra_that_is_not_installed(monkeypatch, capfd, files, package):
    monkeypatch.setitem(sys.modules, package, None)  # importing it fails now
    words = [files / "diabetes.budgetprune", "--data", files / "diabetes.csv"]
    status, _, err = run(monkeypatch, capfd, *words)
    assert status == 1
    assert f"{package} is not installed; run: pip install 'budgetprune[report]'" in err


def test_rows_without_a_target_are_named(monkeypatch, capfd, files, tmp_path):
    lines = (files / "diabetes.csv").read_text().splitlines()
    at = lines[0].split(",").index("progression")
    for k in (2, 5):
        fields = lines[k].split(",")
        lines[k] = ",".join([*fields[:at], "", *fields[at + 1 :]])
    (tmp_path / "gaps.csv").write_text("\n".join(lines))
    status, _, err = run(
        monkeypatch, capfd, files / "diabetes.budgetprune", "--data", tmp_path / "gaps.csv", "--json"
    )
    assert status == 2
    assert "'progression' is missing in 2 of " in err
    assert " rows: lines 3, 6 of " in err
