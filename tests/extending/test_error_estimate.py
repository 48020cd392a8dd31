"""An error estimate that is registered from outside the package."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

from budgetprune import BudgetPruneClassifier, Forest, InvalidInputError, PruningProblem
from budgetprune.problem import ErrorEstimate, register_error_estimate, unregister_error_estimate


# --8<-- [start:example]
class Pessimistic(ErrorEstimate):
    """In-bag errors with half an error added to each node, as in Quinlan's pessimistic pruning."""

    name = "pessimistic"

    def statistics(self, forest, data):
        n_classes = forest.classes.size
        return [forest.class_weight + 0.5 / (n_classes - 1)]


# --8<-- [end:example]


@pytest.fixture
def registered():
    register_error_estimate(Pessimistic())
    yield
    unregister_error_estimate("pessimistic")


@pytest.fixture(scope="module")
def rows():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def forest(rows):
    return Forest.from_model(RandomForestClassifier(5, random_state=0).fit(*rows))


@pytest.mark.usefixtures("registered")
def test_a_problem_measures_errors_by_it(forest, rows):
    ours = PruningProblem(forest, rows[0], error="pessimistic")
    in_bag = PruningProblem(forest, rows[0], error="in-bag")
    np.testing.assert_allclose(ours.lost, in_bag.lost + 0.5)
    path = ours.path(certify=True)
    assert path.gap.max() <= 1e-9
    # A split that saves less than half an error is never worth its cost.
    assert path[0].n_splits < in_bag.path()[0].n_splits


@pytest.mark.usefixtures("registered")
def test_an_estimator_uses_it(rows):
    model = BudgetPruneClassifier(
        RandomForestClassifier(5, random_state=0), error="pessimistic", budget=2.0, random_state=0
    ).fit(*rows)
    assert model.choices_.error == "pessimistic"
    assert model.cost_ <= 2.0 + 1e-9
    assert model.score(*rows) > 0.9


@pytest.mark.usefixtures("registered")
def test_boosted_ensembles_are_refused(rows):
    boosted = Forest.from_model(GradientBoostingClassifier(n_estimators=2, random_state=0).fit(*rows))
    with pytest.raises(InvalidInputError, match="error='pessimistic' is for averaged trees"):
        PruningProblem(boosted, rows[0], error="pessimistic")


def test_names_are_unique_and_unknown_ones_are_refused(forest, rows, registered):
    with pytest.raises(InvalidInputError, match="registered already"):
        register_error_estimate(Pessimistic())
    with pytest.raises(InvalidInputError, match="'held-out', 'pooled', 'pessimistic'"):
        PruningProblem(forest, rows[0], error="optimistic")


def test_without_registration_it_is_unknown(forest, rows):
    with pytest.raises(InvalidInputError, match="error='pessimistic' is unknown"):
        PruningProblem(forest, rows[0], error="pessimistic")
    with pytest.raises(InvalidInputError, match="error='pessimistic' is unknown"):
        BudgetPruneClassifier(error="pessimistic").fit(*rows)
