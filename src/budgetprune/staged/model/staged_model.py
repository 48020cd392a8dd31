"""`StagedModel`: chains of stages, stopping rules for every budget, and the selected one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable
from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest, explained_variances
from budgetprune.predictor import Residuals, check_number
from budgetprune.staged.model.chain import Chain, Stage
from budgetprune.staged.model.join import join_forests
from budgetprune.staged.model.objective import (
    ErrorCostObjective,
    Objective,
    SquaredErrorObjective,
    ThresholdObjective,
)
from budgetprune.staged.model.tradeoff import StagedTradeOff
from budgetprune.utils.html_tables import html_table
from budgetprune.utils.numbers import between_zero_and_one


@dataclass(frozen=True)
class StageShares:
    """Sources of a stage, and cross-fitted shares of the rows that reach it and stop there.

    Attributes
    ----------
    sources : tuple of str
        Names of the sources that the stage acquires.
    price : float
        Price of these sources.
    cost : float
        Price of all sources up to this stage.
    reached, stops : float
        Shares of the rows that reach the stage, and that stop there.
    score : float
        Score if all rows stopped here; NaN if the model file lacks it.
    """

    sources: tuple[str, ...]
    price: float
    cost: float
    reached: float
    stops: float
    score: float


class Stages(tuple[StageShares, ...]):
    """Tuple of stages, shown as a table in notebooks."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Table for notebooks."""
        columns: dict[str, list[Any]] = {
            "stage": list(range(1, len(self) + 1)),
            "sources": [", ".join(stage.sources) or "none" for stage in self],
            "price": [stage.price for stage in self],
            "total cost": [stage.cost for stage in self],
            "rows that reach it": [f"{stage.reached:.1%}" for stage in self],
            "rows that stop": [f"{stage.stops:.1%}" for stage in self],
            "score": [stage.score for stage in self],
        }
        return html_table(f"{len(self)} stages", columns)


@dataclass(frozen=True, eq=False)
class StagedModel:
    """Chains of stages with a stopping rule for every budget.

    Attributes
    ----------
    chains : tuple of Chain
    trade_off : StagedTradeOff
        Each point refers to a chain and has thresholds for its stages.
    best : int
        Point without a budget: with error costs, the one with the lowest total of cost and loss; else the
        last one, which has the best score.
    point : int
        The selected point.
    objective : Objective
        Defines the uncertainty.
    costs : CostTable
    classes : array, or None for regression
    answer : ErrorCostObjective, or None for regression
        Chooses classes, given probabilities.
    residuals : Residuals or None
        Regression only: out-of-fold residuals at each point of the curve.
    """

    chains: tuple[Chain, ...]
    trade_off: StagedTradeOff
    best: int
    point: int
    objective: Objective
    costs: CostTable
    classes: NDArray[Any] | None
    answer: ErrorCostObjective | None
    residuals: Residuals | None = None

    @property
    def chain(self) -> Chain:
        """Chain of the selected point."""
        return self.chains[int(self.trade_off.chain[self.point])]

    @property
    def has_error_costs(self) -> bool:
        """Whether errors have a cost other than 1."""
        if isinstance(self.objective, SquaredErrorObjective):
            return self.objective.price != 1
        assert self.answer is not None
        return self.threshold is None and not np.array_equal(
            self.answer.cost, 1 - np.eye(len(self.answer.cost))
        )

    @property
    def threshold(self) -> float | None:
        """Smallest probability at which the second of two classes is predicted; None without a threshold."""
        return self.answer.threshold if isinstance(self.answer, ThresholdObjective) else None

    def with_threshold(self, threshold: float) -> StagedModel:
        """Return the same model with a threshold for its labels; the stages where rows stop stay the same."""
        check_threshold(threshold, None if self.classes is None else self.classes.size)
        if self.has_error_costs:
            raise InvalidInputError(
                "this model was trained with costs of errors, which choose the class; a threshold is for "
                "models without."
            )
        return replace(self, answer=ThresholdObjective(float(threshold)))

    @property
    def thresholds(self) -> NDArray[np.float64]:
        """Thresholds of the selected point, by stage."""
        return self.trade_off.thresholds[self.point]

    @property
    def paid(self) -> NDArray[np.float64]:
        """Total price of the sources up to each stage of the selected chain."""
        price = self.costs.price
        return np.cumsum([price[list(stage.sources)].sum() for stage in self.chain.stages])

    def at(self, point: int) -> StagedModel:
        """Return the same model at another point."""
        return replace(self, point=point)

    def cost(self, point: int) -> float:
        """Average cost at a point of the curve."""
        return float(self.trade_off.cost[point])

    def buys_everything(self, point: int) -> bool:
        """Whether all rows go to the last stage of the first chain, which acquires all sources."""
        curve = self.trade_off
        return bool(curve.chain[point] == 0 and np.all(np.isneginf(curve.thresholds[point][:-1])))

    def within(self, budget: float | None) -> StagedModel:
        """Return the same model at another budget: average cost of a prediction; None: no limit."""
        point = self.best
        if budget is not None:
            if not np.isfinite(check_number("budget", budget)):
                raise InvalidInputError(f"budget must be finite, or None for no limit; not {budget!r}.")
            most = self.trade_off.within(budget)
            if most is None:
                raise InvalidInputError(
                    f"budget={budget:g} is below the cost of the cheapest model "
                    f"({self.trade_off.cost[0]:.4g})."
                )
            point = min(point, most)
        return self.at(point)

    def only(self, points: NDArray[np.intp]) -> StagedModel:
        """Return the same model with some points of its curve, which include the selected one."""
        curve = self.trade_off.take(points)
        best = curve.cheapest_in_all() if self.has_error_costs else len(points) - 1
        residuals = None if self.residuals is None else self.residuals.take(points)
        point = int(np.searchsorted(points, self.point))
        return replace(self, trade_off=curve, best=best, point=point, residuals=residuals)

    @property
    def n_reachable(self) -> int:
        """Number of stages that rows can reach.

        No row goes on from a stage with an infinite threshold, unless the next stage costs nothing.
        """
        costs_more = np.append(np.diff(self.paid) > 0, True)
        ends = np.flatnonzero(np.isposinf(self.thresholds) & costs_more)
        return int(ends[0]) + 1 if ends.size else len(self.chain)

    def stages(self) -> Stages:
        """Describe the stages that rows can reach, with the shares of rows at the selected point.

        Thresholds differ between folds. Rows that went further in cross-fitting count at the last stage.
        """
        n_stages = self.n_reachable
        stops = self.trade_off.stops[self.point].copy()
        stops[n_stages - 1] = stops[n_stages - 1 :].sum()
        stops = stops[:n_stages]
        reached = np.cumsum(stops[::-1])[::-1]
        names, price, paid, score = self.costs.source_names, self.costs.price, self.paid, self._stage_score()
        return Stages(
            StageShares(
                tuple(names[s] for s in stage.sources),
                float(price[list(stage.sources)].sum()),
                float(paid[k]),
                float(reached[k]),
                float(stops[k]),
                float(score[k]),
            )
            for k, stage in enumerate(self.chain.stages[:n_stages])
        )

    def _stage_score(self) -> NDArray[np.float64]:
        """Score if all rows stop at a stage of the selected chain, by stage; NaN if unknown."""
        known, number = self.trade_off.stage_score, int(self.trade_off.chain[self.point])
        return known[number] if known else np.full(len(self.chain), np.nan)

    def explained_variances(self) -> NDArray[np.float64]:
        """Variance of the scores that each feature explains, at the stages where rows stop.

        Each stage counts for the share of rows that stop there at the selected point, and the trees of
        earlier stages with their weight in its scores.
        """
        chain, stops = self.chain, self.trade_off.stops[self.point]
        found, so_far = np.zeros(self.costs.n_features), np.zeros(self.costs.n_features)
        for stage, share in zip(chain.stages, stops.tolist(), strict=True):
            so_far = chain.decay**2 * so_far + explained_variances(stage.forest)
            found += share * stage.scale**2 * so_far
        return found

    def answers(self, outputs: NDArray[np.float64]) -> NDArray[Any]:
        """Convert outputs to labels or targets."""
        if self.classes is None or self.answer is None:
            return outputs[:, 0]
        found: NDArray[Any] = self.classes[self.answer.answers(outputs)]
        return found

    def trees(self, n_stages: int | None = None) -> Forest:
        """Join the trees of the first stages, or of all: for tested features, not for predictions."""
        return _join_stages(self.chain.stages[:n_stages])

    def all_trees(self) -> Forest:
        """Join the trees of all chains; see `trees`."""
        return _join_stages([stage for chain in self.chains for stage in chain.stages])


def check_threshold(threshold: Any, n_classes: int | None) -> None:
    """Raise unless a threshold is a probability, and there are two classes."""
    if n_classes != 2:
        found = "the target holds numbers" if n_classes is None else f"there are {n_classes}"
        raise InvalidInputError(f"threshold decides between two classes, but {found}.")
    between_zero_and_one("threshold", threshold, ends=True)


def _join_stages(stages: Sequence[Stage]) -> Forest:
    return join_forests(
        [stage.forest for stage in stages] + [stage.spread for stage in stages if stage.spread is not None]
    )
