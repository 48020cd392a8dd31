"""Commands with a model at the end of a pipeline: tables, prices and requests have raw columns."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from budgetprune import BudgetModel, BudgetWarning, InvalidInputError, PruneOptions, prune_model
from budgetprune.service import create_app

from ..preprocessing.tables import NUMBERS, TEXTS, make_table
from ..preprocessing.test_raw_rows import PRICES
from ..service.servers import ask
from .commands import check_refused


def encoders():
    return make_column_transformer(
        (
            make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")),
            ["city"],
        ),
        (OrdinalEncoder(), ["plan"]),
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), NUMBERS),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A pipeline in a file, rows that it was not trained on, and prices of raw columns."""
    folder = tmp_path_factory.mktemp("pipelines")
    X, y = make_table(400)
    forest = RandomForestClassifier(8, max_depth=5, random_state=0)
    skops.io.dump(make_pipeline(encoders(), forest).fit(X[:200], y[:200]), folder / "pipe.skops")
    nameless = make_column_transformer((OrdinalEncoder(), [1, 3]), remainder="passthrough")
    filled = X.fillna({"age": 40, "city": "Ulm"})
    arrays = make_pipeline(nameless, forest).fit(filled[:200].to_numpy(), y[:200])
    skops.io.dump(arrays, folder / "arrays.skops")
    X[200:].assign(key=range(200), bought=y[200:]).to_csv(folder / "rows.csv", index=False)
    filled[200:].assign(bought=y[200:]).to_csv(folder / "filled.csv", index=False)
    lines = "".join(f"{name},{price}\n" for name, price in PRICES.items())
    (folder / "costs.csv").write_text(f"feature,cost\n{lines}")
    return folder


@pytest.fixture(scope="module")
def model_file(folder):
    file = folder / "model.budgetprune"
    model = prune_model(
        folder / "pipe.skops",
        folder / "rows.csv",
        "bought",
        folder / "costs.csv",
        budget=3,
        options=PruneOptions(trust=True, drop=["key"]),
    )
    model.save(file)
    return file


def test_prune(run, folder, tmp_path):
    command = ["prune", folder / "pipe.skops", "--data", folder / "rows.csv", "--target", "bought", "--json"]
    told = run(*command, "--costs", folder / "costs.csv", "--budget", 6, "--out", tmp_path / "m").json
    assert told["model"] == "RandomForestClassifier"
    assert told["compared"]["chosen"]["cost"] <= 6 < told["compared"]["whole"]["cost"]
    model = BudgetModel.load(tmp_path / "m")
    assert set(model.predictor.source_names) == set(PRICES)
    assert model.predictor.feature_names == tuple(PRICES)


def test_the_unpruned_model_is_the_pipeline(folder, model_file):
    """Oracle: predictions of scikit-learn's pipeline, for the path's unpruned forest."""
    model = BudgetModel.load(model_file)
    pipeline = skops.io.load(folder / "pipe.skops", trusted=["sklearn.tree._tree.Tree", "numpy.dtype"])
    rows = pd.read_csv(folder / "rows.csv")
    encoded = model.predictor.encode_for(model.path.forest, rows)
    np.testing.assert_array_equal(model.path.forest.predict_proba(encoded), pipeline.predict_proba(rows))


def test_predict(run, folder, model_file):
    predictor = BudgetModel.load(model_file).predictor
    rows = pd.read_csv(folder / "rows.csv")
    early = run("predict", model_file, folder / "rows.csv", "--keep", "key", "--json").json["predictions"]
    simulation = predictor.simulate(rows)
    assert [each["label"] for each in early] == simulation.label.tolist()
    assert [each["cost"] for each in early] == pytest.approx(simulation.cost.tolist())
    for each in early:
        used = each["features_used"].split(";")
        assert set(used) <= set(PRICES)
        assert each["cost"] == sum(PRICES[name] for name in used if name)
    full = run("predict", model_file, folder / "rows.csv", "--full", "--json").json["predictions"]
    assert [each["label"] for each in full] == predictor.predict(rows).tolist()


def test_columns_that_are_not_needed_may_be_absent(run, folder, model_file, tmp_path):
    predictor = BudgetModel.load(model_file).predictor
    used = [predictor.feature_names[k] for k in predictor.inputs().used_features]
    rows = pd.read_csv(folder / "rows.csv")
    rows[used].to_csv(tmp_path / "used.csv", index=False)
    assert len(used) < 5
    told = run("predict", model_file, tmp_path / "used.csv", "--json").json["predictions"]
    assert [each["label"] for each in told] == predictor.simulate(rows).label.tolist()
    rows[used[1:]].to_csv(tmp_path / "less.csv", index=False)
    check_refused(
        run("predict", model_file, tmp_path / "less.csv"), f"lacks '{used[0]}', which the model needs"
    )


def test_inspect(run, model_file):
    told = run("inspect", model_file, "--json").json
    features = {each["name"]: each for each in told["features"]}
    assert set(features) <= set(PRICES)
    assert features["age"]["needs"] == ["age"]
    assert features["age"]["price_alone"] == 1
    assert told["prices"] == PRICES


def test_report(run, folder, model_file, tmp_path):
    command = ["report", model_file, "--data", folder / "rows.csv", "--out", tmp_path / "report.html"]
    told = run(*command, "--compare", model_file, "--json").json
    assert (tmp_path / "report.html").stat().st_size > 100_000
    assert set(PRICES) & {each["name"] for each in told.get("sources", [])} or "city" in json.dumps(told)


def test_service(model_file, folder):
    model = BudgetModel.load(model_file)
    rows = pd.read_csv(folder / "rows.csv")
    row = {name: None if pd.isna(rows[name][3]) else rows[name][3] for name in PRICES}
    row = {name: value.item() if isinstance(value, np.generic) else value for name, value in row.items()}
    app = create_app(model.predictor)

    def post(path, values):
        return ask(app, "POST", path, json={"values": values})

    described = ask(app, "GET", "/v1/model").json()
    kinds = {each["name"]: each["kind"] for each in described["features"]}
    assert kinds["city"] == "category"
    assert kinds["age"] == "number"
    decided = post("/v1/decide", row).json()
    assert decided["label"] == model.predictor.simulate(rows).label[3]
    values, answer = {}, post("/v1/step", {}).json()
    while answer["next"] is not None:
        values |= {name: row[name] for name in answer["next_features"]}
        answer = post("/v1/step", values).json()
    assert answer["cost"] == pytest.approx(decided["cost"])
    assert answer["label"] == decided["label"]
    assert post("/v1/step", {"city": "Rome"}).json()["warnings"] == [
        "the value of 'city' is a category that the model does not know; it counts as unknown."
    ]
    assert post("/v1/step", {"age": "old"}).status_code == 422


def test_pipelines_of_arrays_take_columns_by_position(folder):
    model = prune_model(
        folder / "arrays.skops",
        folder / "filled.csv",
        "bought",
        folder / "costs.csv",
        options=PruneOptions(trust=True),
    )
    assert model.predictor.feature_names == tuple(PRICES)
    pipeline = skops.io.load(folder / "arrays.skops", trusted=["sklearn.tree._tree.Tree", "numpy.dtype"])
    rows = pd.read_csv(folder / "filled.csv")
    encoded = model.predictor.encode_for(model.path.forest, rows)
    expected = pipeline.predict_proba(rows[list(PRICES)].to_numpy())
    np.testing.assert_array_equal(model.path.forest.predict_proba(encoded), expected)


def test_unknown_categories_are_told(folder, model_file):
    from budgetprune.workflow import read_table_for, rows_for

    predictor = BudgetModel.load(model_file).predictor
    rows = pd.read_csv(folder / "rows.csv").assign(city="Rome")
    with pytest.warns(
        BudgetWarning, match="none of the categories that the model knows, and count as unknown"
    ):
        found = rows_for(predictor.inputs(), read_table_for(predictor.inputs(), rows))
    assert predictor.predict(found).shape == (200,)


def test_steps_that_cannot_be_stored_or_traced(folder, tmp_path):
    X, y = make_table(400, missing=False)
    mixing = make_column_transformer((PCA(2), NUMBERS), (OrdinalEncoder(), TEXTS))
    fitted = make_pipeline(mixing, RandomForestClassifier(3, random_state=0)).fit(X[:200], y[:200])
    model = prune_model(fitted, X[200:].assign(bought=y[200:]), "bought", PRICES)
    assert model.predictor.predict(X).shape == (400,)
    with pytest.raises(InvalidInputError, match=r"step 'columntransformer__pca' \(PCA\) cannot be stored"):
        model.save(tmp_path / "m")
    with pytest.raises(InvalidInputError, match="needs names steps that the pipeline does not have: 'other'"):
        prune_model(
            fitted, X.assign(bought=y), "bought", PRICES, options=PruneOptions(needs={"other": "all"})
        )


def test_needs(run, folder, tmp_path):
    command = ["prune", folder / "pipe.skops", "--data", folder / "rows.csv", "--target", "bought"]
    said = run(*command, "--out", tmp_path / "m", "--needs", "columntransformer__ordinalencoder=some")
    check_refused(said, "must be STEP=all or STEP=one-to-one")
