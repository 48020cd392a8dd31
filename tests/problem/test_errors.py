"""Node errors of every estimate and loss, against a sum over rows."""

import numpy as np
import pytest

from budgetprune.problem import PruningProblem

pytestmark = pytest.mark.uncompiled

BOOTSTRAPPED = [
    "forest",
    "forest, balanced",
    "forest, balanced subsamples",
    "forest, class weights",
    "forest, missing",
    "forest, half samples",
    "forest, roots only",
    "forest, constrained",
    "bag",
    "bag, class weights",
    "regression",
    "regression, missing",
    "regression, median",
    "regression, constrained",
]
NOT_BOOTSTRAPPED = ["tree, weights", "extra trees", "regression extra trees", "regression, median, weights"]


def losses(case):
    return ["misclassification", "brier"] if case.forest.is_classifier else ["squared"]


def out_of_bag_weight(case, twins, weight):
    unseen = case.forest.in_bag_counts(len(case.X_train)) == 0
    return unseen * weight * twins.class_weight(case, case.y_train)


def held_out_weight(case, twins, weight):
    return np.tile(weight * twins.class_weight(case, case.y), (case.forest.n_trees, 1))


def in_bag_weight(case, twins, given):
    count = case.forest.in_bag_counts(len(case.X_train))
    # From version 1.9 on, scikit-learn's forests draw rows by weight; before, they drew, then multiplied.
    if np.array_equal(count.sum(axis=1), case.forest.weight[case.forest.tree_start[:-1]]):
        return count
    return count * twins.class_weight(case, case.y_train) * (1 if given is None else given)


def assert_same(problem, lost, counted, tolerance=1e-9):
    # Regression targets are near 1000, so a sum of squares around 0 would fail this by far.
    assert problem.lost == pytest.approx(lost, rel=tolerance, abs=tolerance)
    assert problem.counted == pytest.approx(counted, rel=1e-12)
    n_trees = problem.forest.n_trees
    assert problem.error == pytest.approx(problem.lost / counted[problem.forest.tree_of_node] / n_trees)


@pytest.mark.parametrize("weighted", [False, True])
def test_held_out(case, twins, weighted):
    given = case.weight if weighted else None
    weight = held_out_weight(case, twins, case.weight if weighted else np.ones(len(case.y)))
    for loss in losses(case):
        problem = PruningProblem(
            case.forest, case.X, case.y, error="held-out", loss=loss, sample_weight=given
        )
        assert_same(problem, *twins.lost(case.forest, loss, case.X, case.y, weight))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", BOOTSTRAPPED)
def test_out_of_bag(get_case, twins, name, weighted):
    case = get_case(name)
    given = case.weight_train if weighted else None
    weight = out_of_bag_weight(case, twins, case.weight_train if weighted else np.ones(len(case.y_train)))
    for loss in losses(case):
        problem = PruningProblem(
            case.forest, case.X, error="out-of-bag", loss=loss, **case.train, sample_weight_train=given
        )
        assert_same(problem, *twins.lost(case.forest, loss, case.X_train, case.y_train, weight))


def test_pooled_adds_lost_and_counted_weights(case, twins):
    unseen = out_of_bag_weight(case, twins, case.weight_train)
    fresh = held_out_weight(case, twins, case.weight)
    for loss in losses(case):
        problem = PruningProblem(
            case.forest,
            case.X,
            case.y,
            error="pooled",
            loss=loss,
            **case.train,
            sample_weight=case.weight,
            sample_weight_train=case.weight_train,
        )
        lost, counted = twins.lost(case.forest, loss, case.X_train, case.y_train, unseen)
        lost_too, counted_too = twins.lost(case.forest, loss, case.X, case.y, fresh)
        assert_same(problem, lost + lost_too, counted + counted_too)


@pytest.mark.parametrize("name", sorted({*BOOTSTRAPPED, *NOT_BOOTSTRAPPED} - {"forest, balanced subsamples"}))
def test_in_bag(get_case, twins, name):
    case = get_case(name)
    given = case.weight_train + 1 if "weights" in name.split(", ") else None
    seen = in_bag_weight(case, twins, given)
    for loss in losses(case):
        problem = PruningProblem(case.forest, case.X, loss=loss, **case.train, sample_weight_train=given)
        lost, counted = twins.lost(case.forest, loss, case.X_train, case.y_train, seen)
        # What scikit-learn remembers of targets near 1000 has lost some digits.
        assert_same(problem, lost, counted, 1e-7 if loss == "squared" else 1e-9)


def test_in_bag_errors_with_balanced_subsamples_are_what_the_trees_saw(get_case):
    case = get_case("forest, balanced subsamples")
    forest = case.forest
    label = np.argmax(forest.value, axis=1)
    expected = forest.class_weight.sum(axis=1) - forest.class_weight[np.arange(label.size), label]
    assert PruningProblem(forest, case.X).lost == pytest.approx(expected)


@pytest.mark.parametrize("error", ["in-bag", "out-of-bag", "held-out", "pooled"])
def test_counts_stay_integers(get_case, error):
    case = get_case("forest")
    problem = PruningProblem(
        case.forest, case.X, case.y, error=error, **case.train, sample_weight_train=case.weight_train
    )
    for array in (problem.lost, problem.lost_gain, problem.counted):
        assert np.array_equal(array, np.rint(array))


@pytest.mark.parametrize("form", [list, np.array, lambda y: np.array(y, dtype=object)])
def test_labels_of_any_form(get_case, form):
    case = get_case("forest")
    expected = PruningProblem(case.forest, case.X, case.y, error="held-out").lost
    problem = PruningProblem(case.forest, case.X, form(case.y.tolist()), error="held-out")
    assert np.array_equal(problem.lost, expected)


def test_class_weights_do_not_touch_costs(get_case):
    plain, weighted = get_case("forest"), get_case("forest, class weights")
    problem = PruningProblem(weighted.forest, plain.X, plain.y, error="held-out")
    assert np.array_equal(problem.row_weight, np.full(len(plain.X), 1 / len(plain.X)))


def test_a_class_that_is_absent_or_has_no_weight_of_its_own(get_case):
    case = get_case("forest, class weights")
    fresh = case.y == "mid"  # the class that the dictionary leaves out
    problem = PruningProblem(case.forest, case.X[fresh], case.y[fresh], error="held-out")
    assert np.array_equal(problem.counted, np.full(3, fresh.sum()))
    balanced = get_case("forest, balanced").forest
    problem = PruningProblem(balanced, case.X[fresh], case.y[fresh], error="held-out")
    assert np.array_equal(problem.counted, np.full(3, fresh.sum()))
