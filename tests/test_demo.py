"""The demo is the main job: it must run, measure on test rows, and say clearly what it cannot do."""

import json
import sys

import pytest

from budgetprune import demo
from budgetprune.plotting import plots
from budgetprune.utils import files

from .training import full_training

MEASUREMENTS = ["radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity"]


@pytest.fixture(scope="module")
def models():
    with full_training():
        return demo.train(n_trees=15)


@pytest.fixture(scope="module")
def report(models):
    return demo.measure(models)


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
    assert sum(line.strip().startswith("full forest") for line in lines) == 1
    assert "staged model" in printed
    assert "pruned forest" in printed
    assert len(lines) < 32


def test_its_tables_are_ones_that_fit_takes(tmp_path):
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from budgetprune.commands.app import build_app

    patients, new_patients, costs = map(str, demo.write_tables(tmp_path))
    model = str(tmp_path / "m")
    words = ["fit", patients, "--target", "diagnosis", "--costs", costs, "--budget", "6"]
    outcome = CliRunner().invoke(build_app(), [*words, "--test", new_patients, "--out", model, "--json"])
    assert outcome.exit_code == 0, outcome.output
    compared = json.loads(outcome.stdout)["compared"]
    assert compared["rows"] == "test"
    assert compared["chosen"]["cost"] < 7 < compared["whole"]["cost"]
    assert compared["chosen"]["score"] > 0.85


def test_a_measurement_is_paid_once_for_its_three_statistics():
    names = [f"mean {name}" for name in MEASUREMENTS] + ["concave points error", "worst symmetry"]
    costs = demo.measurement_costs([*names, "fractal dimension error"]).resolve(10)
    needed = [costs.source_names[source] for source in costs.needs]
    assert needed == [*MEASUREMENTS, "concave points", "symmetry", "fractal dimension"]
    assert costs.n_sources == 10


def test_the_report_is_measured_on_the_test_rows(report):
    curve = report.curve
    assert len(curve.cost) == len(report.staged.tradeoff_)
    assert curve.cost.max() <= sum(demo.MINUTES.values())
    # What the rows buy, at its price, is what they pay.
    assert report.purchases.share @ report.purchases.price == pytest.approx(curve.cost)
    assert sum(report.n_rows) == 569
    assert report.full.cost > report.lines[-1].pruned.cost


def test_the_staged_model_is_ahead(report):
    """Good answers for a fraction of what the full forest buys, and more for a larger budget."""
    chosen = next(line for line in report.lines if line.budget == report.budget)
    assert chosen.staged.cost < report.full.cost / 4
    assert chosen.staged.error < 0.12
    costs = [line.staged.cost for line in report.lines]
    assert costs == sorted(costs)
    assert report.curve.cost[report.chosen] == pytest.approx(chosen.staged.cost)


def test_another_budget(models, report):
    other = demo.measure(models, 1.7)
    assert [line.budget for line in other.lines] == sorted({*demo.BUDGETS, 1.7})
    assert demo.table(other).count("<- chosen") == 1
    assert other.chosen <= report.chosen
    assert demo.note(other) is None


def test_a_budget_that_is_too_small_is_noted(models):
    note = demo.note(demo.measure(models, 0.1))
    assert "within 0.1 minutes, the model predicts the same for all rows" in note


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--budget", "-1"], "invalid budget value: '-1'"),
        (["--budget", "nan"], "invalid budget value: 'nan'"),
        (["--budget", "cheap"], "invalid budget value: 'cheap'"),
        (["--seed", "-1"], "invalid seed value: '-1'"),
        (["--out", __file__], "File exists"),
    ],
)
def test_bad_values(tmp_path, capsys, arguments, words):
    with pytest.raises(SystemExit) as stopped:
        demo.main(["--out", str(tmp_path), *arguments])
    assert stopped.value.code == 2
    assert words in capsys.readouterr().err


def test_without_matplotlib(tmp_path, capsys, monkeypatch, models):
    monkeypatch.setattr(demo, "train", lambda seed: models)
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
            tmp_path / "x.png",
            report.curve,
            chosen=0,
            purchases=report.purchases,
            beside=report.pruned_curve,
            full=("full forest", 20, 0.1),
            title="",
            unit="",
        )
    assert list(tmp_path.iterdir()) == []
