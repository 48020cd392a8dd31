"""`prune_model`: the same models as the command, from fitted models and files."""

from __future__ import annotations

import doctest
import re

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

import budgetprune.workflow.prune
from budgetprune import FitOptions, Forest, InvalidInputError, PruneOptions, cli, prune_model
from budgetprune.workflow.observer import SilentObserver


@pytest.fixture(scope="module")
def flowers(tmp_path_factory):
    """A folder with a model and validation rows; the model and the rows."""
    folder = tmp_path_factory.mktemp("flowers")
    table = load_iris(as_frame=True).frame.sample(frac=1, random_state=0)
    X, y = table.drop(columns="target"), table["target"]
    forest = RandomForestClassifier(4, random_state=0).fit(X[:75], y[:75])
    skops.io.dump(forest, folder / "forest.skops")
    table[75:].to_csv(folder / "rows.csv", index=False)
    return folder, forest, table[75:]


def test_same_model_as_the_command(flowers, tmp_path):
    folder, forest, rows = flowers
    words = ["prune", folder / "forest.skops", "--data", folder / "rows.csv", "--target", "target"]
    with pytest.raises(SystemExit) as end:
        cli.main([*map(str, words), "--budget", "1.5", "--out", str(tmp_path / "m"), "--quiet"])
    assert end.value.code == 0
    expected = (tmp_path / "m").read_bytes()
    options = PruneOptions(trust=True)  # the command has tried the file
    for model, table in ((forest, rows), (folder / "forest.skops", folder / "rows.csv")):
        prune_model(model, table, "target", budget=1.5, options=options).save(tmp_path / "m")
        assert (tmp_path / "m").read_bytes() == expected


def test_a_pickle_needs_trust(flowers, tmp_path):
    joblib = pytest.importorskip("joblib")
    _, forest, rows = flowers
    joblib.dump(forest, tmp_path / "forest.joblib")
    with pytest.raises(InvalidInputError, match="is a pickle"):
        prune_model(tmp_path / "forest.joblib", rows, "target", budget=1.5)
    options = PruneOptions(trust=True)
    pruned = prune_model(tmp_path / "forest.joblib", rows, "target", budget=1.5, options=options)
    assert pruned.about.model == "RandomForestClassifier"


def test_prices_of_columns_that_only_the_data_has(flowers, tmp_path):
    """The price list of all columns serves a model of some of them, with its shared sources."""
    _, _, rows = flowers
    names = rows.columns[:4].tolist()
    some = RandomForestClassifier(4, random_state=0).fit(rows[names[:3]], rows["target"])
    lines = [*(f"{name},1," for name in names[:3]), f"{names[3]},1,ruler", ",5,ruler"]
    (tmp_path / "costs.csv").write_text("\n".join(["feature,cost,source", *lines]))
    pruned = prune_model(some, rows, "target", tmp_path / "costs.csv", budget=2.0)
    assert pruned.predictor.costs.total(np.ones((1, pruned.predictor.costs.n_sources), bool))[0] >= 3.0
    (tmp_path / "costs.csv").write_text("\n".join(["feature,cost,source", *lines[:3], lines[4]]))
    same = prune_model(some, rows, "target", tmp_path / "costs.csv", budget=2.0)
    assert same.predictor.costs.price_alone.tolist() == pruned.predictor.costs.price_alone.tolist()
    (tmp_path / "costs.csv").write_text("\n".join(["feature,cost", *lines[:3], "nose,1"]))
    with pytest.raises(InvalidInputError, match="costs for columns that the data lacks: 'nose'"):
        prune_model(some, rows, "target", tmp_path / "costs.csv", budget=2.0)


def test_rows_without_a_target_are_named(flowers, tmp_path):
    _, forest, rows = flowers
    gaps = rows.reset_index(drop=True)
    gaps["target"] = gaps["target"].astype("Int64")
    gaps.loc[[1, *range(20, 32)], "target"] = pd.NA
    shown = "2, 21, 22, 23, 24, 25, 26, 27, 28, 29 and 3 more of the table"
    with pytest.raises(InvalidInputError, match=f"is missing in 13 of 75 rows: rows {shown} "):
        prune_model(forest, gaps, "target")
    gaps.drop(index=range(20, 32)).to_csv(tmp_path / "gaps.csv", index=False)
    with pytest.raises(InvalidInputError, match="is missing in 1 of 63 rows: line 3 of "):
        prune_model(forest, tmp_path / "gaps.csv", "target")
    with pytest.raises(InvalidInputError, match="is missing in 1 of 63 rows: line 3 of "):
        prune_model(forest, rows, "target", test=tmp_path / "gaps.csv")


def test_ranking_models_are_noted():
    """R² says nothing about a ranking."""
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    grade = np.digitize(X[:, 0] + 0.3 * rng.normal(size=400), [-0.5, 0.5])
    ranker = lightgbm.LGBMRanker(n_estimators=5, verbose=-1).fit(X, grade, group=[20] * 20)
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(grade=grade)
    notes = []

    class Notes(SilentObserver):
        def note(self, message):
            notes.append(message)

    for model in (ranker, ranker.booster_):
        prune_model(model, table, "grade", budget=1.5, observer=Notes())
        assert any("ranking model" in note and "NDCG" in note for note in notes)
        notes.clear()


@pytest.mark.parametrize("price", [-1, np.nan, -np.inf, None, "free"])
def test_invalid_prices_in_a_mapping(flowers, price):
    _, forest, rows = flowers
    costs = dict.fromkeys(rows.columns[:4], 1.0) | {rows.columns[2]: price}
    with pytest.raises(InvalidInputError, match=f"costs must be .* not for '{re.escape(rows.columns[2])}'"):
        prune_model(forest, rows, "target", costs)


def test_invalid_arguments(flowers):
    _, forest, rows = flowers
    with pytest.raises(InvalidInputError, match="must be the name of a column of the table, not Series"):
        prune_model(forest, rows.drop(columns="target"), rows["target"])
    with pytest.raises(InvalidInputError, match="options must be PruneOptions, not FitOptions"):
        prune_model(forest, rows, "target", options=FitOptions())
    with pytest.raises(InvalidInputError, match=r"budget \(--budget\) must be a number, not '3'"):
        prune_model(forest, rows, "target", budget="3")
    with pytest.raises(InvalidInputError, match=r"drop \(--drop\) 'x' is not a column of the table"):
        prune_model(forest, rows, "target", options=PruneOptions(drop=["x"]))


@pytest.mark.parametrize("name", ["none.txt", "none.json", "none.skops"])
def test_an_absent_model_file(flowers, tmp_path, name):
    with pytest.raises(
        InvalidInputError, match=rf"^{re.escape(str(tmp_path / name))} cannot be read: No such"
    ):
        prune_model(tmp_path / name, flowers[2], "target")


def test_same_model_from_a_polars_table(flowers, tmp_path):
    polars = pytest.importorskip("polars")
    folder, forest, rows = flowers
    for name, table in (("pandas", rows), ("polars", polars.read_csv(folder / "rows.csv"))):
        prune_model(forest, table, "target", budget=1.5).save(tmp_path / name)
    assert (tmp_path / "polars").read_bytes() == (tmp_path / "pandas").read_bytes()


def test_examples_of_the_docstring():
    result = doctest.testmod(budgetprune.workflow.prune)
    assert result.attempted > 5
    assert result.failed == 0


def test_an_onnx_file(flowers, tmp_path):
    """Without names of features: columns are matched by position."""
    _, forest, rows = flowers
    model = Forest.from_model(forest).to_onnx()
    (tmp_path / "forest.onnx").write_bytes(model.SerializeToString())
    pruned = prune_model(tmp_path / "forest.onnx", rows, "target", budget=1.5)
    assert pruned.about.model == "ModelProto"
    assert pruned.predictor.forest.names == tuple(rows.columns[:4])
    assert pruned.about.compared.chosen.score > 0.8
