"""No test reads the developer's own data, or reaches the network."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from budgetprune.datasets import covertype as _covertype
from budgetprune.datasets import loader as _loader
from budgetprune.datasets import medical as _medical
from budgetprune.datasets import miniboone as _miniboone


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    """An empty data home; whatever would fetch something fails the test."""
    monkeypatch.delenv("BUDGETPRUNE_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))

    def refuse(*arguments, **keywords):
        raise AssertionError(f"a test tried to fetch {arguments} {keywords}")

    monkeypatch.setattr(_loader, "urlopen", refuse)
    monkeypatch.setattr(_covertype, "fetch_covtype", refuse)
    monkeypatch.setattr(_miniboone, "fetch_openml", refuse)
    return tmp_path / "home" / "budgetprune"


@pytest.fixture
def shared(monkeypatch, tmp_path):
    """The folder that BUDGETPRUNE_DATA names."""
    folder = tmp_path / "shared"
    folder.mkdir()
    monkeypatch.setenv("BUDGETPRUNE_DATA", str(folder))
    return folder


@pytest.fixture
def any_rows(monkeypatch):
    """Files may hold other rows than those that are known."""
    for module, name in ((_covertype, "_COVERTYPE"), (_medical, "_THYROID"), (_medical, "_HEART")):
        monkeypatch.setattr(module, name, replace(getattr(module, name), digest=None))


def save(file, n_features=3, n_rows=6, seed=0, **more):
    """Write a tiny file in our format, and return its rows."""
    X = np.random.default_rng(seed).normal(size=(n_rows, n_features)).astype(np.float32)
    names = np.array([f"feature {k}" for k in range(n_features)])
    file.parent.mkdir(parents=True, exist_ok=True)
    arrays = {"X": X, "y": np.arange(n_rows) % 2, "feature_names": names} | more
    np.savez(file, **{name: array for name, array in arrays.items() if array is not None})
    return X
