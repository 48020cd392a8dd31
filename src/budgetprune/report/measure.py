"""Cost and predictions of models on test rows."""

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
    """Answers and costs of one model, with one way to count costs.

    Attributes
    ----------
    answer : array of shape (n_rows,)
    quality, cost : float64 arrays of shape (n_rows,)
    share : float64 array of shape (n_sources,)
        Share of the rows that acquire each source.
    undecided : float
        Share of the rows undecided at `max_cost`.
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
    """Results of one model on test rows, with both ways to count costs."""

    kind: Kind
    lam: float
    n_splits: int
    n_features: int
    judge: Judge
    full: Taken
    decided: Taken
    usage: NDArray[np.float64]

    def taken(self, counting: Counting) -> Taken:
        """Return the results for one way to count costs."""
        return self.full if counting == "full" else self.decided


def like(predictor: BudgetPredictor, forest: Forest) -> BudgetPredictor:
    """Return a predictor for another forest with the same settings."""
    return BudgetPredictor(forest, predictor.costs, **{name: getattr(predictor, name) for name in SETTINGS})


def measure(
    kind: Kind,
    lam: float,
    predictor: BudgetPredictor,
    judge: Judge,
    is_counted: NDArray[np.bool_],
    acquired: NDArray[np.bool_] | None = None,
) -> Measured:
    """Evaluate one model on all rows, with all features and step by step.

    Parameters
    ----------
    kind, lam : see `Point`
    predictor : BudgetPredictor
    judge : Judge
    is_counted : bool array of shape (n_features,)
        Features whose use is counted.
    acquired : bool array of shape (n_rows, n_sources), optional
        Sources that each row acquires in full, if already known.
    """
    forest, costs = predictor.forest, predictor.costs
    if acquired is None:
        acquired = sources_used(forest, costs, judge.rows)
    simulation = predictor.simulate(judge.rows)
    return Measured(
        kind=kind,
        lam=lam,
        n_splits=forest.n_splits,
        n_features=forest.used_features.size,
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
