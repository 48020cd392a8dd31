"""Estimators that prune the model at the end of a pipeline."""

import pickle

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from tests.preprocessing.tables import NUMBERS, TEXTS, make_table
from tests.preprocessing.test_raw_rows import PRICES, encoders, fetching

from budgetprune import (
    BudgetPredictor,
    BudgetPruneClassifier,
    BudgetPruneRegressor,
    FeatureCosts,
    Forest,
    InvalidInputError,
    PruningProblem,
    UnsupportedModelError,
)
from budgetprune.preprocessing import Preprocessing, PricedPreprocessing


def a_pipeline(model=None):
    forest = RandomForestClassifier(7, max_depth=4, random_state=0)
    return make_pipeline(encoders(), forest if model is None else model)


@pytest.fixture(scope="module")
def rows():
    return make_table(40, seed=5)[0]


@pytest.fixture(scope="module")
def pruned():
    X, y = make_table(400)
    settings = {"costs": PRICES, "budget": 5, "refit": "squared", "random_state": 0}
    return BudgetPruneClassifier(a_pipeline(), **settings).fit(X, y)


def raw_columns_of_feature(name):
    """The raw columns of a feature, read from the name that scikit-learn gives it."""
    return {raw for raw in PRICES if raw in name.partition("__")[2]}


def cost_of_row(pipeline, X, i):
    """Slow reference: the prices of the raw columns on the row's paths through all trees."""
    names = pipeline[:-1].get_feature_names_out()
    encoded = pipeline[:-1].transform(X.iloc[[i]]).astype(np.float32)
    needed = set()
    for tree in pipeline[-1].estimators_:
        for node in tree.tree_.decision_path(encoded).indices:
            feature = tree.tree_.feature[node]
            if feature >= 0:
                needed |= raw_columns_of_feature(names[feature])
    return sum(PRICES[raw] for raw in needed)


def test_costs_count_raw_columns_on_the_paths(pruned, rows):
    assert pruned.source_names_ == tuple(PRICES)
    pipeline = pruned.to_sklearn()
    expected = [cost_of_row(pipeline, rows, i) for i in range(len(rows))]
    np.testing.assert_allclose(pruned.acquisition_cost(rows), expected)
    assert 0 < np.mean(expected) < sum(PRICES.values())


def test_predictions_equal_those_of_the_exported_pipeline(pruned, rows):
    pipeline = pruned.to_sklearn()
    assert [name for name, _ in pipeline.steps] == ["columntransformer", "randomforestclassifier"]
    np.testing.assert_array_equal(pruned.predict(rows), pipeline.predict(rows))
    np.testing.assert_allclose(pruned.predict_proba(rows), pipeline.predict_proba(rows), atol=1e-12)
    for table in (pl.from_pandas(rows), rows.astype({"city": "category", "plan": "string"})):
        np.testing.assert_array_equal(pruned.predict(table), pruned.predict(rows))


def test_the_unpruned_pipeline_is_kept(pruned, rows):
    assert isinstance(pruned.estimator_, Pipeline)
    whole = BudgetPredictor(
        pruned.path_.forest, PRICES, preprocessing=Preprocessing.from_sklearn(pruned.estimator_[:-1], rows)
    )
    np.testing.assert_array_equal(whole.predict(rows), pruned.estimator_.predict(rows))


def test_predictors_and_files_take_raw_values(pruned, rows, tmp_path):
    predictor = pruned.predictor()
    predictor.save(tmp_path / "model.budgetprune")
    for each in (predictor, BudgetPredictor.load(tmp_path / "model.budgetprune")):
        np.testing.assert_array_equal(each.predict(rows), pruned.predict(rows))
        fetch, asked = fetching(rows.iloc[2])
        decision = each.decide(fetch)
        assert decision.label == pruned.predict(rows)[2]
        assert decision.cost == sum(PRICES[source] for source in asked)


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingClassifier(n_estimators=8, max_depth=2, random_state=0),
        pytest.param("lightgbm", id="lightgbm"),
        pytest.param("xgboost", id="xgboost"),
    ],
)
def test_frozen_pipelines_of_any_library(model, rows):
    if model == "lightgbm":
        lightgbm = pytest.importorskip("lightgbm")
        model = lightgbm.LGBMClassifier(n_estimators=8, num_leaves=5, verbose=-1, n_jobs=1)
    elif model == "xgboost":
        xgboost = pytest.importorskip("xgboost")
        model = xgboost.XGBClassifier(n_estimators=8, max_depth=2, n_jobs=1)
    X, y = make_table(300)
    y = (y == "yes").astype(int)
    # Sparse matrices: XGBoost takes absent zeros for missing values.
    encoder = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), TEXTS), remainder="passthrough", sparse_threshold=1
    )
    numbers = {"age": X["age"].median(), "city": "Ulm"}
    X, rows = X.fillna(numbers), rows.fillna(numbers)
    fitted = make_pipeline(encoder, model).fit(X, y)
    frozen = BudgetPruneClassifier(
        FrozenEstimator(fitted), costs=PRICES, budget=6, refit=None, random_state=0
    )
    frozen.fit(X, y)
    assert frozen.estimator_ is fitted
    whole = BudgetPredictor(frozen.path_.forest, PRICES, preprocessing=frozen.predictor().preprocessing)
    np.testing.assert_array_equal(whole.predict(rows), fitted.predict(rows))
    np.testing.assert_allclose(whole.predict_proba(rows), fitted.predict_proba(rows), rtol=1e-5)
    decision = frozen.predictor().decide(rows.iloc[1].to_dict())
    assert decision.label == frozen.predict(rows)[1]


def test_rows_of_training_can_be_given_for_frozen_pipelines(rows):
    X, y = make_table(300)
    fitted = a_pipeline().fit(X[:150], y[:150])
    frozen = BudgetPruneClassifier(
        FrozenEstimator(fitted), costs=PRICES, budget=5, error="held-out", refit="squared"
    )
    frozen.fit(X[:150], y[:150], X_val=X[150:], y_val=y[150:])
    np.testing.assert_array_equal(frozen.predict(rows), frozen.to_sklearn().predict(rows))


def test_other_budgets(pruned, rows):
    cheaper = pruned.with_budget(2.0)
    assert cheaper.cost_ <= 2.0
    assert cheaper.predict(rows).shape == (40,)
    X, y = make_table(400)
    loaded = pickle.loads(pickle.dumps(pruned))
    np.testing.assert_array_equal(loaded.predict(rows), pruned.predict(rows))
    again = loaded.with_budget(2.0, X, y)
    assert again.cost_ == cheaper.cost_


def test_regression(rows):
    X, _ = make_table(300)
    target = X["income"] + 20 * (X["city"] == "Ulm")
    model = BudgetPruneRegressor(
        a_pipeline(RandomForestRegressor(5, max_depth=4, random_state=0)), costs=PRICES, random_state=0
    ).fit(X, target)
    assert model.score(X, target) > 0.5
    np.testing.assert_allclose(model.predict(rows), model.to_sklearn().predict(rows))


def test_nested_pipelines_and_arrays(rows):
    X, y = make_table(200, missing=False)
    inner = make_pipeline(StandardScaler(), RandomForestClassifier(3, random_state=0))
    outer = make_pipeline(make_column_transformer((OneHotEncoder(), [1, 3]), remainder="passthrough"), inner)
    table = X.to_numpy(dtype=object)
    model = BudgetPruneClassifier(outer, costs=list(PRICES.values()), refit="squared", random_state=0)
    model.fit(table, y)
    assert model.source_names_ == ("x0", "x1", "x2", "x3", "x4")
    np.testing.assert_array_equal(model.predict(table), model.to_sklearn().predict(table))
    only = BudgetPruneClassifier(make_pipeline(RandomForestClassifier(3)), random_state=0)
    only.fit(X[NUMBERS], y)
    assert only.predictor().preprocessing is None


def test_clones_keep_their_parameters():
    model = BudgetPruneClassifier(a_pipeline(), costs=PRICES, needs={"step": "all"})
    assert clone(model).get_params()["needs"] == {"step": "all"}


def test_errors():
    X, y = make_table(100, missing=False)
    with pytest.raises(UnsupportedModelError, match=r"cannot turn a sklearn.LogisticRegression"):
        BudgetPruneClassifier(make_pipeline(StandardScaler(), LogisticRegression()), costs=PRICES).fit(X, y)
    fitted = FrozenEstimator(a_pipeline().fit(X, y))
    for inner in (a_pipeline(), fitted):
        with pytest.raises(UnsupportedModelError, match="Calibrate the model alone, after the preproc"):
            BudgetPruneClassifier(CalibratedClassifierCV(inner, ensemble=False), costs=PRICES).fit(X, y)
    calibrated = FrozenEstimator(CalibratedClassifierCV(fitted).fit(X, y))
    with pytest.raises(UnsupportedModelError, match="Calibrate the model alone, after the preprocessing"):
        BudgetPruneClassifier(calibrated, costs=PRICES).fit(X, y)
    with pytest.raises(UnsupportedModelError, match="the last step of the Pipeline"):
        BudgetPruneClassifier(Pipeline([("a", StandardScaler()), ("b", "passthrough")])).fit(X, y)
    with pytest.raises(InvalidInputError, match="costs names unknown features: 'height'"):
        BudgetPruneClassifier(a_pipeline(), costs=PRICES | {"height": 1}).fit(X, y)
    strange = make_pipeline(FunctionTransformer(lambda x: x[NUMBERS] * 2), RandomForestClassifier(2))
    with pytest.raises(InvalidInputError, match=r"step 'functiontransformer' .* cannot be traced"):
        BudgetPruneClassifier(strange, costs=PRICES).fit(X, y)
    said = {"functiontransformer": [["age"], ["income"], ["visits"]]}
    model = BudgetPruneClassifier(strange, costs=PRICES, needs=said, random_state=0).fit(X, y)
    assert set(np.unique(model.acquisition_cost(X))) <= {0.0, 1.0, 3.0, 4.0, 7.0, 8.0, 10.0, 11.0}


def test_problems_of_encoded_features_have_costs_of_raw_columns(rows):
    """The same with the objects below the estimators."""
    X, y = make_table(300)
    fitted = a_pipeline().fit(X, y)
    forest = Forest.from_model(fitted[-1])
    preprocessing = Preprocessing.from_sklearn(fitted[:-1], X)
    priced = PricedPreprocessing.of(preprocessing, FeatureCosts(PRICES))
    costs = FeatureCosts.from_table(priced.costs, forest.names)
    path = PruningProblem(forest, preprocessing.transform(rows), costs=costs).path()
    used = path.unpruned.cost
    assert used == pytest.approx(np.mean([cost_of_row(fitted, rows, i) for i in range(len(rows))]))


def test_forests_are_made_of_the_last_step():
    X, y = make_table(60, missing=False)
    with pytest.raises(UnsupportedModelError, match="pruning estimators and prune_model take pipelines"):
        Forest.from_model(a_pipeline().fit(X, y))
