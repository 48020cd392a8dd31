"""Summary of a staged model on test rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from budgetprune.report.summary.common import SummaryBase
from budgetprune.report.summary.outcome import Outcome
from budgetprune.report.summary.values import FeatureValues, Value

# Kinds of loss: error rate, cost of errors, log loss, squared error.
LossKind = Literal["errors", "cost", "log loss", "squared error"]
Kind = Literal["point", "delivered", "everything"]
# What happens to the rows at a stage: it is the last stage; all stop; `max_cost` stops them; all go on; rows
# with an uncertainty above the threshold go on.
StageRule = Literal["last", "stop", "limit", "continue", "threshold"]
# Why one row stopped at a stage or went on. The first three are for all rows, as in `StageRule`.
StepReason = Literal["last", "stop", "continue", "free", "limit", "below", "above"]
ExampleKind = Literal["typical", "early", "middle", "late", "wrong", "avoidable"]


@dataclass(frozen=True)
class Comparison:
    """Average loss of some rows if they stop, and if they go on.

    Attributes
    ----------
    n_rows : int
    stopping, going_on : float
        Average loss.
    cost : float
        Average cost of going on.
    saved : float or None
        Loss that a unit of cost saves; None if going on costs nothing.
    """

    n_rows: int
    stopping: float
    going_on: float
    cost: float
    saved: float | None


@dataclass(frozen=True)
class NextStage:
    """Effect of going on from a stage, on the given rows; None where there are no such rows.

    Attributes
    ----------
    stage : int
        The next stage.
    reached : Comparison or None
        All rows that reach the stage: all stop, or all follow the stopping rule.
    continued : Comparison or None
        The rows that go on: if they stopped here, and where they stop.
    stopped : Comparison or None
        The rows that stop: as they are, and with the next stage.
    """

    stage: int
    reached: Comparison | None
    continued: Comparison | None
    stopped: Comparison | None


@dataclass(frozen=True)
class StageOutcome:
    """One stage of a point on the given rows.

    Attributes
    ----------
    reached, stops : float
        Share of the rows that reach it, and that stop there.
    score_stops : float or None
        Score of the rows that stop there; None if there are none.
    score_all : float
        Score if all rows stopped there.
    stops_by_class : tuple of float or None, or None
        By class with a row in the confusion matrix: share of its rows that stop there; None for a class
        without rows. None for regression.
    expected_reached, expected_stops : float or None
        Cross-fitted shares; None for the point with all sources.
    rule : {"last", "stop", "limit", "continue", "threshold"}
        Which rows go on: none for the first three, all, or those whose uncertainty is above the threshold.
    threshold : float or None
        None unless `rule` is "threshold".
    next : NextStage or None
        None at the last stage.
    """

    reached: float
    stops: float
    score_stops: float | None
    score_all: float
    stops_by_class: tuple[float | None, ...] | None
    expected_reached: float | None
    expected_stops: float | None
    rule: StageRule
    threshold: float | None
    next: NextStage | None


@dataclass(frozen=True, kw_only=True)
class StagedOutcome(Outcome):
    """Outcome of a point of the curve.

    Attributes
    ----------
    loss : float or None
        Average loss: see `StagedSummary.loss_kind`. None if it is not defined for any row.
    """

    loss: float | None


@dataclass(frozen=True)
class StagedPoint:
    """One point of the curve.

    Attributes
    ----------
    kind : {"point", "delivered", "everything"}
        "everything": all rows acquire all sources of the delivered model's chain.
    number : int or None
        Number on the curve, from 1; None for "everything".
    chain : int
    lam : float or None
        Loss that a unit of cost is worth; None for "everything".
    budget : str or None
        A budget that selects this point; None if there is none.
    expected_cost, expected_score, expected_score_std : float or None
        Cross-fitted cost and score, and standard deviation of the score over folds. None for "everything";
        scores are also None if they use another metric than this report.
    n_rows : int
        Number of rows it was evaluated on.
    is_constant : bool
        Whether it uses no feature.
    is_fixed : bool
        Whether all rows stop at the same stage by the rule, whatever their uncertainty.
    is_best : bool
        Whether the point has the lowest total cost of sources and errors in cross-fitting.
    n_stage_sources : int
        Number of sources in the stages that `max_cost` allows.
    cheapest_equal : int or None
        The first stage that is as good on these rows if all rows stop there; None if there is none.
    outcome : StagedOutcome
        The reference is the delivered model with all sources of its stages.
    stages : tuple of StageOutcome
        Stages that rows can reach.
    """

    kind: Kind
    number: int | None
    chain: int
    lam: float | None
    budget: str | None
    expected_cost: float | None
    expected_score: float | None
    expected_score_std: float | None
    n_rows: int
    is_constant: bool
    is_fixed: bool
    is_best: bool
    n_stage_sources: int
    cheapest_equal: int | None
    outcome: StagedOutcome
    stages: tuple[StageOutcome, ...]


@dataclass(frozen=True)
class ChainStage:
    """One stage of a chain.

    Attributes
    ----------
    sources : tuple of int
        Indices in the summary's list.
    price, paid : float
        Price of these sources, and of all up to this stage.
    score : float
        Score on the given rows if all stopped here.
    """

    sources: tuple[int, ...]
    price: float
    paid: float
    score: float


@dataclass(frozen=True)
class ExampleStep:
    """One stage in the decision about one row.

    Attributes
    ----------
    sources : tuple of int
        Sources acquired, as indices in the summary's list.
    values : FeatureValues
        Values that became known.
    cost : float
        Paid so far.
    answer : Value
    probability : float or None
        Probability of the answer; None for regression.
    expected_error : float or None
        Regression: root of the expected squared error.
    uncertainty : float
    threshold : float or None
        None if no row, or every row, goes on from here.
    goes_on : bool
    reason : {"last", "stop", "continue", "free", "limit", "below", "above"}
        "free": the next stage costs nothing; "below", "above": compared with the threshold.
    """

    sources: tuple[int, ...]
    values: FeatureValues
    cost: float
    answer: Value
    probability: float | None
    expected_error: float | None
    uncertainty: float
    threshold: float | None
    goes_on: bool
    reason: StepReason


@dataclass(frozen=True)
class StagedExample:
    """Stage-by-stage decision of the delivered model about one row.

    Attributes
    ----------
    kind : {"typical", "early", "middle", "late", "wrong", "avoidable"}
        Where it stops, "typical" if all rows stop there; or a mistake, "avoidable" if the answer with all
        sources is better.
    row : int
        Number of the row in the data, from 1.
    truth, answer : Value
    is_right : bool or None
        None for regression.
    cost : float
    steps : tuple of ExampleStep
        From the first stage to the one where it stops.
    full_answer, full_cost : Value, float
        Answer with all sources, and their cost.
    """

    kind: ExampleKind
    row: int
    truth: Value
    answer: Value
    is_right: bool | None
    cost: float
    steps: tuple[ExampleStep, ...]
    full_answer: Value
    full_cost: float


@dataclass(frozen=True, kw_only=True)
class StagedSummary(SummaryBase):
    """Measurements of a staged model at all its budgets on held-out rows: numbers and names, no sentences.

    Attributes
    ----------
    loss_kind : {"errors", "cost", "log loss", "squared error"}
        Loss that the stopping rule reduces.
    n_curve_points : int
        Number of points of the whole curve; `points` has at most 80 of them.
    chains : tuple of tuples of ChainStage
    points : tuple of StagedPoint
        From cheap to expensive; the last one acquires all sources.
    examples : tuple of StagedExample
    """

    loss_kind: LossKind
    n_curve_points: int
    chains: tuple[tuple[ChainStage, ...], ...]
    points: tuple[StagedPoint, ...]
    examples: tuple[StagedExample, ...]
