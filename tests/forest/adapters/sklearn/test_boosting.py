"""What `Forest.from_model` makes of scikit-learn's gradient boosting, plain and by histograms."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.linear_model import LogisticRegression

from budgetprune.errors import InvalidInputError, UnsupportedModelError
from budgetprune.forest import Forest
from budgetprune.forest.adapters.sklearn import layout as _layout
from budgetprune.losses import find_loss


def as_columns(rows, case):
    """Rows in the form that the model was trained on, so that scikit-learn finds the names it expects."""
    return rows if case.forest.feature_names is None else type(case.X)(rows, columns=case.X.columns)


def raw_scores(model, rows):
    """scikit-learn's own scores before the link, of shape (n_rows, n_outputs)."""
    if hasattr(model, "decision_function"):
        return model.decision_function(rows).reshape(len(rows), -1)
    if hasattr(model, "_predictors"):
        return model._raw_predict(rows)
    return model.predict(rows)[:, np.newaxis]


def test_scores_and_labels_are_those_of_the_origin_bit_for_bit(boosted_case):
    case, rows = boosted_case, as_columns(boosted_case.rows, boosted_case)
    assert np.array_equal(case.forest.scores(rows), raw_scores(case.model, rows))
    prediction = case.forest.predict(rows)
    if case.forest.link == "exp":  # the last bit depends on who computes exp
        assert np.allclose(prediction, case.model.predict(rows), rtol=1e-14, atol=0)
    else:
        assert np.array_equal(prediction, case.model.predict(rows))
    assert prediction.dtype == case.model.predict(rows).dtype
    if case.forest.is_classifier:
        assert np.allclose(
            case.forest.predict_proba(rows), case.model.predict_proba(rows), rtol=0, atol=1e-15
        )


def test_rounds_are_those_of_the_origin(boosted_case):
    case, rows = boosted_case, as_columns(boosted_case.rows[:50], boosted_case)
    forest = case.forest
    answers = forest.value[forest.apply(rows), 0]
    staged = getattr(case.model, "staged_decision_function", case.model.staged_predict)(rows)
    for r, expected in enumerate(staged):
        scores = np.tile(forest.base, (50, 1))
        for t in np.flatnonzero(forest.tree_round <= r):
            scores[:, forest.tree_output[t]] += answers[:, t]
        ours = np.exp(scores) if forest.link == "exp" else scores
        assert np.allclose(ours, np.reshape(expected, scores.shape), rtol=1e-14, atol=1e-15)
    assert r == forest.tree_round[-1]


@pytest.mark.parametrize(
    ("name", "loss", "link", "label_rule"),
    [
        ("boosting", "logistic", "logistic", "nonnegative"),
        ("boosting, three classes", "softmax", "softmax", "argmax"),
        ("boosting, squared", "squared", "identity", "argmax"),
        ("boosting, huber", None, "identity", "argmax"),
        ("boosting, absolute", None, "identity", "argmax"),
        ("boosting, quantile", None, "identity", "argmax"),
        ("hist", "logistic", "logistic", "positive"),
        ("hist, three classes", "softmax", "softmax", "argmax"),
        ("hist, squared", "squared", "identity", "argmax"),
        ("hist, poisson", "poisson", "exp", "argmax"),
        ("hist, gamma", "gamma", "exp", "argmax"),
        ("hist, absolute", None, "identity", "argmax"),
        ("hist, quantile", None, "identity", "argmax"),
    ],
)
def test_what_scores_mean(get_case, name, loss, link, label_rule):
    forest = get_case(name).forest
    assert (forest.loss, forest.link, forest.label_rule) == (loss, link, label_rule)
    assert forest.is_boosted
    assert forest.divisor == 1.0


@pytest.mark.parametrize("kind", [GradientBoostingClassifier, HistGradientBoostingClassifier])
def test_a_score_of_zero_gets_the_label_that_it_gets_in_the_origin(kind):
    """Balanced classes and no useful feature: all scores are exactly 0."""
    X, y = np.zeros((40, 1)), np.tile(["a", "b"], 20)
    model = kind().fit(X, y)
    forest = Forest.from_model(model)
    assert not forest.scores(X).any()
    assert np.array_equal(forest.predict(X), model.predict(X))


def test_weights_add_up(boosted_case):
    forest = boosted_case.forest
    split = np.flatnonzero(forest.is_split)
    children = forest.weight[forest.left[split]] + forest.weight[forest.right[split]]
    assert np.allclose(forest.weight[split], children, rtol=1e-12)


def test_nodes_are_those_of_the_origin(boosted_case):
    forest, model = boosted_case.forest, boosted_case.model
    if hasattr(model, "_predictors"):
        sizes = [len(predictor.nodes) for one_round in model._predictors for predictor in one_round]
    else:
        sizes = [tree.tree_.node_count for tree in model.estimators_.flat]
    assert np.diff(forest.tree_start).tolist() == sizes


# --- What nodes answer, and what splits gain ----------------------------------------------------------------


def sums_at_nodes(forest, leaves, amount):
    """Sum of each row's amount over all nodes it passes."""
    total = np.bincount(leaves, amount, forest.n_nodes)
    for h in np.arange(forest.n_nodes)[:0:-1]:
        if forest.parent[h] >= 0:
            total[forest.parent[h]] += total[h]
    return total


def newton_steps(case, weight):
    """The best step of every node and the quadratic gain of every split, from the training rows alone."""
    forest = case.forest
    leaves = forest.apply(as_columns(np.asarray(case.X), case))
    target = case.y if forest.classes is None else np.searchsorted(forest.classes, case.y)
    rate, l2 = case.model.learning_rate, getattr(case.model, "l2_regularization", 0.0)
    step, explained = np.zeros(forest.n_nodes), np.zeros(forest.n_nodes)
    scores = np.tile(forest.base, (len(target), 1))
    for r in range(forest.tree_round[-1] + 1):
        gradient, curvature = find_loss(forest.loss).derivatives(scores.copy(), target)
        for t in np.flatnonzero(forest.tree_round == r):
            k = forest.tree_output[t]
            g = sums_at_nodes(forest, leaves[:, t], weight * gradient[:, k])
            h = sums_at_nodes(forest, leaves[:, t], weight * curvature[:, k]) + l2
            here = forest.tree_of_node == t
            step[here], explained[here] = -rate * g[here] / h[here], g[here] ** 2 / h[here]
            scores[:, k] += forest.value[leaves[:, t], 0]
    split = np.flatnonzero(forest.is_split)
    gain = np.zeros(forest.n_nodes)
    gain[split] = explained[forest.left[split]] + explained[forest.right[split]] - explained[split]
    return step, gain * (rate - rate**2 / 2), explained * (rate - rate**2 / 2)


NEWTON = {
    "hist": False,
    "hist, three classes": False,
    "hist, weights": True,
    "hist, no interactions": False,
    "hist, table": False,
    "hist, squared": False,
    "hist, squared, weights": True,
    "hist, poisson": True,
    "hist, gamma": False,
}


@pytest.mark.parametrize(("name", "has_weights"), NEWTON.items())
def test_nodes_of_histogram_boosting_answer_with_the_best_step(get_case, name, has_weights):
    case = get_case(name)
    forest = case.forest
    step, gain, explained = newton_steps(case, case.weight if has_weights else np.ones(len(case.y)))
    is_root = forest.parent < 0
    # scikit-learn sums float32 gradients.
    assert np.allclose(forest.value[~is_root, 0], step[~is_root], rtol=1e-4, atol=1e-6)
    # At roots it records 0, and counts the gain from there.
    assert not forest.value[is_root & forest.is_split].any()
    gain += np.where(is_root & forest.is_split, explained, 0.0)
    assert np.allclose(forest.split_gain * len(case.y), gain, rtol=1e-3, atol=1e-4)
    assert (forest.split_gain[forest.is_split] > 0).all()


@pytest.mark.parametrize(
    ("name", "has_weights"), [("boosting, squared", False), ("boosting, squared, weights", True)]
)
def test_nodes_of_boosted_squares_answer_with_the_best_step(get_case, name, has_weights):
    case = get_case(name)
    weight = case.weight if has_weights else np.ones(len(case.y))
    step, gain, _ = newton_steps(case, weight)
    assert np.allclose(case.forest.value[:, 0], step, rtol=1e-9, atol=1e-12)
    assert np.allclose(case.forest.split_gain, gain / weight.sum(), rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize(
    "name", ["boosting", "boosting, three classes", "boosting, huber", "hist, absolute", "hist, quantile"]
)
def test_inner_nodes_answer_with_the_mean_of_their_leaves_where_nothing_better_is_recorded(get_case, name):
    forest = get_case(name).forest
    assert forest.split_gain is None
    stop = np.arange(1, forest.n_nodes + 1)
    for h in np.arange(forest.n_nodes)[::-1]:
        stop[h] = stop[forest.right[h]] if forest.is_split[h] else stop[h]
    for h in np.flatnonzero(forest.is_split):
        leaves = h + np.flatnonzero(~forest.is_split[h : stop[h]])
        mean = np.average(forest.value[leaves, 0], weights=forest.weight[leaves])
        assert forest.value[h, 0] == pytest.approx(mean, rel=1e-9, abs=1e-12)


def test_gains_of_constrained_trees_are_unknown(get_case):
    assert get_case("hist, constrained").forest.split_gain is None


# --- Rows ---------------------------------------------------------------------------------------------------


def test_missing_values_are_forbidden_where_the_origin_forbids_them(get_case):
    rows = np.full((2, 6), np.nan)
    with pytest.raises(InvalidInputError, match=r"missing value \(NaN\) in row 0"):
        get_case("boosting").forest.predict(rows)
    hist = get_case("hist, squared")
    assert np.array_equal(hist.forest.predict(rows), hist.model.predict(rows))


def test_sparse_rows(get_case):
    case = get_case("boosting, squared")
    rows = sp.csr_array(np.round(case.rows))
    assert np.array_equal(case.forest.predict(rows), case.model.predict(rows))


# --- What is refused ----------------------------------------------------------------------------------------

X, Y = np.arange(8.0)[:, np.newaxis], np.tile([0, 1], 4)


@pytest.mark.parametrize(
    ("model", "y", "message"),
    [
        (GradientBoostingClassifier(loss="exponential"), Y, r"expit\(2 s\).*log_loss"),
        (GradientBoostingClassifier(init=LogisticRegression()), Y, "starts from a LogisticRegression"),
        (GradientBoostingClassifier(init=DummyClassifier(strategy="stratified")), Y, "DummyClassifier"),
        (HistGradientBoostingClassifier(), np.full(8, 5), "single class 5"),
    ],
)
def test_what_a_forest_cannot_express_is_refused(model, y, message):
    with pytest.raises(UnsupportedModelError, match=message):
        Forest.from_model(model.fit(X, y))


@pytest.mark.parametrize("model", [GradientBoostingRegressor(), HistGradientBoostingRegressor()])
def test_unfitted_models_are_refused(model):
    with pytest.raises(InvalidInputError, match=f"{type(model).__name__} is not fitted"):
        Forest.from_model(model)


def test_constant_starts_of_any_kind_are_fine():
    model = GradientBoostingClassifier(n_estimators=3, init=DummyClassifier(strategy="uniform")).fit(X, Y)
    assert np.array_equal(Forest.from_model(model).scores(X)[:, 0], model.decision_function(X))


def test_unknown_node_layouts_are_refused(get_case, monkeypatch):
    monkeypatch.setattr(_layout, "_HIST_FIELDS", _layout._HIST_FIELDS - {"gain"})
    with pytest.raises(UnsupportedModelError, match=r"does not know \(gain\)"):
        Forest.from_model(get_case("hist").model)
