"""Every refusal says what was wrong, where, and what to do."""

from dataclasses import replace

import numpy as np
import pytest

from budgetprune.errors import InvalidInputError
from budgetprune.problem import PruningProblem

pytestmark = pytest.mark.uncompiled


def weights(case, **entries):
    weight = case.weight.copy()
    for row, entry in entries.items():
        weight[int(row[1:])] = entry
    return weight


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (lambda case: {"X_cost": case.X[:0]}, "X_cost has no rows"),
        (lambda case: {"X_cost": case.X[:, :3]}, "X_cost has 3 feature.s., but the forest expects 4"),
        (lambda case: {"X_cost": np.full_like(case.X, np.inf)}, "X_cost has an infinity.*row 0, feature 0"),
        (lambda case: {"y_cost": None}, "held-out errors need .* pass y_cost"),
        (lambda case: {"y_cost": case.y[:-1]}, r"y_cost must have one entry .* 23 rows, but .* \(22,\)"),
        (lambda case: {"y_cost": case.y[:, np.newaxis]}, r"y_cost .* shape is \(23, 1\)"),
        (
            lambda case: {"y_cost": ["medium", "tiny", *case.y[2:]]},
            "y_cost has labels .* not know: 'medium', 'tiny'; its classes are .'high', 'low', 'mid'",
        ),
        (lambda case: {"y_cost": np.arange(23)}, "not know: 0, 1, 2, 3, 4, ...; its classes"),
        (lambda case: {"y_cost": [None, 3, *case.y[2:]]}, "y_cost mixes labels of different kinds"),
        (lambda case: {"sample_weight": case.weight[1:]}, "sample_weight must have one entry"),
        (lambda case: {"sample_weight": weights(case, r3=np.nan)}, "sample_weight is nan in row 3"),
        (lambda case: {"sample_weight": weights(case, r5=np.inf)}, "sample_weight is inf in row 5"),
        (lambda case: {"sample_weight": weights(case, r4=-1)}, "sample_weight is negative in row 4"),
        (lambda case: {"sample_weight": np.zeros(23)}, "sample_weight is 0 in all rows"),
        (lambda case: {"sample_weight": ["much"] * 23}, "sample_weight must hold numbers"),
        (
            lambda case: {"error": "oob"},
            "error='oob' is unknown; .*'in-bag', 'out-of-bag', 'held-out', 'pooled'",
        ),
        (
            lambda case: {"loss": "gini"},
            "loss='gini' does not fit a classifier; use 'misclassification', 'brier'",
        ),
        (lambda case: {"loss": "squared"}, "loss='squared' does not fit a classifier"),
        (lambda case: {"computation_weight": -1}, "computation_weight must be .* at least 0, not -1"),
        (lambda case: {"computation_weight": None}, "computation_weight must be a finite number"),
        (lambda case: {"costs": [1, 2]}, "costs has 2 entries for 4 features"),
        (lambda case: {"error": "out-of-bag"}, "out-of-bag errors need .* pass X_train and y_train"),
        (lambda case: {"error": "pooled", "X_train": case.X_train}, "pass y_train"),
        (
            lambda case: {"error": "pooled", **case.train, "sample_weight_train": -case.weight_train},
            "sample_weight_train is negative in row",
        ),
        (
            lambda case: {"error": "out-of-bag", "X_train": case.X_train, "y_train": case.y_train[1:]},
            "y_train must have one entry for each of the 40 rows",
        ),
        (
            lambda case: {"error": "out-of-bag", "X_train": case.X, "y_train": case.y},
            "trained on 40 rows, but 23 were given",
        ),
        (
            lambda case: {"error": "out-of-bag", "X_train": case.X_train[:, 1:], "y_train": case.y_train},
            "X_train has 3 feature",
        ),
    ],
)
def test_faults_are_named(get_case, options, message):
    case = get_case("forest")
    arguments = {"X_cost": case.X, "y_cost": case.y, "error": "held-out"} | options(case)
    with pytest.raises(InvalidInputError, match=message):
        PruningProblem(case.forest, **arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (lambda case: {"loss": "brier"}, "loss='brier' does not fit a regressor; use 'squared'"),
        (lambda case: {"y_cost": np.where(case.y > case.y[2], case.y, np.nan)}, "y_cost is nan in row"),
        (lambda case: {"y_cost": ["a lot"] * 23}, "y_cost must hold numbers"),
    ],
)
def test_faults_of_regression(get_case, options, message):
    case = get_case("regression")
    arguments = {"X_cost": case.X, "y_cost": case.y, "error": "held-out"} | options(case)
    with pytest.raises(InvalidInputError, match=message):
        PruningProblem(case.forest, **arguments)


@pytest.mark.parametrize("name", ["forest, constrained", "regression, median", "regression, constrained"])
def test_models_that_do_not_remember_their_rows(get_case, name):
    case = get_case(name)
    with pytest.raises(InvalidInputError, match=r"does not record .* pass X_train and y_train"):
        PruningProblem(case.forest, case.X)


@pytest.mark.parametrize("name", ["tree, weights", "extra trees", "regression extra trees"])
def test_trees_that_saw_every_row(get_case, name):
    case = get_case(name)
    with pytest.raises(InvalidInputError, match=r"tree 0 has no rows of positive.*without bootstrap.*in-bag"):
        PruningProblem(case.forest, case.X, error="out-of-bag", **case.train)
    # Pooled with rows that are fresh to every tree, there is something to count.
    pooled = PruningProblem(case.forest, case.X, case.y, error="pooled", **case.train)
    assert np.array_equal(pooled.lost, PruningProblem(case.forest, case.X, case.y, error="held-out").lost)


def test_the_tree_without_counted_weight_is_named(get_case):
    case = get_case("forest")
    only_unseen_by_others = (case.forest.in_bag_counts(40)[:2] == 0).any(axis=0)
    weight = (only_unseen_by_others & (case.forest.in_bag_counts(40)[2] > 0)).astype(float)
    with pytest.raises(InvalidInputError, match=r"tree 2 has no rows of positive weight.*\(1 such"):
        PruningProblem(case.forest, case.X, error="out-of-bag", **case.train, sample_weight_train=weight)


def test_trees_that_add_up_need_their_rounds(get_case):
    forest = replace(get_case("regression").forest, link="exp")
    with pytest.raises(InvalidInputError, match=r"add up to a score, but .* set tree_round"):
        PruningProblem(forest, np.zeros((1, 4)))


@pytest.mark.parametrize("lam", [-1e-9, np.nan, np.inf, None, "much"])
def test_lambda(get_case, lam):
    case = get_case("forest")
    problem = PruningProblem(case.forest, case.X)
    for use in (problem.objective, problem.pruning):
        with pytest.raises(InvalidInputError, match="lam must be a finite number of at least 0, not"):
            use(problem.unpruned, lam)
    with pytest.raises(InvalidInputError, match="lam must be"):
        problem.bound(np.zeros(problem.n_incidences), lam)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda keep: keep[1:], "keep must be a bool mask of shape"),
        (lambda keep: keep.astype(int), "keep must be a bool mask"),
        (lambda keep: ~keep, "is a leaf"),
        (lambda keep: keep & (np.arange(keep.size) > 0), "keep marks node 2 but not its parent 0"),
    ],
)
def test_masks_that_are_no_prunings(get_case, change, message):
    case = get_case("forest")
    problem = PruningProblem(case.forest, case.X)
    keep = change(problem.unpruned)
    for use in (
        problem.check_keep,
        problem.error_of,
        problem.cost_of,
        problem.acquired,
        problem.computation_of,
        lambda keep: problem.objective(keep, 1.0),
        lambda keep: problem.pruning(keep, 1.0),
    ):
        with pytest.raises(InvalidInputError, match=message):
            use(keep)
