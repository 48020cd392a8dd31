"""The benchmarks run: every row is produced, at a size that says nothing about speed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, make_classification

from benchmarks import large, shapes
from benchmarks.__main__ import main as standard
from benchmarks.compare import speed
from benchmarks.compare.__main__ import SHARES, cost_ratios, own_levels
from benchmarks.compare.__main__ import main as compare
from benchmarks.compare.data import DATA_SETS
from budgetprune_experiments.split import shuffle_split

ROWS = {
    "build": 2,
    "peer": 2,
    "training": 1,
    "primal-dual": 4,
    "memory": 2,
    "doubling": 2,
    "prediction": 4,
    "early": 9,
}


class Finished(NamedTuple):
    """Exit status of a command, and its output."""

    status: int
    out: str
    err: str


@pytest.fixture
def bench(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Finished]:
    """Run a benchmark's command in this process: starting others would take most of the time."""

    def run(*options: Any, data: Path | None = None, main: Callable[..., int] = standard) -> Finished:
        monkeypatch.delenv("BUDGETPRUNE_DATA", raising=False)
        if data is not None:
            monkeypatch.setenv("BUDGETPRUNE_DATA", str(data))
        capsys.readouterr()
        try:
            status = main([str(option) for option in options])
        except SystemExit as end:  # argparse refuses options
            status = int(end.code or 0)
        return Finished(status, *capsys.readouterr())

    return run


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shrink quick runs further: they are about the command alone."""
    monkeypatch.setattr(shapes, "QUICK", 100)
    monkeypatch.setattr(large, "QUICK", 60)


def run(bench: Callable[..., Finished], out: Path, *options: Any) -> tuple[dict[str, Any], str]:
    done = bench("--quick", "--repeats", 1, "--out", out, *options)
    assert done.status == 0, done.err
    return json.loads(out.read_text()), done.out


@pytest.mark.usefixtures("tiny")
def test_all_rows_of_the_standard_setting(bench: Any, tmp_path: Path) -> None:
    report, table = run(bench, tmp_path / "new" / "bench.json")
    (section,) = report["sections"]
    assert section["setting"] == "MiniBooNE shape"
    names = [row["name"] for row in section["rows"]]
    assert {name: names.count(name) for name in names} == ROWS
    assert all(row["value"] > 0 for row in section["rows"] if row["unit"] == "x")
    assert {row["verdict"] for row in section["rows"]} <= {"ok", "falls short", ""}
    assert all(row["what"] in table for row in section["rows"])
    assert report["machine"]["cores"] >= 1
    assert {"budgetprune", "ortools"} <= report["versions"].keys()


@pytest.mark.usefixtures("tiny")
def test_large_setting(bench: Any, tmp_path: Path) -> None:
    report, table = run(bench, tmp_path / "bench.json", "--large")
    rows = {row["what"]: row for row in report["sections"][0]["rows"]}
    assert rows["peak memory of all processes"]["verdict"] == "ok"
    assert rows["incidences"]["verdict"] == "falls short"  # which is why it is called quick
    assert "path at 10 lambdas" in table


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--only", "speed"], "choose from"),
        (["--repeats", "0"], "at least 1"),
        (["--large", "--only", "build"], "leave it out with --large"),
        (["--out", "."], "is a folder"),
    ],
)
def test_invalid_options(bench: Any, options: list[str], words: str) -> None:
    done = bench(*options)
    assert done.status == 2
    assert words in done.err


def test_a_data_folder_that_does_not_exist(bench: Any, tmp_path: Path) -> None:
    done = bench("--quick", "--out", tmp_path / "bench.json", data=tmp_path / "nowhere")
    assert done.status == 1
    assert "is not a folder" in done.err
    assert done.err.count("\n") == 1, "the folder is checked before anything is measured"
    assert not (tmp_path / "bench.json").exists()


def test_comparison_resumes_and_prints_mean_and_spread(bench, tmp_path):
    X, y = make_classification(3500, n_features=8, random_state=0)
    np.savez(tmp_path / "miniboone.npz", X=X.astype(np.float32), y=y)
    out = tmp_path / "compare.json"
    options = ["--quick", "--only", "MiniBooNE", "--methods", "forest", "paper", "--out", out]
    bench(*options, "--seeds", 1, data=tmp_path, main=compare)
    first = json.loads(out.read_text())
    run = bench(*options, "--seeds", 2, data=tmp_path, main=compare)
    results = json.loads(out.read_text())
    assert results[: len(first)] == first
    assert {result["seed"] for result in results} == {0, 1}
    assert all(result["cost"] <= 8 and 0.5 < result["accuracy"] <= 1 for result in results)
    assert "2 seeds" in run.out
    assert "±" in run.out


def test_comparison_says_where_its_data_should_be(bench, tmp_path):
    run = bench("--seeds", 1, "--out", tmp_path / "compare.json", main=compare)
    assert run.status == 1
    assert "set BUDGETPRUNE_DATA" in run.err


def test_costs_at_equal_accuracy() -> None:
    points = {
        "rival": [(4.0, 0.80), (8.0, 0.90), (16.0, 0.95)],
        "ours": [(2.0, 0.82), (5.0, 0.88), (6.0, 0.87), (7.0, 0.92)],
    }
    results = [
        {"seed": 0, "method": method, "cost": cost, "accuracy": accuracy}
        for method, some in points.items()
        for cost, accuracy in some
    ]
    # Below all points, half-way between two (the third is dearer than the second and worse), above all.
    np.testing.assert_allclose(cost_ratios(results, "rival", "ours"), [2 / 4, 6 / 8, np.nan])
    assert cost_ratios(results, "rival", "nobody").size == 0


def test_levels_of_a_rival_lie_between_its_cheapest_point_and_its_best() -> None:
    points = [(0.0, 0.50), (2.0, 0.60), (4.0, 0.80), (3.0, 0.70), (9.0, 0.75)]
    results = [{"seed": 1, "method": "rival", "cost": cost, "accuracy": each} for cost, each in points]
    np.testing.assert_allclose(own_levels(results, "rival", 1), 0.6 + 0.2 * np.array(SHARES))
    assert np.isnan(own_levels(results, "rival", 0)).all()


def test_comparison_on_rows_that_need_no_file(bench: Any, tmp_path: Path) -> None:
    out = tmp_path / "compare.json"
    options = ["--quick", "--only", "breast cancer", "--seeds", 1, "--out", out]
    run = bench(*options, "--methods", "staged", "cascade", "forest", main=compare)
    assert run.status == 0, run.err
    assert {result["method"] for result in json.loads(out.read_text())} == {"staged", "cascade"}
    assert "cost of 'staged' / cost of 'cascade' at accuracy" in run.out


def test_data_sets_without_files_have_enough_rows_of_each_class() -> None:
    for data in DATA_SETS[2:]:
        for shrink in (1, 20):
            split = data.divide(0, shrink)
            assert np.unique(split.train.y).size == np.unique(split.test.y).size > 1
            assert len(split.test) >= 100
            assert split.train.X.shape[1] >= max(data.budgets)


def test_times_of_staged_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "N_ROWS", 500)
    monkeypatch.setattr(speed, "REPEATS", 1)
    lines = speed.speed_lines(shuffle_split(*load_breast_cancer(return_X_y=True), 0, n_train=240, n_val=100))
    assert [line.split(",")[0] for line in lines] == ["quiet"] * 3 + ["one core busy"] * 3
    for line, what in zip(lines, ("fit / LightGBM once", "budget", "no budget") * 2, strict=True):
        assert what in line
        assert float(line.rpartition(": ")[2].split()[0]) > 0
