"""The MLflow flavour, with a store of MLflow in a folder and no network."""

from __future__ import annotations

import json
import subprocess
import sys
from types import SimpleNamespace

import mlflow
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import budgetprune.mlflow
from budgetprune import (
    BudgetModel,
    BudgetPruneClassifier,
    BudgetRegressor,
    FitOptions,
    InvalidInputError,
    fit_table,
)

# Some releases only warn of stores in a folder.
pytestmark = pytest.mark.filterwarnings("ignore:The filesystem:FutureWarning")

MLFLOW = ("mlflow", "mlflow-skinny")
# Packages of extras.
OPTIONAL = ("lightgbm", "xgboost", "catboost", "onnx", "polars", "duckdb", "matplotlib", "typer", "rich")


def patients(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    town = rng.integers(3, size=n_rows)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 90, n_rows),
            "town": np.array(["Aix", "Bonn", "Caen"])[town],
            "lab": rng.normal(size=n_rows),
        }
    )
    frame.loc[rng.random(n_rows) < 0.1, "lab"] = np.nan
    risk = frame["age"] / 30 - 2 + town + 2 * frame["lab"].fillna(0)
    return frame.assign(ill=np.where(risk > 0, "yes", "no"))


@pytest.fixture(scope="module")
def models():
    """A pruned model and a staged one, with rows that they do not know."""
    prices = {"age": 1, "town": 2, "lab": 5}
    pruned = fit_table(
        patients(200),
        "ill",
        prices,
        budget=6,
        model="random-forest",
        options=FitOptions(n_trees=5, counting="decided"),
    )
    staged = fit_table(patients(200), "ill", prices, options=FitOptions(time_limit=0, n_jobs=1))
    return SimpleNamespace(pruned=pruned, staged=staged, rows=patients(50, 1))


@pytest.fixture
def store(tmp_path, monkeypatch):
    """Tracking and registry of MLflow in a new folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # takes less time than a database
    uri = (tmp_path / "store").as_uri()
    before = mlflow.get_tracking_uri(), mlflow.get_registry_uri()
    mlflow.set_tracking_uri(uri)
    mlflow.set_registry_uri(uri)
    mlflow.create_experiment("own", artifact_location=str(tmp_path / "artifacts"))
    mlflow.set_experiment("own")
    yield tmp_path
    while mlflow.active_run() is not None:
        mlflow.end_run()
    mlflow.set_tracking_uri(before[0])
    mlflow.set_registry_uri(before[1])


@pytest.mark.parametrize("kind", ["pruned", "staged"])
def test_saved_models_predict_the_same(models, tmp_path, kind):
    model, X = getattr(models, kind), models.rows
    expected = model.predictor.simulate(X.drop(columns="ill"))
    budgetprune.mlflow.save_model(model, tmp_path / "saved")
    native = budgetprune.mlflow.load_model(str(tmp_path / "saved"))
    assert isinstance(native, BudgetModel)
    assert native.about == model.about
    loaded = mlflow.pyfunc.load_model(str(tmp_path / "saved"))
    assert isinstance(loaded.get_raw_model(), BudgetModel)
    assert np.array_equal(loaded.predict(X), expected.label)
    proba = loaded.predict(X, params={"proba": True})
    assert list(proba) == ["no", "yes"]
    assert np.array_equal(proba, expected.probabilities)
    details = loaded.predict(X, params={"details": True})
    assert list(details) == ["label", "probability", "cost", "decided", "acquired"]
    assert np.array_equal(details["cost"], expected.cost)
    assert np.array_equal(details["label"], expected.label)
    price = {"age": 1, "town": 2, "lab": 5}
    paid = [sum(price[name] for name in names.split(";") if name) for names in details["acquired"]]
    assert np.array_equal(paid, expected.cost)
    limited = loaded.predict(X, params={"details": True, "max_cost": 2.0})
    assert limited["cost"].max() <= 2
    full = loaded.predict(X, params={"full": True, "proba": True})
    assert np.array_equal(full, model.predictor.predict_proba(X.drop(columns="ill")))


def test_logged_and_registered_models(models, store):
    with mlflow.start_run():
        info = budgetprune.mlflow.log_model(models.pruned, "ill", registered_model_name="ill")
    X = models.rows.drop(columns="ill")
    expected = models.pruned.predictor.simulate(X).label
    for uri in (info.model_uri, "models:/ill/1"):
        assert np.array_equal(mlflow.pyfunc.load_model(uri).predict(X), expected)
        assert budgetprune.mlflow.load_model(uri).about == models.pruned.about
    assert set(info.flavors) == {"budgetprune", "python_function"}


def test_estimators_and_examples(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    model = BudgetRegressor(learner="hist", cv=2, time_limit=0, random_state=0).fit(X, X[:, 0])
    budgetprune.mlflow.save_model(model, tmp_path / "saved", input_example=X[:3])
    loaded = mlflow.pyfunc.load_model(str(tmp_path / "saved"))
    assert loaded.metadata.signature.inputs is not None
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert list(loaded.predict(X, params={"details": True})) == ["prediction", "cost", "decided", "acquired"]
    stored = json.loads((tmp_path / "saved" / "input_example.json").read_text())
    assert np.array_equal(stored, X[:3])
    with pytest.raises(InvalidInputError, match="params has proba, but the model predicts numbers"):
        loaded.predict(X, params={"proba": True})


def test_requirements_suffice_for_predictions(models, tmp_path):
    """Optional packages that the requirements do not name cannot be imported, and rows are predicted."""
    budgetprune.mlflow.save_model(models.staged, tmp_path / "saved")
    lines = (tmp_path / "saved" / "requirements.txt").read_text().split()
    required = {line.partition("==")[0] for line in lines}
    assert {"budgetprune", "numpy", "pandas"} <= required <= {"budgetprune", "numpy", "pandas", *MLFLOW}
    assert f"budgetprune=={budgetprune.__version__}" in lines
    assert all("==" in line for line in lines)
    models.rows.to_json(tmp_path / "rows.json")
    code = f"""
import sys
for name in {OPTIONAL}:
    sys.modules[name] = None  # importing it fails now
import pandas, mlflow.pyfunc
print(mlflow.pyfunc.load_model("saved").predict(pandas.read_json("rows.json")).tolist())
"""
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=300
    )
    expected = models.staged.predictor.simulate(models.rows.drop(columns="ill")).label
    assert ended.stdout.splitlines()[-1] == str(expected.tolist())


def test_models_with_preprocessing_take_raw_columns(tmp_path):
    frame = patients(200)
    X, y = frame[["town", "lab"]].assign(lab=frame["lab"].fillna(0)), frame["ill"]
    encoder = make_column_transformer((OneHotEncoder(), ["town"]), (StandardScaler(), ["lab"]))
    pipeline = make_pipeline(encoder, RandomForestClassifier(3, random_state=0))
    model = BudgetPruneClassifier(pipeline, costs={"town": 1, "lab": 2}, random_state=0).fit(X, y)
    budgetprune.mlflow.save_model(model, tmp_path / "saved")
    loaded = mlflow.pyfunc.load_model(str(tmp_path / "saved"))
    rows = X.assign(other=1)[["other", "lab", "town"]]
    assert np.array_equal(loaded.predict(rows, params={"full": True}), model.predict(X))
    details = loaded.predict(rows, params={"details": True})
    assert np.array_equal(details["cost"], model.predictor().simulate(X).cost)
    with pytest.raises(InvalidInputError, match="the table lacks 'town', which the model needs"):
        loaded.predict(X[["lab"]])


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"proba": True, "details": True}, "params has proba and details; take one"),
        ({"full": True, "max_cost": 2.0}, "params has full, which is for predictions without max_cost"),
    ],
)
def test_params_that_contradict_each_other(models, tmp_path, params, words):
    budgetprune.mlflow.save_model(models.pruned, tmp_path / "saved")
    loaded = mlflow.pyfunc.load_model(str(tmp_path / "saved"))
    with pytest.raises(InvalidInputError, match=words):
        loaded.predict(models.rows, params=params)


def test_rows_that_are_refused(models, tmp_path):
    budgetprune.mlflow.save_model(models.pruned, tmp_path / "saved")
    loaded = mlflow.pyfunc.load_model(str(tmp_path / "saved"))
    with pytest.raises(InvalidInputError, match="lacks 'lab'"):
        loaded.predict(models.rows.drop(columns="lab"))
    with pytest.raises(InvalidInputError, match=r"for each of the 3 features, not the shape \(2, 2\)"):
        loaded.predict(np.ones((2, 2)))
    with pytest.raises(InvalidInputError, match="params has 'prob', which is unknown"):
        budgetprune.mlflow.PyFuncModel(models.pruned).predict(models.rows, {"prob": True})


def test_models_that_are_refused(tmp_path, store):
    forest = RandomForestClassifier(2).fit(np.ones((4, 1)), [0, 1, 0, 1])
    with pytest.raises(InvalidInputError, match="not RandomForestClassifier; prune a model of another lib"):
        budgetprune.mlflow.log_model(forest)
    assert mlflow.search_runs().empty
    with pytest.raises(InvalidInputError, match="give one of them"):
        budgetprune.mlflow.save_model(
            BudgetRegressor(learner="hist", cv=2, time_limit=0).fit(np.eye(20), np.arange(20.0)),
            tmp_path / "saved",
            pip_requirements=["a"],
            extra_pip_requirements=["b"],
        )
    assert not (tmp_path / "saved").exists()
    other = mlflow.models.Model()
    other.add_flavor("other")
    (tmp_path / "other").mkdir()
    other.save(tmp_path / "other" / "MLmodel")
    with pytest.raises(InvalidInputError, match="has no flavour 'budgetprune', only other; save it with"):
        budgetprune.mlflow.load_model(str(tmp_path / "other"))
