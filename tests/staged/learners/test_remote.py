"""Training on an engine; the training itself is tested with the cluster of tests/distributed."""

import pickle
import sys
import time

import numpy as np
import pytest
from sklearn.datasets import make_classification

from budgetprune import BudgetClassifier
from budgetprune.errors import InvalidInputError
from budgetprune.staged.training.deadline import Deadline


def fit(**options):
    X, y = make_classification(60, 3, n_informative=2, n_redundant=0, random_state=0)
    return BudgetClassifier(random_state=0, **options).fit(X, y)


def test_unknown_engines_are_refused_before_any_work():
    with pytest.raises(InvalidInputError, match=r"engine must be None .* or 'ray', not 'dask'"):
        fit(engine="dask")


def test_says_how_to_install_ray(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r"pip install 'budgetprune\[ray\]'"):
        fit(engine="ray")


def test_deadlines_keep_the_time_that_is_left_on_other_machines(monkeypatch):
    """Their clocks start at other times."""
    limited, endless = Deadline(100.0), Deadline(None)
    sent = pickle.dumps((limited.is_over, endless))
    clock = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: clock() + 1e6)
    is_over, received = pickle.loads(sent)
    assert not is_over()
    assert 99 < is_over.__self__.left() <= 100
    assert received.left() == np.inf
    assert limited.is_over()  # here, a million seconds have passed
