"""Content of a report as plain values: the only input of the page and the JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

# Ways to count costs; see the docs on full and decided cost.
Counting = Literal["full", "decided"]
COUNTINGS: tuple[Counting, ...] = ("full", "decided")


@dataclass(frozen=True)
class Bars:
    """A histogram: bars of one width that begin at `left`, and the share of rows in each.

    If `is_open`, the last bar also contains all rows that cost more (outliers).
    """

    left: tuple[float, ...]
    width: float
    share: tuple[float, ...]
    is_open: bool


@dataclass(frozen=True)
class Source:
    """A source with a price.

    Attributes
    ----------
    name : str
    price : float
    features : tuple of str
        Features that need it.
    """

    name: str
    price: float
    features: tuple[str, ...]


@dataclass(frozen=True)
class Change:
    """Effect of a slightly larger or smaller budget.

    Attributes
    ----------
    budget : float
        The changed budget.
    point : int or None
        Index of the point that this budget selects, or of the next one beyond it if it selects no other. None
        if there is no such point.
    is_within : bool
        Whether the point is within the budget.
    cost : float
        Cost of that point.
    gained, gained_error : float
        Difference in score on these rows, and its standard error. Leaves are as grown on both sides, so
        refitting does not affect it.
    expected : float or None
        Difference in score on the validation curve; None if there is no curve.
    """

    budget: float
    point: int | None
    is_within: bool
    cost: float
    gained: float
    gained_error: float
    expected: float | None


@dataclass(frozen=True)
class Words:
    """Sentences about one point, generated from its numbers.

    Attributes
    ----------
    value : str
        Short description for the slider.
    verdict : str
        Comparison of cost and score with the whole ensemble, and whether it is significant.
    spread, bought, wrong : str
        Distribution of cost, sources acquired, and errors.
    more, less : str
        Effect of a 10 % larger or smaller budget.
    """

    value: str
    verdict: str
    spread: str
    bought: str
    wrong: str
    more: str
    less: str


@dataclass(frozen=True)
class Outcome:
    """One model on the test rows, with one way to count costs.

    Attributes
    ----------
    cost, median, ninetieth, largest : float
        Mean, median, 90 % quantile and maximum of the cost of a row.
    bars : Bars
        Distribution of the cost.
    n_bought : float
        Average number of sources that a row acquires.
    of_rows : tuple of float
        By listed source: share of the rows that acquire it.
    of_money : tuple of float
        By listed source: average cost per row. The last entry is for all other sources.
    score, score_error : float
        Accuracy, or R²; and its standard error.
    gained, gained_error : float
        Score minus that of the whole ensemble with all features, and the paired standard error of that
        difference.
    n_wrong : int or None
        Classification: rows with a wrong label.
    mean_off : float or None
        Regression: mean absolute error.
    confusion : tuple of tuples of int, or None
        Classification: rows by true label (outer) and predicted label.
    residuals : tuple of int, or None
        Regression: rows in each bin of prediction minus truth.
    undecided : float
        Share of the rows that were not decided before `max_cost` was spent.
    more, less : Change
    words : Words
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
    more: Change
    less: Change
    words: Words


@dataclass(frozen=True)
class Telling:
    """Step-by-step prediction of one example by one model.

    Attributes
    ----------
    answer : str
    is_right : bool or None
        None for regression.
    cost : float
    full_cost : float
        Cost of all sources that the trees test.
    reason, ending : str
        Reason for stopping (see `Decision`), and a sentence about it.
    cut : float or None
        Two classes only: probability above which the label is predicted.
    n_bought : int
    sources : tuple of int
        Indices of the first few sources in the summary's list, in order of acquisition.
    lower, upper, guess : tuples of float
        Bounds and best guess before the first acquisition and after each: of the probability of the predicted
        label, or of the target.
    """

    answer: str
    is_right: bool | None
    cost: float
    full_cost: float
    reason: str
    ending: str
    cut: float | None
    n_bought: int
    sources: tuple[int, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    guess: tuple[float, ...]


@dataclass(frozen=True)
class Point:
    """One model that could be chosen.

    Attributes
    ----------
    kind : {"path", "delivered", "unpruned"}
    name : str
    lam : float or None
        None for the unpruned ensemble.
    n_splits, n_features : int
    full, decided : Outcome
        Results with all sources on its paths, and with predictions that stop once decided.
    usage : tuple of three floats
        Shares of (row, feature) pairs in which the row tests the feature 0, 1 to 7, or more times (Table 1 of
        the paper).
    tellings : tuple of Telling
        One for each story.
    tree : str
        Description of the tree shown at this point.
    """

    kind: Literal["path", "delivered", "unpruned"]
    name: str
    lam: float | None
    n_splits: int
    n_features: int
    full: Outcome
    decided: Outcome
    usage: tuple[float, float, float]
    tellings: tuple[Telling, ...]
    tree: str


@dataclass(frozen=True)
class Story:
    """An example row.

    Attributes
    ----------
    title : str
    row : int
        Number of the row in the data, from 1.
    truth : str
    values : mapping from indices of sources (as str) to their values
        Only of sources that some point acquires for the row.
    """

    title: str
    row: int
    truth: str
    values: dict[str, str]


@dataclass(frozen=True)
class Tree:
    """One tree in pre-order, with the data to prune it at any point of the path.

    Attributes
    ----------
    number : int
        From 1.
    n_splits : int
        Number of splits of the unpruned tree.
    parent : tuple of int
        -1 at the root.
    question : tuple of str
        Condition of a split; true is its first child. Empty at leaves and at the depth limit.
    answer, refitted : tuples of str
        Value of the node as a leaf: as grown, and in the delivered model (empty if it has no such node).
    critical_lambda : tuple of float or None
        A split is kept for smaller lambda; None: always.
    is_delivered : tuple of bool
        Splits of the delivered model.
    """

    number: int
    n_splits: int
    parent: tuple[int, ...]
    question: tuple[str, ...]
    answer: tuple[str, ...]
    refitted: tuple[str, ...]
    critical_lambda: tuple[float | None, ...]
    is_delivered: tuple[bool, ...]


@dataclass(frozen=True)
class Expected:
    """Cross-fitted cost and score of points on the validation rows, with refitted leaves.

    `cost` is the decided cost; empty if it was not simulated.
    """

    cost: tuple[float, ...]
    full_cost: tuple[float, ...]
    score: tuple[float, ...]


@dataclass(frozen=True)
class Summary:
    """Content of the report of a pruned model, evaluated on held-out rows.

    Attributes
    ----------
    title, target, task, score_name, unit : str
    noun : str
        Noun for sources: "features" if each feature is one source.
    counting : {"full", "decided"}
        Way to count costs for the budget.
    budget : float or None
    n_rows, n_path_rows : int
        Number of rows for the delivered model and the whole ensemble, and for the path.
    n_trees, n_features, n_path_points : int
        `n_path_points` counts the whole path; `points` has at most 200 of them.
    sources : tuple of Source
        All sources with a price, highest total cost first.
    n_listed : int
        Number of sources listed individually at each point.
    classes : tuple of str or None
        Rows and columns of the confusion matrices; rare classes share the last.
    residual_edges : tuple of float or None
    guess : str
        Best constant prediction: the most frequent label, or the mean target.
    guess_score : float
    points : tuple of Point
        The path and the delivered model from cheap to expensive, then the unpruned ensemble. Sorted by the
        cost given by `counting`.
    delivered : int
        Index of the delivered model.
    expected : Expected or None
    stories : tuple of Story
    tree : Tree
    headline : str
    notes : tuple of str
        Notes on the method.
    """

    title: str
    target: str
    task: Literal["classification", "regression"]
    score_name: str
    unit: str
    noun: str
    counting: Counting
    budget: float | None
    n_rows: int
    n_path_rows: int
    n_trees: int
    n_features: int
    n_path_points: int
    sources: tuple[Source, ...]
    n_listed: int
    classes: tuple[str, ...] | None
    residual_edges: tuple[float, ...] | None
    guess: str
    guess_score: float
    points: tuple[Point, ...]
    delivered: int
    expected: Expected | None
    stories: tuple[Story, ...]
    tree: Tree
    headline: str
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return values that `json.dumps` accepts, without NaN and infinity."""
        return {"format": 1, **asdict(self)}
