"""Search for the point of a decided cost: what points really cost may differ much from what is expected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from budgetprune.errors import BudgetWarning
from budgetprune.selection.candidates import RefitSpec
from budgetprune.selection.final_model import FinalModel, FinalModelBuilder

FULL = np.linspace(20.0, 0.0, 201)


@dataclass(frozen=True)
class Point:
    """A point of the path of the test: only its full cost."""

    cost: float
    n_splits: int = 0


class Path:
    """A path of 201 points."""

    cost = FULL
    cheapest_useful = FULL.size - 2

    def __len__(self) -> int:
        return FULL.size

    def __getitem__(self, k: int) -> Point:
        return Point(FULL[k])


@dataclass(frozen=True, eq=False)
class Curve:
    """Expected decided costs: 70 % of the full ones."""

    full_cost = FULL
    cost = 0.7 * FULL


@dataclass(frozen=True, eq=False)
class Builder(FinalModelBuilder):
    """Builder whose points cost what the test says."""

    counted: Callable[[float], float]

    def _refitted(self, pruning: Any) -> FinalModel:
        return FinalModel(pruning, None, self.counted(pruning.cost))


def builder_of(kind: Any, counted: Callable[[float], float]) -> Builder:
    path: Any = Path()
    curve: Any = Curve()
    return Builder(path, curve, RefitSpec(kind), None, None, counted)


@pytest.mark.parametrize("kind", [None, "softmax"])
@pytest.mark.parametrize("budget", [3.0, 5.0, 7.5, 8.0])
def test_points_that_cost_nothing_do_not_end_the_search(kind, budget):
    """Points below a full cost of 8 are certain without any value: they cost nothing, and are worth it."""
    builder = builder_of(kind, lambda full: 0.3 * full * (full > 8))
    found = builder._within_decided(budget)
    assert 0.7 * min(budget, 6.0) <= found.cost <= budget


def test_a_good_guess_ends_the_search():
    """Expected costs that are right need one refit."""
    counted = []

    def count(full: float) -> float:
        counted.append(full)
        return 0.7 * full

    assert builder_of("softmax", count)._within_decided(5.0).cost == pytest.approx(4.97)
    assert len(counted) == 1


def test_the_warning_names_the_counted_cost_of_the_cheapest_useful_point():
    builder = builder_of(None, lambda full: 9.0 * (full > 0))
    with pytest.warns(BudgetWarning, match="average cost of 9"):
        assert builder._within_decided(0.05).cost == 0.0


def test_useful_points_cost_more_than_nothing():
    assert builder_of(None, lambda full: 0.5 * full * (full > 8)).useful_cost == pytest.approx(4.05)
    assert builder_of(None, lambda full: 0.5 * full).useful_cost == pytest.approx(0.05)
    assert builder_of(None, lambda full: 0.0).useful_cost == 0.0
