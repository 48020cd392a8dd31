"""`StagedSummary`: everything that the report of a staged model says, in plain values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from budgetprune.report.summary import Bars, Source

# What a loss is: the share of wrong rows, the price of errors, the log loss, the squared error.
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
        What going on costs on average.
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
    """What going on from a stage brings, measured on the given rows; None where there are no such rows.

    Attributes
    ----------
    stage : int
        The next stage.
    there : Trade or None
        All rows that reach the stage: if all of them stop, and if they follow the stopping rule.
    on : Trade or None
        The rows that go on: if they had stopped, and where they end.
    stay : Trade or None
        The rows that stop: as they are, and if they bought the next stage.
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
        Shares that cross-fitting saw; None for the point that buys everything.
    goes_on : {"all", "some", "none"}
        Which rows go on: "some" are those whose uncertainty is above the threshold.
    threshold : float or None
        None unless `goes_on` is "some".
    rule : str
        The same in words.
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
    """Sentences about one point, made from its numbers.

    Attributes
    ----------
    value : str
        A few words, for a slider to say.
    verdict : str
        Cost and score beside those of the same model with all sources, and whether chance explains it.
    stages, next, bought, wrong : str
        Where rows stop, what going on saves, what is bought, and where it errs.
    use : str
        How to get this point.
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
        The last: all rows buy all that the chain of the delivered model buys.
    name : str
    chain : int
    lam : float or None
        Loss that a unit of cost is worth; None for "everything".
    budget : str or None
        A budget that leads to this point; None if there is none.
    expected_cost, expected_score, expected_score_std : float or None
        What cross-fitting saw, and the spread of the score over its folds. None for "everything"; scores are
        None too if they are of another kind than those of this report.
    n_rows : int
        Rows that it was measured on.
    decided : StagedOutcome
        Rows stop early, so that this is the decided cost of other reports.
    stages : tuple of StageOutcome
        Those that rows can get to.
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
    """What a stage of a chain buys.

    Attributes
    ----------
    sources : tuple of int
        Places in the summary's list.
    price, paid : float
        Of these sources, and of all up to here.
    score : float
        On the given rows, if all of them stopped here.
    """

    sources: tuple[int, ...]
    price: float
    paid: float
    score: float


@dataclass(frozen=True)
class StoryStep:
    """One stage of the way of one row.

    Attributes
    ----------
    sources : tuple of int
        What was bought, by places in the summary's list.
    values : str
        Values that became known by it.
    cost : float
        Paid so far.
    answer : str
    probability : float or None
        Of the answer; None for regression.
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
    """How the delivered model decides one row.

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
        What buying everything would have answered.
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
    """A staged model on rows that had no part in training.

    Attributes
    ----------
    title, target, task, score_name, unit, noun : str
        As in `Summary`.
    counting : "decided"
    budget, max_cost : float or None
        Average cost, and limit for each row.
    loss_kind : {"errors", "cost", "log loss", "squared error"}
        What the stopping rule saves.
    uncertainty_name : str
        What thresholds are about.
    n_rows, n_point_rows : int
        Rows for the delivered model, and for the other points.
    n_trees, n_features, n_curve_points : int
        The last: how many points the curve has; `points` has at most 80 of them.
    sources : tuple of Source
        All that have a price: those of the chain in use first, in the order in which they are bought.
    n_listed : int
        How many of them, from the first on, are told apart at each point.
    chains : tuple of tuples of ChainStage
    classes : tuple of str or None
    residual_edges : tuple of float or None
    guess : str
    guess_score : float
    points : tuple of StagedPoint
        From cheap to expensive; the last one buys everything.
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
        """Plain values, as `json.dumps` takes them; none of them is NaN or infinite."""
        return {"format": 1, "model": "staged", **asdict(self)}
