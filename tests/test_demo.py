"""The demo is the main job: it must run, choose without the test rows, and say clearly what it cannot do."""

import json
import sys

import numpy as np
import pytest

from budgetprune import BudgetWarning, demo, plots
from budgetprune import _files as files

MEASUREMENTS = ["radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity"]


@pytest.fixture(scope="module")
def report():
    return demo.run(n_trees=15)


def test_the_whole_job(tmp_path, capsys):
    assert demo.main(["--out", str(tmp_path / "new" / "folder")]) == 0
    picture = tmp_path / "new" / "folder" / "trade_off.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    tables = ["costs.csv", "new_patients.csv", "patients.csv"]
    assert sorted(file.name for file in picture.parent.iterdir()) == [*tables, "trade_off.png"]
    printed = capsys.readouterr().out
    assert str(picture) in printed
    lines = printed.splitlines()
    assert sum("<- chosen" in line for line in lines) == 1
    assert sum(line.strip().startswith("unpruned") for line in lines) == 1
    assert "Full cost" in printed
    assert len(lines) < 32


def test_its_tables_are_ones_that_fit_takes(tmp_path):
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from budgetprune._commands._app import app

    patients, new_patients, costs = map(str, demo.write_tables(tmp_path))
    model = str(tmp_path / "m")
    words = ["fit", patients, "--target", "diagnosis", "--costs", costs, "--budget", "6"]
    outcome = CliRunner().invoke(app, [*words, "--test", new_patients, "--out", model, "--json"])
    assert outcome.exit_code == 0, outcome.output
    compared = json.loads(outcome.stdout)["compared"]
    assert compared["rows"] == "test"
    assert compared["chosen"]["cost"] < 7
    assert compared["chosen"]["score"] > 0.85


def test_a_measurement_is_paid_once_for_its_three_statistics():
    names = [f"mean {name}" for name in MEASUREMENTS] + ["concave points error", "worst symmetry"]
    costs = demo.measurement_costs([*names, "fractal dimension error"]).resolve(10)
    needed = [costs.source_names[source] for source in costs.needs]
    assert needed == [*MEASUREMENTS, "concave points", "symmetry", "fractal dimension"]
    assert costs.n_sources == 10


def test_the_report_is_measured_on_the_rows_it_names(report):
    path = report.path
    assert report.validation.cost == pytest.approx(path.cost)
    assert np.all(np.diff(report.test.cost) <= 0)
    assert report.test.cost[0] <= report.test.unpruned_cost <= sum(demo.MINUTES.values())
    # What the rows buy, at its price, is what they pay.
    assert report.purchases.share @ report.purchases.price == pytest.approx(report.test.cost)
    assert sum(report.n_rows) == 569


def test_the_choice_is_made_on_validation_rows(report):
    chosen, error = report.chosen, report.validation.error
    assert report.budget == pytest.approx(report.validation.cost[chosen])
    assert error[chosen] <= error.min() + np.sqrt(error.min() * (1 - error.min()) / report.n_rows[1])
    assert np.all(error[chosen + 1 :] > error[chosen])


@pytest.mark.parametrize(("error", "chosen"), [([0.1, 0.1, 0.1], 2), ([0.02, 0.03, 0.5], 1), ([0, 0.01], 0)])
def test_cheapest_good(error, chosen):
    assert demo.cheapest_good(np.array(error), 100) == chosen


def test_a_budget_can_be_given():
    report = demo.run(budget=7.0, n_trees=15)
    assert report.path.cost[report.chosen] <= 7 < report.path.cost[report.chosen - 1]
    with pytest.warns(BudgetWarning):
        assert demo.run(budget=0, n_trees=5).chosen == len(demo.run(n_trees=5).path) - 1


def test_a_budget_that_buys_nothing_is_noted(tmp_path, capsys):
    assert demo.main(["--out", str(tmp_path), "--budget", "0.1"]) == 0
    assert "Note: a budget of 0.1 buys nothing" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--budget", "-1"], "budget must be a number of at least 0"),
        (["--budget", "nan"], "budget must be a number of at least 0"),
        (["--budget", "cheap"], "invalid float value: 'cheap'"),
        (["--seed", "-1"], "invalid seed value: '-1'"),
        (["--out", __file__], "File exists"),
    ],
)
def test_bad_values(tmp_path, capsys, arguments, words):
    with pytest.raises(SystemExit) as stopped:
        demo.main(["--out", str(tmp_path), *arguments])
    assert stopped.value.code == 2
    assert words in capsys.readouterr().err


def test_without_matplotlib(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(SystemExit):
        demo.main(["--out", str(tmp_path)])
    assert "budgetprune[plot]" in capsys.readouterr().err


def test_an_interrupted_picture_leaves_nothing(tmp_path, report, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        plots.save_trade_off(
            tmp_path / "x.png", report.test, chosen=0, purchases=report.purchases, title="", unit=""
        )
    assert list(tmp_path.iterdir()) == []
