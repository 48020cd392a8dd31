"""Predictions for Parquet files: the same as for a table, and interrupted calls go on."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from budgetprune import BudgetModel, BudgetPredictor, Forest, predict_batches, predict_files
from budgetprune.errors import InvalidInputError
from budgetprune.workflow import PredictSettings, parquet_files

NAMES = [f"c{k}" for k in range(6)]
SETTINGS = PredictSettings(keep=("key",))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A model file, a folder of rows, and the rows."""
    folder = tmp_path_factory.mktemp("made")
    X, y = make_classification(500, len(NAMES), random_state=0)
    frame = pd.DataFrame(X.astype(np.float32), columns=NAMES)
    forest = Forest.from_model(
        RandomForestClassifier(5, max_depth=4, random_state=0).fit(frame[:200], y[:200])
    )
    BudgetModel(BudgetPredictor(forest)).save(folder / "model.budgetprune")
    (folder / "rows").mkdir()
    frame = frame.assign(key=range(500), other="text")
    frame[:130].to_parquet(folder / "rows" / "a.parquet", row_group_size=50)
    frame[130:].to_parquet(folder / "rows" / "b.parquet", row_group_size=70)
    return folder / "model.budgetprune", folder / "rows", frame


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(parquet_files, "PART_ROWS", 110)
    monkeypatch.setattr(parquet_files, "BATCH_ROWS", 40)


def read(out):
    return pd.read_parquet(sorted(out.glob("part-*.parquet")))


def test_predictions_are_those_of_the_table(made, tmp_path):
    model, rows, frame = made
    out = tmp_path / "new" / "out"
    summary = predict_files(model, rows, out, settings=SETTINGS)
    expected = next(predict_batches(model, [frame], keep=["key"]))
    assert read(out).equals(expected)
    assert len(list(out.glob("part-*"))) == summary.n_files == 5
    assert summary.n_rows == 500
    assert summary.mean_cost == pytest.approx(expected["cost"].mean())
    assert summary.largest_cost == expected["cost"].max()
    assert summary.decided == 1.0


def test_an_interrupted_call_goes_on(made, tmp_path, monkeypatch):
    model, rows, _ = made
    whole = predict_files(model, rows, tmp_path / "whole", settings=SETTINGS)
    parts, work = [], parquet_files.PartWork.__call__

    def interrupted(self, part):
        parts.append(part.number)
        if len(parts) == 3:
            raise KeyboardInterrupt
        return work(self, part)

    with monkeypatch.context() as patch:
        patch.setattr(parquet_files.PartWork, "__call__", interrupted)
        with pytest.raises(KeyboardInterrupt):
            predict_files(model, rows, tmp_path / "out", settings=SETTINGS)
        parts[:] = [None] * 3
        assert predict_files(model, rows, tmp_path / "out", settings=SETTINGS) == whole
    assert parts[3:] == [2, 3, 4]
    assert read(tmp_path / "out").equals(read(tmp_path / "whole"))
    with pytest.raises(InvalidInputError, match="is not empty, and its files are not of"):
        predict_files(model, rows, tmp_path / "out")


def test_refuses_mistakes_before_anything_is_written(made, tmp_path):
    model, rows, frame = made
    out = tmp_path / "out"
    frame.drop(columns="c0").to_parquet(tmp_path / "absent.parquet")
    (tmp_path / "cut.parquet").write_bytes((rows / "a.parquet").read_bytes()[:-5])
    for given, options, message in (
        (tmp_path / "absent.parquet", {}, "c0"),
        (tmp_path / "cut.parquet", {}, "not a complete Parquet file"),
        (tmp_path / "none*.parquet", {}, "there are no Parquet files"),
        (rows, {"settings": PredictSettings(keep=("no",))}, "no"),
        (rows, {"settings": PredictSettings(full=True, max_cost=2)}, "max_cost"),
        (rows, {"engine": "spark"}, "engine='spark' is unknown"),
        (rows, {"workers": 0}, "workers must be at least 1"),
        (rows, {"workers": 2}, "needs engine='ray'"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            predict_files(model, given, out, **options)
    assert not out.exists()


def test_nothing_is_left_of_a_part_that_fails(made, tmp_path):
    model, _, frame = made
    folder = tmp_path / "rows"
    folder.mkdir()
    frame.assign(c1=np.where(frame.key == 180, np.inf, frame.c1)).to_parquet(folder / "a.parquet")
    with pytest.raises(InvalidInputError, match=r"rows 160 to 200 of .*a.parquet: .*inf"):
        predict_files(model, folder, tmp_path / "out")
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == [
        "_budgetprune.json",
        "part-000000.parquet",
    ]
