"""A loss that is registered from outside the package."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor

from budgetprune import Forest, InvalidInputError, PruningProblem
from budgetprune.losses import Derivatives, Loss, register_loss, unregister_loss
from budgetprune.refit import refit


# --8<-- [start:example]
class LogCosh(Loss):
    """Logarithm of the hyperbolic cosine of the residual: squared near 0, absolute far away."""

    name, link = "log-cosh", "identity"

    def value(self, scores, target):
        residual = scores[:, 0] - target
        return np.logaddexp(residual, -residual) - np.log(2.0)

    def derivatives(self, scores, target):
        slope = np.tanh(scores - target[:, np.newaxis])
        return Derivatives(slope, 1.0 - slope**2)


# --8<-- [end:example]


@pytest.fixture
def registered():
    register_loss(LogCosh())
    yield
    unregister_loss("log-cosh")


@pytest.fixture(scope="module")
def data():
    X, y = load_diabetes(return_X_y=True)
    return X, (y - y.mean()) / y.std()


@pytest.fixture(scope="module")
def squared(data):
    return Forest.from_model(
        GradientBoostingRegressor(n_estimators=5, max_depth=2, random_state=0).fit(*data)
    )


@pytest.fixture
def forest(squared, registered):
    return replace(squared, loss="log-cosh", split_gain=None)


def test_a_problem_measures_gains_by_it(forest, squared, data):
    X, y = data
    ours, theirs = (
        PruningProblem(each, X, y, error="held-out") for each in (forest, replace(squared, split_gain=None))
    )
    path = ours.path(certify=True)
    assert path.gap.max() <= 1e-9
    assert not np.allclose(ours.error, theirs.error)


def test_leaves_are_refitted_for_it(forest, data):
    X, y = data
    loss = LogCosh()
    before, after = forest, refit(forest, X, y, kind="own", ridge=1e-3).forest
    assert loss.value(after.scores(X), y).mean() < loss.value(before.scores(X), y).mean()


def test_a_forest_with_a_loss_that_is_not_registered_is_refused(squared):
    with pytest.raises(InvalidInputError, match="loss must be None or one of squared, logistic"):
        replace(squared, loss="log-cosh")
