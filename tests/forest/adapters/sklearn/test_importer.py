"""What `Forest.from_model` makes of the zoo: where rows go, what trees answer, what nodes know."""

import numpy as np
import pytest
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from budgetprune.errors import InvalidInputError, UnsupportedModelError
from budgetprune.forest import Forest
from budgetprune.forest.adapters.sklearn import layout as _layout


def origin_leaves(case):
    """scikit-learn's own `apply`, tree by tree, on the columns that the tree saw."""
    columns = getattr(case.model, "estimators_features_", [slice(None)] * len(case.trees))
    pairs = zip(case.trees, columns, strict=True)
    return np.column_stack([tree.tree_.apply(case.rows[:, seen].astype(np.float32)) for tree, seen in pairs])


def as_columns(rows, case):
    return (
        rows
        if case.forest.feature_names is None
        else case.X.iloc[:0]
        .reindex(range(len(rows)))
        .assign(**dict(zip(case.forest.feature_names, rows.T, strict=True)))
    )


def test_rows_stop_where_they_stop_in_the_origin(case):
    assert np.array_equal(case.forest.origin_node[case.forest.apply(case.rows)], origin_leaves(case))


def test_predictions_are_those_of_the_origin_bit_for_bit(case):
    rows = as_columns(case.rows, case)
    if case.forest.is_classifier:
        assert np.array_equal(case.forest.predict_proba(rows), case.model.predict_proba(rows))
    prediction = case.forest.predict(rows)
    assert np.array_equal(prediction, case.model.predict(rows))
    assert prediction.dtype == case.model.predict(rows).dtype


def test_nodes_are_in_preorder(case):
    forest = case.forest
    split = np.flatnonzero(forest.is_split)
    assert np.array_equal(forest.left[split], split + 1)
    assert np.array_equal(forest.parent[forest.right[split]], split)
    assert np.array_equal(np.flatnonzero(forest.parent < 0), forest.tree_start[:-1])
    assert forest.n_splits == split.size == sum(tree.get_n_leaves() - 1 for tree in case.trees)
    assert forest.n_trees == len(case.trees)
    deepest = np.maximum.reduceat(forest.depth, forest.tree_start[:-1])
    assert deepest.tolist() == [tree.get_depth() for tree in case.trees]
    sizes = np.bincount(forest.tree_of_node).tolist()
    assert sizes == [tree.tree_.node_count for tree in case.trees]


def test_weights_add_up(case):
    forest = case.forest
    split = np.flatnonzero(forest.is_split)
    children = forest.left[split], forest.right[split]
    assert np.allclose(forest.weight[split], sum(forest.weight[child] for child in children), rtol=1e-12)
    if forest.class_weight is not None:
        assert np.allclose(forest.class_weight.sum(axis=1), forest.weight, rtol=1e-12)
        parts = sum(forest.class_weight[child] for child in children)
        assert np.allclose(forest.class_weight[split], parts, rtol=1e-12)


@pytest.mark.parametrize("name", ["random forest", "extra trees, missing", "bag, some columns"])
def test_class_weights_are_integers_where_weights_are(get_case, name):
    class_weight = get_case(name).forest.class_weight
    assert np.array_equal(class_weight, np.rint(class_weight))


def test_class_weights_are_not_rounded_where_weights_are_no_integers(get_case):
    case = get_case("tree, weights")
    root = [case.weight[case.y == label].sum() for label in case.forest.classes]
    assert np.allclose(case.forest.class_weight[0], root, rtol=1e-14)
    assert not np.array_equal(case.forest.class_weight, np.rint(case.forest.class_weight))


@pytest.mark.parametrize(
    "name", ["random forest", "random forest, half samples", "bag", "bag, without replacement"]
)
def test_class_weights_are_those_of_the_rows_in_the_bag(get_case, name):
    case = get_case(name)
    forest, counts = case.forest, case.forest.in_bag_counts(len(case.y))
    reached = forest.apply(case.X)
    is_class = case.y[:, np.newaxis] == forest.classes
    expected = np.zeros((forest.n_nodes, len(forest.classes)))
    for t in range(forest.n_trees):
        np.add.at(expected, reached[:, t], is_class * counts[t][:, np.newaxis])
    for h in np.flatnonzero(forest.parent >= 0)[::-1]:
        expected[forest.parent[h]] += expected[h]
    assert np.array_equal(forest.class_weight, expected)


def test_variance_is_that_of_the_rows_in_the_bag(get_case):
    case = get_case("regression forest")
    forest, counts = case.forest, case.forest.in_bag_counts(len(case.y))
    roots = forest.tree_start[:-1]
    mean = counts @ case.y / len(case.y)
    variance = [np.average((case.y - m) ** 2, weights=c) for m, c in zip(mean, counts, strict=True)]
    assert np.allclose(forest.value[roots, 0], mean)
    assert np.allclose(forest.variance[roots], variance)


@pytest.mark.parametrize(
    ("name", "class_weight", "variance"),
    [
        ("random forest", True, False),
        ("random forest, constrained", False, False),
        ("regression forest", False, True),
        ("regression forest, poisson", False, False),
        ("regression forest, median", False, False),
        ("regression forest, constrained", False, False),
        ("regression bag", False, True),
    ],
)
def test_what_values_cannot_tell_is_unknown(get_case, name, class_weight, variance):
    forest = get_case(name).forest
    assert (forest.class_weight is not None, forest.variance is not None) == (class_weight, variance)


def test_missing_values_are_forbidden_where_the_origin_forbids_them(case):
    rows = case.rows.copy()
    rows[0] = np.nan
    if case.forest.missing == "nan":
        assert np.array_equal(case.forest.predict(rows), case.model.predict(as_columns(rows, case)))
        return
    with pytest.raises(InvalidInputError, match=r"missing value \(NaN\) in row 0"):
        case.forest.apply(rows)
    with pytest.raises(ValueError, match="NaN"):
        case.model.predict(rows)


def test_importing_leaves_the_model_alone(get_case):
    case = get_case("bag, some columns")
    before = [tree.tree_.feature.copy() for tree in case.trees]
    Forest.from_model(case.model)
    assert all(np.array_equal(a, tree.tree_.feature) for a, tree in zip(before, case.trees, strict=True))


def test_unknown_models_are_refused_with_what_is_known():
    class MyForest(RandomForestClassifier):
        pass

    model = AdaBoostClassifier(n_estimators=2).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(UnsupportedModelError, match=r"AdaBoostClassifier.*sklearn\.RandomForestClassifier"):
        Forest.from_model(model)
    with pytest.raises(UnsupportedModelError, match="subclasses"):
        Forest.from_model(MyForest(2).fit([[0.0], [1.0]], [0, 1]))


def test_bags_of_anything_else_are_refused():
    model = BaggingClassifier(LogisticRegression(), 2, bootstrap=False).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(UnsupportedModelError, match="LogisticRegression is not a forest"):
        Forest.from_model(model)


@pytest.mark.parametrize("model", [RandomForestRegressor(), DecisionTreeClassifier(), BaggingClassifier()])
def test_unfitted_models_are_refused(model):
    with pytest.raises(InvalidInputError, match=f"{type(model).__name__} is not fitted"):
        Forest.from_model(model)


@pytest.mark.parametrize(
    "model", [RandomForestRegressor(2), RandomForestClassifier(2), DecisionTreeClassifier()]
)
def test_several_targets_are_refused(model):
    model.fit([[0.0], [1.0], [2.0]], [[0, 1], [1, 1], [1, 0]])
    with pytest.raises(UnsupportedModelError, match="2 targets"):
        Forest.from_model(model)


def test_unknown_node_layouts_are_refused(get_case, monkeypatch):
    monkeypatch.setattr(_layout, "_FIELDS", _layout._FIELDS - {"impurity"})
    with pytest.raises(UnsupportedModelError, match="impurity"):
        Forest.from_model(get_case("tree").model)


def test_answers_that_cannot_be_added_up_are_refused():
    model = RandomForestRegressor(3, random_state=0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 5.0])
    for tree in model.estimators_:
        tree.tree_.value[:] = 1.7e308
    with pytest.raises(InvalidInputError, match="value must be finite, and from"):
        Forest.from_model(model)
