"""What fit refuses: each in one line that says what is wrong and what to do, before any tree is grown."""

from __future__ import annotations

import pandas as pd
import pytest

from budgetprune.workflow import ensembles

from .commands import COSTS, FOREST, check_refused, patients


@pytest.fixture
def no_training(monkeypatch):
    def grow(*_args, **_how):
        raise AssertionError("a tree was grown, though the input makes no sense")

    monkeypatch.setattr(ensembles, "train_ensemble", grow)


@pytest.fixture
def fit(files, run, tmp_path):
    """Fit the clinic's data, with other words or files."""

    def call(*words, data=None, costs=None, frame=None, target="ill"):
        if frame is not None:
            data = tmp_path / "own.csv"
            frame.to_csv(data, index=False)
        given = tmp_path / "own_costs.csv"
        given.write_text(COSTS if costs is None else costs)
        base = [*FOREST, data or files.data, "--costs", given, "--out", tmp_path / "m", "--trees", 5]
        base += [] if target is None else ["--target", target]
        found = run(*base, *words)
        assert not (tmp_path / "m").exists() or found.status == 0
        return found

    return call


@pytest.fixture
def frame(files) -> pd.DataFrame:
    return pd.read_csv(files.data)


@pytest.mark.usefixtures("no_training")
class TestBeforeAnyWork:
    def test_unknown_target(self, fit):
        check_refused(
            fit(target="il"), r"the target 'il' is not a column of .*; did you mean 'ill'\? its columns"
        )

    def test_no_target(self, fit):
        check_refused(fit(target=None), "say which column of .* is predicted: .*--target COLUMN")

    def test_costs_for_unknown_columns(self, fit):
        said = fit(costs=COSTS + "weight,2,\nsize,3,\n")
        check_refused(said, "has costs for columns that the data lacks: 'weight', 'size'")

    def test_a_column_without_cost(self, fit):
        said = fit(costs=COSTS.replace("age,1,\n", "").replace("grade,0,\n", ""))
        check_refused(said, "has no cost for 2 of 6 columns: 'age', 'grade'; .*--drop age")

    def test_a_template_that_nobody_filled_in(self, fit):
        said = fit(costs="feature,cost,source,note\nage,,,\ntown,,,\n")
        check_refused(said, "has no cost yet for 'age', 'town'; fill them in")

    def test_text_in_a_column_of_numbers(self, fit, frame):
        lab = frame["lab"].astype(object)
        lab.iloc[[7, 20]] = ["< 0.1", "high"]
        said = fit(frame=frame.assign(lab=lab))
        check_refused(
            said, r"column 'lab' holds numbers, but also text: '< 0\.1' in line 9 of .*own\.csv \(2 of"
        )
        assert "--categorical lab" in said.err

    def test_a_constant_target(self, fit, frame):
        check_refused(fit(frame=frame.assign(ill="no")), "the target 'ill' is always 'no'")

    def test_a_target_with_gaps(self, fit, frame):
        gaps = frame["ill"].where(frame.index != 3)
        check_refused(fit(frame=frame.assign(ill=gaps)), "'ill' is missing in 1 of 500 rows: line 5 of")

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["--categorical", "tow"], r"categorical \(--categorical\) 'tow' is not a column of"),
            (["--drop", "tow"], r"drop \(--drop\) 'tow' is not a column of"),
            (["--drop", "ill"], r"drop \(--drop\) 'ill' is the target"),
            (["--budget", "-1"], "budget"),
            (["--budget", "ten"], "budget"),
            (["--budget", "inf"], r"budget \(--budget\) must be a number, not inf"),
            (["--budget", "nan"], "--budget"),
            (["--model", "svm"], "model"),
            (["--trees", "0"], "trees"),
            (["--bugdet", "1"], "No such option"),
            (["--slack", "0.2"], "add .*--decided"),
            (["--slack", "0.5", "--decided"], r"slack \(--slack\) must be at least 0 and below 0.5"),
            (["--tolerance", "0.2", "--decided"], r"tolerance \(--tolerance\) is for regression"),
            (["--task", "regression"], "column 'ill' should hold numbers, but holds text"),
            (["--test", "nowhere.csv"], "nowhere.csv"),
            (["--out", "nowhere/m"], "there is no folder nowhere"),
            (["--out", "/"], "is a folder"),
        ],
    )
    def test_words(self, fit, words, message):
        check_refused(fit(*words), message)

    def test_test_rows_that_lack_a_column(self, fit, frame, tmp_path):
        frame.drop(columns=["age", "lab"]).to_csv(tmp_path / "test.csv", index=False)
        check_refused(fit("--test", tmp_path / "test.csv"), "lacks 'age', 'lab', which the model needs")
        frame.drop(columns="ill").to_csv(tmp_path / "test.csv", index=False)
        check_refused(fit("--test", tmp_path / "test.csv"), "the target 'ill' is not a column of .*test.csv")

    def test_an_svmlight_file_with_a_huge_index(self, fit, run, tmp_path):
        wide = tmp_path / "wide.svm"
        wide.write_text("".join(f"{k % 2} 1:{k} 2:1\n" for k in range(20)) + "1 20000000:1\n")
        words = r"wide.svm cannot be read: line 21 has a feature with the index 20000000, .*--max-columns"
        check_refused(run("costs", "init", wide), words)
        check_refused(fit(data=wide, target=None), words)
        check_refused(fit("--test", wide), words)
        check_refused(
            run("costs", "init", wide, "--max-columns", 20_000_000),
            "max_columns=20000001 .--max-columns 20000001",
        )

    def test_files_that_are_none(self, fit, run, tmp_path):
        check_refused(fit(data=tmp_path / "nowhere.csv"), "nowhere.csv")
        check_refused(fit(data=tmp_path), "is a directory|directory")
        (tmp_path / "bad.parquet").write_text("a,b\n1,2\n")
        check_refused(fit(data=tmp_path / "bad.parquet"), "bad.parquet cannot be read")

    def test_all_that_is_missing(self, run):
        check_refused(run("fit"), "Missing argument 'DATA'; see: budgetprune fit --help")
        check_refused(run("bake"), "No such command 'bake'")


def test_a_budget_that_buys_nothing(fit):
    """The least that is useful costs something, which is said, and that much is enough."""
    costs = COSTS.replace("grade,0", "grade,1")
    said = fit("--budget", 0.5, costs=costs)
    check_refused(said, "a budget of 0.5 buys nothing useful. A budget of [0-9.]+ does .full cost of a pred")
    needed = float(said.err.partition("A budget of ")[2].split()[0])
    assert needed >= 1
    said = fit("--budget", needed, "--json", costs=costs)
    assert said.json["compared"]["chosen"]["cost"] == pytest.approx(needed, rel=1e-3)


def test_nothing_but_noise_that_is_constant(fit):
    frame = (
        patients(300).drop(columns="risk").assign(age=1, town="Aix", smoker=True, grade=1, lab=0, marker=0)
    )
    check_refused(fit("--budget", 3, frame=frame), "no column helps to predict the target")


def test_an_error_that_nobody_has_foreseen(fit, monkeypatch):
    def grow(*_args, **_how):
        raise ZeroDivisionError("over\nthere")

    monkeypatch.setattr(ensembles, "train_ensemble", grow)
    check_refused(fit(), r"ZeroDivisionError: over there \(unexpected error; please report it", status=1)

    def interrupt(*_args, **_how):
        raise KeyboardInterrupt

    monkeypatch.setattr(ensembles, "train_ensemble", interrupt)
    said = fit()
    assert said.status == 130
    assert said.out == ""


def test_a_library_that_is_not_installed(fit, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "lightgbm", None)
    said = fit("--model", "lightgbm")
    check_refused(said, r"lightgbm is not installed; run: pip install 'budgetprune\[lightgbm\]'", status=1)
