"""A loss of nodes that is registered from outside the package."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

from budgetprune import BudgetPruneClassifier, Forest, InvalidInputError, PruningProblem
from budgetprune.problem import NodeLoss, register_node_loss, unregister_node_loss


# --8<-- [start:example]
class Entropy(NodeLoss):
    """Log loss of the rows if a leaf predicts its own shares of the classes."""

    name, for_classifiers = "entropy", True

    def lost(self, value, statistics):
        weight = statistics.sum(axis=1, keepdims=True)
        share = np.divide(statistics, weight, out=np.ones_like(statistics), where=weight > 0)
        return -np.sum(statistics * np.log(np.maximum(share, 1e-12)), axis=1)


# --8<-- [end:example]


@pytest.fixture
def registered():
    register_node_loss(Entropy())
    yield
    unregister_node_loss("entropy")


@pytest.fixture(scope="module")
def rows():
    return load_iris(return_X_y=True)


@pytest.mark.usefixtures("registered")
def test_a_problem_measures_errors_by_it(rows):
    forest = Forest.from_model(RandomForestClassifier(5, random_state=0).fit(*rows))
    problem = PruningProblem(forest, rows[0], loss="entropy")
    n_rows = len(rows[1])
    assert np.all(problem.lost >= 0)
    assert problem.lost[0] <= n_rows * np.log(3) + 1e-9  # three classes, at the root
    assert problem.path(certify=True).gap.max() <= 1e-9


@pytest.mark.usefixtures("registered")
def test_an_estimator_uses_it(rows):
    forest = RandomForestClassifier(5, random_state=0)
    model = BudgetPruneClassifier(forest, loss="entropy", budget=2.0, random_state=0).fit(*rows)
    assert model.choices_.loss == "entropy"
    assert model.score(*rows) > 0.9


def test_without_registration_it_is_unknown(rows):
    model = BudgetPruneClassifier(RandomForestClassifier(5), loss="entropy")
    with pytest.raises(InvalidInputError, match="loss='entropy' is unknown"):
        model.fit(*rows)
