"""Cost-complexity pruning: scikit-learn's own is the oracle, node by node, for every alpha it knows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from budgetprune import Forest, InvalidInputError
from budgetprune.baselines import CCP, ccp_curve

TREES = {
    "gini": (DecisionTreeClassifier(random_state=0), load_breast_cancer),
    "entropy": (DecisionTreeClassifier(criterion="entropy", random_state=0), load_wine),
    "best first": (DecisionTreeClassifier(max_leaf_nodes=12, random_state=0), load_iris),
    "class weights": (
        DecisionTreeClassifier(class_weight={0: 0.3, 1: 1.7}, random_state=0),
        load_breast_cancer,
    ),
    "squared error": (DecisionTreeRegressor(min_samples_leaf=3, random_state=0), load_diabetes),
    "absolute error": (
        DecisionTreeRegressor(criterion="absolute_error", min_samples_leaf=9, random_state=0),
        load_diabetes,
    ),
}


def noisy(load):
    """Rows of a bundled data set; many equal values, so that splits tie, and labels that need large trees."""
    X, y = (rows[:300] for rows in load(return_X_y=True))
    rng = np.random.default_rng(0)
    X = np.round(X, 1)
    if np.issubdtype(y.dtype, np.integer):
        y = np.where(rng.random(y.size) < 0.2, rng.permutation(y), y)
    return X, y


def same_trees(forest: Forest, model) -> bool:
    """Whether a forest has the nodes of a fitted model, and no others."""
    other = Forest.from_model(model)
    names = ("tree_start", "parent", "feature", "threshold", "weight", "value")
    return all(np.array_equal(getattr(forest, name), getattr(other, name), equal_nan=True) for name in names)


@pytest.mark.parametrize("name", TREES)
def test_a_single_tree_is_pruned_as_in_scikit_learn_for_every_alpha(name):
    tree, load = TREES[name]
    X, y = noisy(load)
    fitted = clone(tree).fit(X, y)
    curve = ccp_curve(Forest.from_model(fitted))
    first, *alphas = fitted.cost_complexity_pruning_path(X, y).ccp_alphas
    assert first == 0
    # Splits without a gain go as soon as there is any alpha.
    alphas = np.unique([0.0, *np.maximum(alphas, np.nextafter(0, 1))])
    assert np.array_equal(curve.parameter, alphas)
    between = (alphas[1:] + alphas[:-1]) / 2
    for alpha in [*alphas, *between[::4], 2 * alphas[-1], np.nextafter(alphas[-1], 0)]:
        other = clone(tree).set_params(ccp_alpha=alpha).fit(X, y)
        assert same_trees(curve.forest(curve.at(alpha)), other), alpha
    assert curve.n_splits.tolist() == [curve.forest(i).n_splits for i in range(len(curve))]


@pytest.mark.parametrize(
    ("forest", "load"),
    [
        (RandomForestClassifier(4, random_state=1), load_wine),
        (RandomForestClassifier(4, criterion="entropy", random_state=1), load_breast_cancer),
        (RandomForestRegressor(3, min_samples_leaf=3, random_state=1), load_diabetes),
        (ExtraTreesRegressor(3, min_samples_leaf=3, random_state=1), load_diabetes),
    ],
)
def test_a_forest_is_pruned_tree_by_tree_with_one_alpha(forest, load):
    X, y = noisy(load)
    weight = np.random.default_rng(2).integers(1, 4, y.size).astype(float)
    fitted = CCP(forest).fit(X, y, sample_weight=weight)
    curve = fitted.curve_
    assert same_trees(fitted.forest_, fitted.estimator_)
    for alpha in curve.parameter[:: len(curve) // 12 + 1]:
        other = clone(forest).set_params(ccp_alpha=alpha).fit(X, y, sample_weight=weight)
        assert same_trees(curve.forest(curve.at(alpha)), other)
        pruned = CCP(FrozenEstimator(fitted.estimator_), ccp_alpha=alpha).fit(X, y)
        assert same_trees(pruned.forest_, other)
        np.testing.assert_allclose(pruned.predict(X), other.predict(X))
        assert pruned.score(X, y) == pytest.approx(other.score(X, y))


@pytest.mark.uncompiled
def test_bags_of_trees_are_pruned_too():
    X, y = noisy(load_wine)
    tree = DecisionTreeClassifier(random_state=0)
    curve = CCP(BaggingClassifier(tree, 3, random_state=0)).fit(X, y).curve_
    alpha = curve.parameter[len(curve) // 2]
    other = BaggingClassifier(clone(tree).set_params(ccp_alpha=alpha), 3, random_state=0).fit(X, y)
    assert same_trees(curve.forest(curve.at(alpha)), other)


def test_a_pruned_forest_is_pruned_on_along_the_same_curve():
    X, y = noisy(load_wine)
    curve = ccp_curve(Forest.from_model(RandomForestClassifier(3, random_state=0).fit(X, y)))
    middle, later = len(curve) // 2, 3 * len(curve) // 4
    again = ccp_curve(curve.forest(middle))
    other = again.forest(again.at(curve.parameter[later]))
    assert np.array_equal(other.origin_node, curve.forest(later).origin_node)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_forests_without_an_origin_have_impurities_from_their_class_weights(criterion):
    X, y = noisy(load_breast_cancer)
    forest = Forest.from_model(RandomForestClassifier(2, criterion=criterion, random_state=0).fit(X, y))
    recorded, computed = ccp_curve(forest), ccp_curve(replace(forest, origin=None), criterion)
    for alpha in [1e-4, 1e-3, 3e-3, 1e-2]:
        assert np.array_equal(recorded.keep(recorded.at(alpha)), computed.keep(computed.at(alpha)))


def test_regression_forests_without_an_origin_have_variances():
    X, y = noisy(load_diabetes)
    forest = Forest.from_model(RandomForestRegressor(2, min_samples_leaf=5, random_state=0).fit(X, y))
    recorded, computed = ccp_curve(forest), ccp_curve(replace(forest, origin=None))
    assert np.array_equal(recorded.until, computed.until)


def test_costs_follow_from_what_is_kept():
    X, y = noisy(load_breast_cancer)
    costs = np.arange(30.0)
    fitted = CCP(RandomForestClassifier(5), ccp_alpha=0.01, costs=costs, random_state=0).fit(X, y)
    used = {
        k
        for tree in fitted.forest_.to_sklearn().estimators_
        for k in tree.tree_.feature[tree.tree_.children_left >= 0].tolist()
    }
    cost = fitted.acquisition_cost(X)
    assert cost.shape == (len(X),)
    assert 0 < cost.max() <= costs[list(used)].sum()
    assert (
        cost.mean()
        < CCP(FrozenEstimator(fitted.estimator_), costs=costs).fit(X, y).acquisition_cost(X).mean()
    )


def test_what_cannot_be_pruned_is_refused():
    X, y = noisy(load_breast_cancer)
    boosted = Forest.from_model(GradientBoostingClassifier(n_estimators=2).fit(X, y))
    with pytest.raises(InvalidInputError, match="correct each other"):
        ccp_curve(boosted)
    forest = Forest.from_model(RandomForestClassifier(1, max_depth=2).fit(X, y))
    with pytest.raises(InvalidInputError, match="node impurities"):
        ccp_curve(replace(forest, origin=None, class_weight=None))
    with pytest.raises(InvalidInputError, match="'misclassification' is unknown"):
        ccp_curve(forest, "misclassification")
    with pytest.raises(InvalidInputError, match="ccp_alpha must be"):
        CCP(ccp_alpha=-0.1).fit(X, y)
    with pytest.raises(InvalidInputError, match="costs has 2 entries"):
        CCP(costs=[1.0, 2.0]).fit(X, y)
