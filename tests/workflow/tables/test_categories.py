"""Categories: numbered so that thresholds divide them as well as sets would; the rare and the unknown."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from budgetprune.preprocessing import category_order
from budgetprune.workflow.tables import Columns, Target, learn_categories, split_table


def impurity(answers: np.ndarray) -> float:
    """Gini impurity times rows, or squared error: both are the sum of squares around the mean."""
    return float(((answers - answers.mean(axis=0)) ** 2).sum()) if len(answers) else 0.0


@pytest.mark.parametrize("kind", ["two classes", "regression"])
@pytest.mark.parametrize("seed", range(5))
def test_the_best_threshold_is_the_best_set(kind, seed, monkeypatch):
    """The theorem that numbering rests on, against all sets. (Without smoothing, which bends it a little.)"""
    monkeypatch.setattr(category_order, "SMOOTHING", 0.0)
    rng = np.random.default_rng(seed)
    code = rng.integers(7, size=120)
    y = (rng.random(120) < rng.random(7)[code]).astype(int) if kind == "two classes" else rng.normal(code % 4)
    columns = Columns(pd.DataFrame({"a": pd.Categorical([f"c{k}" for k in code])}))
    (labels,) = learn_categories(columns, y, is_classifier=kind == "two classes").labels
    assert sorted(labels) == [f"c{k}" for k in range(7)]

    def worth(left):
        goes = np.isin(columns.frame["a"].astype(str), list(left))
        return impurity(y[goes, np.newaxis]) + impurity(y[~goes, np.newaxis])

    by_set = min(worth(left) for n in range(1, 7) for left in combinations(labels, n))
    by_threshold = min(worth(labels[:n]) for n in range(1, 7))
    assert by_threshold == pytest.approx(by_set, abs=1e-9)


def test_several_classes_lie_on_a_line():
    """Three categories that go from one class to another, and one beyond: neighbours stay neighbours."""
    shares = {"a": (0.8, 0.1, 0.1), "b": (0.55, 0.3, 0.15), "c": (0.3, 0.55, 0.15), "d": (0.1, 0.8, 0.1)}
    label, y = zip(
        *(
            (name, k)
            for name in "cadb"
            for k, share in enumerate(shares[name])
            for _ in range(int(100 * share))
        ),
        strict=True,
    )
    columns = Columns(pd.DataFrame({"a": pd.Categorical(label)}))
    (labels,) = learn_categories(columns, np.array(y), is_classifier=True).labels
    assert "".join(labels) in ("abcd", "dcba")


def test_the_rare_and_the_unknown_are_missing():
    label = ["x"] * 300 + ["y"] * 300 + ["z"] * 300 + ["rare"] * 3
    y = np.array([0] * 300 + [1] * 600 + [0] * 3)
    frame = pd.DataFrame({"n": np.arange(903.0), "a": pd.Categorical(label)})
    numbering = learn_categories(Columns(frame), y, is_classifier=True)
    assert numbering.labels == (None, ("x", "y", "z"))
    assert numbering.columns == [1]
    other = pd.DataFrame({"n": [1.0, 2, 3, 4], "a": pd.Series(["z", "rare", "new", None], dtype=object)})
    encoded = numbering.encode(other)
    assert encoded.dtype == np.float32
    assert encoded[:, 0].tolist() == [1, 2, 3, 4]
    assert np.isnan(encoded[:, 1]).tolist() == [False, True, True, True]
    assert encoded[0, 1] == 2


def test_only_training_rows_number_categories():
    """Whatever validation rows answer, categories stay in the order of the others."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"n": rng.normal(size=400), "a": pd.Categorical(rng.choice(list("pqrs"), 400))})
    y = rng.integers(0, 2, 400).astype(float) * rng.random(400)
    divided = split_table(Columns(frame), Target("y", "regression", y), share=0.4, seed=1, dtype=np.float32)
    assert divided.classes is None
    assert len(divided.train) == 240
    is_val = np.isin(frame["n"].to_numpy(np.float32), divided.validation.X[:, 0])
    assert is_val.sum() == 160
    own = learn_categories(Columns(frame[~is_val]), y[~is_val], is_classifier=False)
    assert divided.categories == own != learn_categories(Columns(frame), y, is_classifier=False)


def test_classes_are_numbered():
    frame = pd.DataFrame({"n": np.arange(100.0)})
    y = np.array(["no", "yes", "maybe", "no"] * 25)
    divided = split_table(
        Columns(frame), Target("y", "classification", y), share=0.3, seed=0, dtype=np.float64
    )
    assert divided.classes.tolist() == ["maybe", "no", "yes"]
    assert divided.train.X.dtype == np.float64
    rows = np.concatenate([divided.train.X[:, 0], divided.validation.X[:, 0]]).astype(int)
    numbers = np.concatenate([divided.train.y, divided.validation.y])
    assert divided.classes[numbers].tolist() == y[rows].tolist()
    assert np.bincount(divided.validation.y).tolist() == pytest.approx([7.5, 15, 7.5], abs=1)


def test_the_most_frequent_categories_stay():
    towns = ["a"] * 30 + ["b"] * 20 + ["c"] * 10
    columns = Columns(pd.DataFrame({"town": pd.Categorical(towns), "age": 1.0}))
    y = np.arange(60) % 2
    assert sorted(learn_categories(columns, y, is_classifier=True).labels[0]) == ["a", "b", "c"]
    few = learn_categories(columns, y, is_classifier=True, most=2)
    assert sorted(few.labels[0]) == ["a", "b"]
    restricted = few.restrict(columns.frame)
    assert restricted["town"].isna().sum() == 10
    assert sorted(restricted["town"].cat.categories) == ["a", "b"]
    assert restricted["age"].tolist() == columns.frame["age"].tolist()
