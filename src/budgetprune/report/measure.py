"""What models pay and answer on test rows, before any of it is put into words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable
from budgetprune.forest import Forest
from budgetprune.predictor import BudgetPredictor
from budgetprune.predictor.predictor import SETTINGS
from budgetprune.problem.acquisition import sources_used
from budgetprune.report.judge import Judge
from budgetprune.report.summary import Counting
from budgetprune.report.usage import usage_shares

Kind = Literal["path", "delivered", "unpruned"]


@dataclass(frozen=True, eq=False)
class Taken:
    """What rows get from one model, and what they pay, counted one way.

    Attributes
    ----------
    answer : array of shape (n_rows,)
    quality, cost : float64 arrays of shape (n_rows,)
    share : float64 array of shape (n_sources,)
        Share of the rows that buy each source.
    undecided : float
        Share of the rows that ran out of money.
    """

    answer: NDArray[Any]
    quality: NDArray[np.float64]
    cost: NDArray[np.float64]
    share: NDArray[np.float64]
    undecided: float

    @property
    def mean_cost(self) -> float:
        return float(self.cost.mean())


@dataclass(frozen=True, eq=False)
class Measured:
    """One model on test rows, with both ways to count."""

    kind: Kind
    lam: float
    n_splits: int
    n_features: int
    judge: Judge
    full: Taken
    decided: Taken
    usage: NDArray[np.float64]

    def taken(self, counting: Counting) -> Taken:
        """What is known about one way to count."""
        return self.full if counting == "full" else self.decided


def like(predictor: BudgetPredictor, forest: Forest) -> BudgetPredictor:
    """A predictor for another forest that stops by the same rule."""
    return BudgetPredictor(forest, predictor.costs, **{name: getattr(predictor, name) for name in SETTINGS})


def measure(
    kind: Kind,
    lam: float,
    predictor: BudgetPredictor,
    judge: Judge,
    is_counted: NDArray[np.bool_],
    acquired: NDArray[np.bool_] | None = None,
) -> Measured:
    """Let one model predict all rows of a judge, with all features and step by step.

    Parameters
    ----------
    kind, lam : see `Point`
    predictor : BudgetPredictor
    judge : Judge
    is_counted : bool array of shape (n_features,)
        Features whose uses are counted.
    acquired : bool array of shape (n_rows, n_sources), optional
        What each row acquires in full, if that is known already.
    """
    forest, costs = predictor.forest, predictor.costs
    if acquired is None:
        acquired = sources_used(forest, costs, judge.rows)
    simulation = predictor.simulate(judge.rows)
    return Measured(
        kind=kind,
        lam=lam,
        n_splits=forest.n_splits,
        n_features=int(np.unique(forest.feature[forest.is_split]).size),
        judge=judge,
        full=_taken(judge, predictor.predict(judge.rows), acquired, costs, 0.0),
        decided=_taken(
            judge, simulation.label, simulation.acquired, costs, float(1 - simulation.decided.mean())
        ),
        usage=usage_shares(forest, judge.rows, is_counted),
    )


def _taken(
    judge: Judge, answer: NDArray[Any], acquired: NDArray[np.bool_], costs: CostTable, undecided: float
) -> Taken:
    return Taken(answer, judge.quality(answer), costs.total(acquired), acquired.mean(axis=0), undecided)
