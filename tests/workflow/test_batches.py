"""Predictions batch by batch are those of the whole table."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from budgetprune import BudgetModel, BudgetPredictor, Forest, predict_batches
from budgetprune.errors import InvalidInputError

from ..solvers.strategies import examples

NAMES = [f"c{k}" for k in range(6)]
N_ROWS = 90


def make_rows(maker):
    X, y = maker(400 + N_ROWS, len(NAMES), random_state=0)
    return pd.DataFrame(X, columns=NAMES), y


@pytest.fixture(scope="module")
def frame():
    X, _ = make_rows(make_classification)
    return X[400:].assign(key=[f"row {k}" for k in range(N_ROWS)]).reset_index(drop=True)


@pytest.fixture(scope="module")
def predictor():
    X, y = make_rows(make_classification)
    model = RandomForestClassifier(8, max_depth=5, random_state=0).fit(
        X[:400], np.array(["no", "yes"])[y[:400]]
    )
    return BudgetPredictor(Forest.from_model(model))


@given(st.lists(st.integers(1, N_ROWS - 1), max_size=5), st.sampled_from(["frame", "table", "batch"]))
@examples(15)
def test_batches_do_not_matter(predictor, frame, cuts, kind):
    bounds = [0, *sorted(set(cuts)), N_ROWS]
    make = {
        "frame": lambda part: part,
        "table": lambda part: pa.Table.from_pandas(part, preserve_index=False),
        "batch": lambda part: pa.RecordBatch.from_pandas(part, preserve_index=False),
    }[kind]
    parts = [make(frame[first:last]) for first, last in pairwise(bounds)]
    answers = list(predict_batches(predictor, iter(parts), keep=["key"]))
    assert [type(answer) for answer in answers] == [type(part) for part in parts]
    together = pd.concat(
        [each if kind == "frame" else each.to_pandas() for each in answers], ignore_index=True
    )
    simulation = predictor.simulate(frame[NAMES])
    assert together.columns.tolist() == ["key", "label", "probability", "cost", "decided", "features_used"]
    assert np.array_equal(together["key"], frame["key"])
    assert np.array_equal(together["label"], simulation.label)
    assert np.array_equal(together["cost"], simulation.cost)
    assert np.array_equal(together["decided"], simulation.decided)
    n_used = together["features_used"].str.split(";").str.len()
    assert np.array_equal(n_used, simulation.acquired.sum(axis=1))


def test_full_predictions_and_limits_of_cost(predictor, frame):
    (full,) = predict_batches(predictor, [frame], full=True)
    assert np.array_equal(full["label"], predictor.predict(frame[NAMES]))
    (limited,) = predict_batches(predictor, [frame], max_cost=1.0)
    assert limited["cost"].max() <= 1.0
    assert not limited["decided"].all()


def test_regression_has_no_probability():
    X, y = make_rows(make_regression)
    predictor = BudgetPredictor(
        Forest.from_model(RandomForestRegressor(4, max_depth=3, random_state=0).fit(X, y))
    )
    (answer,) = predict_batches(predictor, [X])
    assert answer.columns.tolist() == ["prediction", "cost", "decided", "features_used"]
    assert np.array_equal(answer["prediction"], predictor.simulate(X).label)


def test_a_model_file_is_read_once_and_again_if_it_changes(predictor, frame, tmp_path, monkeypatch):
    file, loads, load = tmp_path / "model.budgetprune", [], BudgetModel.load
    monkeypatch.setattr(BudgetModel, "load", lambda name: loads.append(name) or load(name))
    BudgetModel(predictor).save(file)
    expected = next(predict_batches(predictor, [frame]))
    for _ in range(3):
        assert next(predict_batches(file, [frame])).equals(expected)
    assert len(loads) == 1
    dear = BudgetPredictor(predictor.forest, dict.fromkeys(NAMES, 7.0))
    BudgetModel(dear).save(file)
    assert next(predict_batches(str(file), [frame]))["cost"].min() >= 7.0


@pytest.mark.parametrize("kind", [pa.Table, pa.RecordBatch, pd.DataFrame])
def test_empty_batches_have_the_same_columns(predictor, frame, kind):
    whole = frame if kind is pd.DataFrame else kind.from_pandas(frame)
    empty, full = predict_batches(predictor, [whole[:0], whole], keep=["key"])
    assert type(empty) is kind
    assert len(empty) == 0
    if kind is pd.DataFrame:
        assert empty.columns.tolist() == full.columns.tolist()
        assert empty.dtypes.tolist()[1:-1] == full.dtypes.tolist()[1:-1]
    else:
        types = empty.schema.types, full.schema.types
        assert empty.column_names == full.column_names
        assert types[0][2:] == types[1][2:]


def test_refuses_what_makes_no_sense(predictor, frame):
    for batch, options, message in (
        ([1, 2], {}, "a batch must be"),
        (frame[:0], {"keep": ["absent"]}, "absent"),
        (frame.drop(columns="c0"), {}, "c0"),
        (frame, {"keep": ["absent"]}, "absent"),
        (frame, {"keep": ["cost"]}, "'cost' has the name of a column that is written"),
        (frame, {"full": True, "max_cost": 1.0}, "max_cost is for predictions that stop early"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            list(predict_batches(predictor, [batch], **options))
    with pytest.raises(InvalidInputError, match="model must be"):
        predict_batches(3, [frame])
    with pytest.raises(InvalidInputError, match="max_cost is for"):
        predict_batches(predictor, [], full=True, max_cost=1)  # before the first batch
