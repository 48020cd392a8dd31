"""Derivatives of each loss, against differences of the loss itself."""

import numpy as np
import pytest

from budgetprune.losses import find_loss

from .boosters import LOSSES, draw_targets

pytestmark = pytest.mark.uncompiled


@pytest.mark.parametrize("loss", LOSSES)
def test_derivatives_are_limits_of_differences(loss):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(20, 3 if loss == "softmax" else 1))
    target = draw_targets(rng, loss, rng.normal(size=20))
    gradient, curvature = find_loss(loss).derivatives(scores, target)
    for k in range(scores.shape[1]):
        step = 1e-4 * (np.arange(scores.shape[1]) == k)
        lower, here, upper = (find_loss(loss).value(scores + s, target) for s in (-step, 0 * step, step))
        assert gradient[:, k] == pytest.approx((upper - lower) / 2e-4, abs=1e-6)
        assert curvature[:, k] == pytest.approx((upper - 2 * here + lower) / 1e-8, abs=1e-5)


@pytest.mark.parametrize("loss", ["logistic", "softmax"])
def test_scores_may_be_huge(loss):
    scores = np.array([[800.0], [-800.0]]) * ([1.0] if loss == "logistic" else [1.0, -1.0])
    for part in (
        *find_loss(loss).derivatives(scores, np.array([1, 1])),
        find_loss(loss).value(scores, np.array([1, 1])),
    ):
        assert np.isfinite(part).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_second_derivatives_are_limits_of_differences(loss):
    """Outputs of a softmax are coupled."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(20, 3 if loss == "softmax" else 1))
    target = draw_targets(rng, loss, rng.normal(size=20))
    weight, direction = rng.random(20), rng.normal(size=scores.shape)
    multiply = find_loss(loss).second_derivatives(find_loss(loss).derivatives(scores, target), target, weight)
    product = direction.copy()
    multiply(product)
    lower, upper = (
        find_loss(loss).derivatives(scores + step * direction, target).gradient for step in (-1e-5, 1e-5)
    )
    assert product == pytest.approx(weight[:, np.newaxis] * (upper - lower) / 2e-5, abs=1e-7)
