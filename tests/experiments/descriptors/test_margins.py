"""Margins that leak nothing."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from budgetprune.errors import InvalidInputError
from budgetprune_experiments.descriptors.margins import N_FOLDS, cross_fitted_margins


class Memory(ClassifierMixin, BaseEstimator):
    """Knows the rows that it has seen, and nothing else."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.seen_ = dict(zip(X[:, 0].tolist(), y.tolist(), strict=True))
        return self

    def decision_function(self, X):
        return np.array([self.classes_ == self.seen_.get(x) for x in X[:, 0].tolist()], dtype=float)

    def predict(self, X):
        return self.classes_[self.decision_function(X).argmax(axis=1)]


def test_no_model_has_seen_the_training_rows_that_it_judges():
    X, y = np.arange(60.0)[:, None], np.arange(60) % 3
    new = np.arange(100.0, 110.0)[:, None]
    margins = cross_fitted_margins(X, y, [new, X[:7]], seed=0, model=Memory())
    assert margins.train.shape == (60, 3)
    assert not margins.train.any()
    assert not margins.others[0].any()
    # Other rows' margins are from a model that has seen all training rows.
    np.testing.assert_array_equal(margins.others[1].argmax(axis=1), y[:7])
    assert margins.others[1].any(axis=1).all()


def test_margins_of_noise_are_noise():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(120, 200)), np.arange(120) % 4
    margins = cross_fitted_margins(X, y, [X], seed=0)
    assert np.mean(margins.train.argmax(axis=1) == y) < 0.4
    assert np.mean(margins.others[0].argmax(axis=1) == y) == 1.0  # what the rows themselves would have said


def test_margins_of_what_can_be_learned():
    random = np.random.default_rng(0)
    y = np.arange(240) % 3
    X = random.normal(size=(240, 5)) + 4 * np.eye(3, 5)[y]
    margins = cross_fitted_margins(X[:150], y[:150], [X[150:]], seed=0)
    assert np.mean(margins.train.argmax(axis=1) == y[:150]) > 0.9
    assert np.mean(margins.others[0].argmax(axis=1) == y[150:]) > 0.9


def test_classes_that_are_too_rare():
    y = np.repeat([0, 1, 2], [20, 20, N_FOLDS - 1])
    with pytest.raises(InvalidInputError, match=r"three classes or more.*the rarest has 4 rows"):
        cross_fitted_margins(np.zeros((y.size, 2)), y, [], seed=0)
    with pytest.raises(InvalidInputError, match="here are 2 classes"):
        cross_fitted_margins(np.zeros((40, 2)), np.arange(40) % 2, [], seed=0)
