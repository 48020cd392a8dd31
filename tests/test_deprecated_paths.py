"""Import paths of version 0.1 that still work, with a warning."""

from __future__ import annotations

import importlib
import sys

import pytest

from budgetprune import plotting, solvers
from budgetprune.plotting import plots
from budgetprune.problem import SOLVERS

RENAMED = {"budgetprune.plots": {"Curve": "NamedCurve"}}


@pytest.mark.parametrize(("old", "new"), [("budgetprune.displays", plotting), ("budgetprune.plots", plots)])
def test_old_import_paths_give_the_same_objects_and_warn(old, new, monkeypatch):
    monkeypatch.delitem(sys.modules, old, raising=False)
    with pytest.warns(DeprecationWarning, match=r"import from budgetprune\.plotting"):
        module = importlib.import_module(old)
    renamed = RENAMED.get(old, {})
    assert set(renamed) <= set(module.__all__)
    assert all(getattr(module, name) is getattr(new, renamed.get(name, name)) for name in module.__all__)


def test_the_registry_of_solvers_has_moved():
    with pytest.warns(DeprecationWarning, match=r"use SOLVERS of budgetprune\.problem"):
        assert solvers.SOLVERS is SOLVERS
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        _ = solvers.no_such_name
