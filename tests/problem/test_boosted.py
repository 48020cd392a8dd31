"""Problems of boosted ensembles: which gains count, what a pruning costs in loss, and what is refused."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.utils.class_weight import compute_sample_weight

from budgetprune import FeatureCosts, InvalidInputError, PruningProblem

from ..boosters import KINDS, boosted, gains_by_definition, with_other_answers

pytestmark = pytest.mark.uncompiled

COSTS = FeatureCosts([2, 1, 3, 0.5])


def measured(case, **options):
    """A problem with held-out errors, of trees whose inner nodes answer anything."""
    forest = with_other_answers(case.forest)
    return PruningProblem(
        forest, case.X, case.y, costs=COSTS, error="held-out", sample_weight=case.weight, **options
    )


def train(case):
    return {"X_train": case.X_train, "y_train": case.y_train, "sample_weight_train": case.weight_train}


# --- Which gains count --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_in_bag_gains_are_the_recorded_ones(kind):
    case = boosted(kind)
    problem = PruningProblem(case.forest, case.X)
    np.testing.assert_array_equal(problem.gain, case.forest.split_gain)
    # Rows that are given, but not needed, change nothing.
    again = PruningProblem(case.forest, case.X, X_train=case.X, y_train=case.y)
    np.testing.assert_array_equal(again.gain, problem.gain)


@pytest.mark.parametrize("kind", KINDS)
def test_in_bag_gains_are_measured_if_none_are_recorded(kind):
    case = boosted(kind)
    problem = PruningProblem(replace(case.forest, split_gain=None), case.X, **train(case))
    np.testing.assert_allclose(problem.gain, case.forest.split_gain, rtol=1e-9, atol=1e-13)
    np.testing.assert_array_equal(problem.counted, np.full(case.forest.n_trees, case.weight_train.sum()))


@pytest.mark.parametrize("kind", KINDS)
def test_held_out_gains_are_those_of_the_rows_that_count_costs(kind):
    case = boosted(kind)
    problem = measured(case)
    expected = gains_by_definition(problem.forest, case.X, case.y, case.weight)
    np.testing.assert_allclose(problem.lost_gain, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(problem.gain, problem.lost_gain / case.weight.sum(), rtol=1e-15)


def test_pooled_gains_are_those_of_both_kinds_of_rows_together():
    case = boosted("softmax")
    forest = with_other_answers(case.forest)
    options = {"error": "pooled", "sample_weight": case.weight, **train(case)}
    pooled = PruningProblem(forest, case.X, case.y, **options)
    X, y, weight = (
        np.concatenate(pair)
        for pair in (
            (case.X_train, case.X),
            (case.y_train, case.y),
            (case.weight_train, case.weight),
        )
    )
    together = PruningProblem(forest, X, y, error="held-out", sample_weight=weight)
    np.testing.assert_allclose(pooled.gain, together.gain, rtol=1e-9, atol=1e-13)
    np.testing.assert_array_equal(pooled.counted, together.counted)


@pytest.mark.parametrize("wish", [{0: 3.0, 1: 0.5}, {1: 2.0}, "balanced"])
def test_class_weights_of_the_model_count(wish):
    case = boosted("logistic")
    # Boosters of scikit-learn have `estimators_` too, but their trees have no classes.
    trees = np.array([[SimpleNamespace(class_weight={0: 100.0})]])
    forest = replace(case.forest, origin=SimpleNamespace(class_weight=wish, estimators_=trees))
    by_class = compute_sample_weight(wish, case.y)
    problem = PruningProblem(forest, case.X, case.y, error="held-out")
    by_hand = PruningProblem(case.forest, case.X, case.y, error="held-out", sample_weight=by_class)
    np.testing.assert_allclose(problem.gain, by_hand.gain, rtol=1e-12)
    np.testing.assert_array_equal(problem.row_weight, np.full(len(case.X), 1 / len(case.X)))
    plain = PruningProblem(
        replace(forest, origin=SimpleNamespace(estimators_=trees)), case.X, case.y, error="held-out"
    )
    assert plain.counted[0] == len(case.X)


# --- What a pruning is worth --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_error_is_what_the_splits_that_go_have_gained(kind, prune_randomly, seed):
    problem = measured(boosted(kind))
    keep = prune_randomly(problem.forest, seed)
    gone = problem.unpruned & ~keep
    assert problem.error_of(problem.unpruned) == 0
    assert problem.error_of(keep) == pytest.approx(problem.gain[gone].sum(), abs=1e-12)
    assert not problem.error[~problem.unpruned].any()
    assert not problem.gain[~problem.unpruned].any()


def test_scale_is_the_error_at_the_roots_unless_splits_do_harm():
    case = boosted("squared")
    recorded = PruningProblem(case.forest, case.X)
    assert recorded.scale == pytest.approx(recorded.error_of(np.zeros_like(recorded.unpruned)))
    harmful = PruningProblem(replace(case.forest, split_gain=-case.forest.split_gain), case.X)
    assert harmful.error_of(np.zeros_like(harmful.unpruned)) < 0
    assert harmful.scale == recorded.scale


@pytest.mark.parametrize("kind", KINDS)
def test_the_path_is_nested_and_proven(kind):
    for problem in (measured(boosted(kind)), PruningProblem(boosted(kind).forest, boosted(kind).X)):
        path = problem.path(certify=True)
        assert path.gap.max() <= 1e-9
        assert np.all(np.diff(path.error) > 0)
        assert path.unpruned.error == 0
        lam = path.lam[-1] / 2
        one = problem.solve(lam)
        assert problem.certify(one).gap <= 1e-9
        np.testing.assert_array_equal(one.keep, path.at(lam=lam).keep)
    assert (measured(boosted(kind)).gain < 0).any()


def test_an_ensemble_that_only_does_harm_is_pruned_at_once():
    case = boosted("squared")
    forest = replace(case.forest, split_gain=-case.forest.split_gain)
    problem = PruningProblem(forest, case.X)
    path = problem.path(certify=True)
    assert path.n_splits.tolist() == [0]
    assert path.gap == pytest.approx(0.0, abs=1e-12)
    for solver in ("parametric", "primal-dual", "lp"):
        one = problem.solve(0.01, solver=solver)
        assert one.n_splits == 0
        assert problem.certify(one).gap == pytest.approx(0.0, abs=1e-12)


def test_pruned_ensembles_are_boosted_too():
    case = boosted("softmax")
    pruned = PruningProblem(case.forest, case.X).path().at(lam=0.0).forest
    again = PruningProblem(pruned, case.X, case.y, error="held-out")
    assert again.forest.is_boosted
    assert again.error_of(again.unpruned) == 0


# --- What is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            lambda case: {"error": "out-of-bag"},
            r"a boosted tree sees all training rows.*'held-out'.*'pooled'",
        ),
        (lambda case: {"error": "oob"}, "error='oob' is unknown"),
        (lambda case: {}, r"records no usable gains.*pass X_train and y_train.*error='held-out' with y_cost"),
        (lambda case: {"X_train": case.X_train}, "pass X_train and y_train"),
        (lambda case: {"error": "held-out"}, "held-out errors need .* pass y_cost"),
        (lambda case: {"error": "pooled", "y_cost": case.y}, "pass X_train and y_train"),
        (
            lambda case: {"loss": "brier"},
            r"loss='brier' is for averaged trees.*\(logistic\)\. Leave loss out",
        ),
        (lambda case: {"error": "held-out", "y_cost": case.y + 1}, "labels that the forest does not know: 2"),
        (
            lambda case: {"X_train": case.X_train, "y_train": case.y_train[1:]},
            "y_train must have one entry for each of the 45 rows",
        ),
    ],
)
def test_faults_are_named(options, message):
    case = boosted("logistic")
    forest = replace(case.forest, split_gain=None)
    with pytest.raises(InvalidInputError, match=message):
        PruningProblem(forest, case.X, **options(case))


@pytest.mark.parametrize("error", ["in-bag", "held-out", "pooled"])
def test_a_loss_that_is_not_known(error):
    case = boosted("squared")
    options = {"y_cost": case.y, "error": error, **train(case)}
    unknown = replace(case.forest, loss=None)
    if error == "in-bag":  # recorded gains need no loss
        assert PruningProblem(unknown, case.X, **options).gain.any()
    else:
        with pytest.raises(InvalidInputError, match="loss is not supported; use error='in-bag'"):
            PruningProblem(unknown, case.X, **options)
    with pytest.raises(InvalidInputError, match=r"supported; nor did it record gains\. Train it on"):
        PruningProblem(replace(unknown, split_gain=None), case.X, **options)


@pytest.mark.parametrize(
    ("kind", "bad", "message"),
    [
        ("poisson", -1.0, r"y_cost is -1\.0 in row 3, but targets of a poisson loss are at least 0"),
        ("gamma", 0.0, r"y_cost is 0\.0 in row 3, but targets of a gamma loss are positive"),
    ],
)
def test_targets_that_the_loss_is_not_made_for(kind, bad, message):
    case = boosted(kind)
    y = np.where(np.arange(len(case.y)) == 3, bad, case.y)
    with pytest.raises(InvalidInputError, match=message):
        PruningProblem(case.forest, case.X, y, error="held-out")


def test_rows_that_all_weigh_nothing():
    case = boosted("logistic")
    forest = replace(case.forest, origin=SimpleNamespace(class_weight={1: 0.0}))
    ones = case.y == 1
    with pytest.raises(InvalidInputError, match="all rows of y_cost have weight 0 once classes are weighted"):
        PruningProblem(forest, case.X[ones], case.y[ones], error="held-out")


def test_what_cannot_be_added_up():
    case = boosted("squared")
    with pytest.raises(InvalidInputError, match="too large to add up"):
        PruningProblem(replace(case.forest, split_gain=np.full(case.forest.n_nodes, 1e308)), case.X)
    huge = replace(boosted("poisson").forest, base=[800.0])
    with pytest.raises(InvalidInputError, match="too large to add up"):
        PruningProblem(huge, case.X, boosted("poisson").y, error="held-out")
