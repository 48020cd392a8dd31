"""`prune_model`: the same models as the command, from fitted models and files."""

from __future__ import annotations

import doctest
import re

import numpy as np
import pytest
import skops.io
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

import budgetprune.workflow.prune
from budgetprune import InvalidInputError, PruneOptions, cli, prune_model


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
    for model, table in ((forest, rows), (folder / "forest.skops", folder / "rows.csv")):
        prune_model(model, table, "target", budget=1.5).save(tmp_path / "m")
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


@pytest.mark.parametrize("price", [-1, np.nan, -np.inf, None, "free"])
def test_invalid_prices_in_a_mapping(flowers, price):
    _, forest, rows = flowers
    costs = dict.fromkeys(rows.columns[:4], 1.0) | {rows.columns[2]: price}
    with pytest.raises(InvalidInputError, match=f"costs must be .* not for '{re.escape(rows.columns[2])}'"):
        prune_model(forest, rows, "target", costs)


def test_examples_of_the_docstring():
    result = doctest.testmod(budgetprune.workflow.prune)
    assert result.attempted > 5
    assert result.failed == 0
