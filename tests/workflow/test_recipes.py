"""The recipes for Ray Data, Dask and Spark give the predictions of one process."""

import shutil
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from budgetprune import BudgetModel, BudgetPredictor, Forest, predict_batches

from . import recipes

NAMES = [f"c{k}" for k in range(5)]
pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning", "ignore::ResourceWarning"
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A model file, a folder of two files, and what is expected."""
    folder = tmp_path_factory.mktemp("made")
    X, y = make_classification(300, len(NAMES), random_state=0)
    frame = pd.DataFrame(X, columns=NAMES).assign(key=np.arange(300))
    forest = Forest.from_model(RandomForestClassifier(4, max_depth=3, random_state=0).fit(frame[NAMES], y))
    model = str(folder / "model.budgetprune")
    BudgetModel(BudgetPredictor(forest)).save(model)
    rows = folder / "rows"
    rows.mkdir()
    frame[:100].to_parquet(rows / "0.parquet")
    frame[100:].to_parquet(rows / "1.parquet")
    return model, str(rows), next(predict_batches(model, [frame], keep=["key"]))


def check(out, expected):
    written = pd.read_parquet(sorted(out.glob("*.parquet"))).sort_values("key", ignore_index=True)
    for name in expected:
        assert written[name].tolist() == expected[name].tolist()


def test_dask(made, tmp_path):
    pytest.importorskip("dask.dataframe")
    model, rows, expected = made
    recipes.with_dask(model, rows, str(tmp_path / "out"))
    check(tmp_path / "out", expected)


@pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java")
def test_spark(made, tmp_path, monkeypatch):
    pyspark = pytest.importorskip("pyspark.sql")
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    model, rows, expected = made
    builder = pyspark.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.sql.shuffle.partitions", "1").getOrCreate()
    try:
        recipes.with_spark(spark, model, rows, str(tmp_path / "out"))
    finally:
        spark.stop()
    check(tmp_path / "out", expected)
