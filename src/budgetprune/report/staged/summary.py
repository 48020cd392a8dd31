"""Content of the report of a staged model, as plain values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from budgetprune.report.summary import Bars, Source

# Kinds of loss: error rate, cost of errors, log loss, squared error.
LossKind = Literal["errors", "cost", "log loss", "squared error"]
Kind = Literal["point", "delivered", "everything"]


@dataclass(frozen=True)
class Trade:
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
class Next:
    """Effect of going on from a stage, on the given rows; None where there are no such rows.

    Attributes
    ----------
    stage : int
        The next stage.
    there : Trade or None
        All rows that reach the stage: all stop, or all follow the stopping rule.
    on : Trade or None
        The rows that go on: if they stopped here, and where they stop.
    stay : Trade or None
        The rows that stop: as they are, and with the next stage.
    """

    stage: int
    there: Trade | None
    on: Trade | None
    stay: Trade | None


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
    expected_reached, expected_stops : float or None
        Cross-fitted shares; None for the point with all sources.
    goes_on : {"all", "some", "none"}
        Which rows go on: "some" are those whose uncertainty is above the threshold.
    threshold : float or None
        None unless `goes_on` is "some".
    rule : str
        The threshold in words.
    next : Next or None
        None at the last stage.
    """

    reached: float
    stops: float
    score_stops: float | None
    score_all: float
    expected_reached: float | None
    expected_stops: float | None
    goes_on: Literal["all", "some", "none"]
    threshold: float | None
    rule: str
    next: Next | None


@dataclass(frozen=True)
class StagedWords:
    """Sentences about one point, generated from its numbers.

    Attributes
    ----------
    value : str
        Short description for the slider.
    verdict : str
        Comparison of cost and score with all sources, and whether it is significant.
    stages, next, bought, wrong : str
        Stopping stages, savings from going on, sources acquired, and errors.
    use : str
        How to select this point.
    command : str
        The command for it; empty if there is none.
    """

    value: str
    verdict: str
    stages: str
    next: str
    bought: str
    wrong: str
    use: str
    command: str


@dataclass(frozen=True)
class StagedOutcome:
    """One point on the given rows; the same fields as `budgetprune.report.summary.Outcome` where they exist.

    Attributes
    ----------
    undecided : float
        Share of the rows that `max_cost` stopped.
    loss : float or None
        Average loss: see `StagedSummary.loss_kind`.
    """

    cost: float
    median: float
    ninetieth: float
    largest: float
    bars: Bars
    n_bought: float
    of_rows: tuple[float, ...]
    of_money: tuple[float, ...]
    score: float
    score_error: float
    gained: float
    gained_error: float
    n_wrong: int | None
    mean_off: float | None
    confusion: tuple[tuple[int, ...], ...] | None
    residuals: tuple[int, ...] | None
    undecided: float
    loss: float | None
    words: StagedWords


@dataclass(frozen=True)
class StagedPoint:
    """One point of the curve.

    Attributes
    ----------
    kind : {"point", "delivered", "everything"}
        "everything": all rows acquire all sources of the delivered model's chain.
    name : str
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
    decided : StagedOutcome
        Named as in other reports: rows stop early, so costs are decided costs.
    stages : tuple of StageOutcome
        Stages that rows can reach.
    """

    kind: Kind
    name: str
    chain: int
    lam: float | None
    budget: str | None
    expected_cost: float | None
    expected_score: float | None
    expected_score_std: float | None
    n_rows: int
    decided: StagedOutcome
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
class StoryStep:
    """One stage in the decision about one row.

    Attributes
    ----------
    sources : tuple of int
        Sources acquired, as indices in the summary's list.
    values : str
        Values that became known.
    cost : float
        Paid so far.
    answer : str
    probability : float or None
        Probability of the answer; None for regression.
    expected_error : float or None
        Regression: root of the expected squared error.
    uncertainty : float
    threshold : float or None
        None if no row, or every row, goes on from here.
    goes_on : bool
    why : str
    """

    sources: tuple[int, ...]
    values: str
    cost: float
    answer: str
    probability: float | None
    expected_error: float | None
    uncertainty: float
    threshold: float | None
    goes_on: bool
    why: str


@dataclass(frozen=True)
class StagedStory:
    """Stage-by-stage decision of the delivered model about one row.

    Attributes
    ----------
    title : str
    row : int
        Number of the row in the data, from 1.
    truth, answer : str
    is_right : bool or None
        None for regression.
    cost : float
    steps : tuple of StoryStep
        From the first stage to the one where it stops.
    ending : str
        The answer with all sources acquired.
    """

    title: str
    row: int
    truth: str
    answer: str
    is_right: bool | None
    cost: float
    steps: tuple[StoryStep, ...]
    ending: str


@dataclass(frozen=True)
class StagedSummary:
    """Content of the report of a staged model, evaluated on held-out rows.

    Attributes
    ----------
    title, target, task, score_name, unit, noun : str
        As in `Summary`.
    counting : "decided"
    budget, max_cost : float or None
        Average cost, and limit for each row.
    loss_kind : {"errors", "cost", "log loss", "squared error"}
        Loss that the stopping rule reduces.
    uncertainty_name : str
        Name of the quantity that thresholds apply to.
    n_rows, n_point_rows : int
        Number of rows for the delivered model, and for the other points.
    n_trees, n_features, n_curve_points : int
        `n_curve_points` counts the whole curve; `points` has at most 80 of them.
    sources : tuple of Source
        All sources with a price; those of the chain in use first, in order of acquisition.
    n_listed : int
        Number of sources listed individually at each point.
    chains : tuple of tuples of ChainStage
    classes : tuple of str or None
    residual_edges : tuple of float or None
    guess : str
    guess_score : float
    points : tuple of StagedPoint
        From cheap to expensive; the last one acquires all sources.
    delivered : int
    stories : tuple of StagedStory
    headline : str
    notes : tuple of str
    """

    title: str
    target: str
    task: Literal["classification", "regression"]
    score_name: str
    unit: str
    noun: str
    counting: Literal["decided"]
    budget: float | None
    max_cost: float | None
    loss_kind: LossKind
    uncertainty_name: str
    n_rows: int
    n_point_rows: int
    n_trees: int
    n_features: int
    n_curve_points: int
    sources: tuple[Source, ...]
    n_listed: int
    chains: tuple[tuple[ChainStage, ...], ...]
    classes: tuple[str, ...] | None
    residual_edges: tuple[float, ...] | None
    guess: str
    guess_score: float
    points: tuple[StagedPoint, ...]
    delivered: int
    stories: tuple[StagedStory, ...]
    headline: str
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return values that `json.dumps` accepts, without NaN and infinity."""
        return {"format": 1, "model": "staged", **asdict(self)}
