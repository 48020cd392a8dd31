"""Errors for damaged models."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from budgetprune import Forest, InvalidInputError

X = np.random.default_rng(0).normal(size=(60, 4))


def test_errors_while_reading_a_model_mean_that_it_is_damaged():
    model = RandomForestClassifier(2, random_state=0).fit(X, X[:, 0] > 0)
    model.estimators_ = []
    with pytest.raises(InvalidInputError, match=r"this model is damaged: .*do not fit together .IndexError"):
        Forest.from_model(model)
