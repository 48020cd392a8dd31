"""Calibration by one number, and the loss of calibrated scores round by round."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax, softmax

from budgetprune.staged.data.columns import FeatureSchema
from budgetprune.staged.data.sample import LearningSample
from budgetprune.staged.learners.calibration import RunningLoss, best_scale, calibrated_loss
from budgetprune.staged.learners.losses import mean_loss

from .test_forest import sample_of


def scored(n_classes: int, weight: np.ndarray | None = None) -> tuple[LearningSample, np.ndarray]:
    """Rows whose classes are drawn with the probabilities of three times their scores."""
    rng = np.random.default_rng(n_classes)
    scores = rng.normal(size=(4_000, n_classes))
    shares = softmax(3 * scores, axis=1)
    target = (shares.cumsum(axis=1) < rng.random((4_000, 1))).sum(axis=1)
    columns = FeatureSchema(1, None, None)
    sample = LearningSample(np.zeros((4_000, 1)), target, weight, columns, "multiclass", n_classes)
    return sample, scores


@pytest.mark.parametrize("n_classes", [2, 5])
def test_the_scale_is_found(n_classes):
    sample, scores = scored(n_classes)
    assert best_scale(sample, 1.5 * scores) == pytest.approx(2.0, rel=0.1)
    assert calibrated_loss(sample, 1.5 * scores) == pytest.approx(calibrated_loss(sample, 2 * scores))
    assert calibrated_loss(sample, 1.5 * scores) < mean_loss(sample, 1.5 * scores)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("factor", [0.9, 1.5, 5.0])
def test_rounds_lead_to_the_calibrated_loss(factor, is_weighted):
    weight = np.random.default_rng(0).exponential(size=4_000) if is_weighted else None
    sample, scores = scored(3, weight)
    log_shares = log_softmax(factor * scores, axis=1)
    loss = RunningLoss(sample)
    found = [loss(log_shares) for _ in range(8)]
    assert found[-1] == pytest.approx(calibrated_loss(sample, log_shares), rel=1e-4)


def test_equal_shares_are_no_trouble():
    sample, _ = scored(3)
    assert RunningLoss(sample)(np.full((4_000, 3), np.log(1 / 3))) == pytest.approx(np.log(3))


def test_calibration_finds_the_scale():
    rng = np.random.default_rng(0)
    score = rng.normal(size=(4000, 1)) * 2
    y = (rng.random(4000) < 1 / (1 + np.exp(-score[:, 0]))).astype(int)
    sample = sample_of(score, y, "binary", 1)
    assert best_scale(sample, 2 * score) == pytest.approx(0.5, rel=0.15)
    assert best_scale(sample_of(score, y, "regression", 1), 2 * score) == 1
