"""`Summary`: all that a report says, in plain values. The page and the JSON come from it and nothing else."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

# Ways to count costs; see docs on full and decided cost.
Counting = Literal["full", "decided"]
COUNTINGS: tuple[Counting, ...] = ("full", "decided")


@dataclass(frozen=True)
class Bars:
    """A histogram: bars of one width that begin at `left`, and the share of rows in each.

    If it is open, the last bar also has all rows that cost more: few, but far away.
    """

    left: tuple[float, ...]
    width: float
    share: tuple[float, ...]
    is_open: bool


@dataclass(frozen=True)
class Source:
    """Something that is paid for.

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
    """What a little more or less money would do.

    Attributes
    ----------
    budget : float
        What a prediction may cost then.
    point : int or None
        Position of the point of the path that this budget buys, or of the next one beyond it if it buys
        nothing new. None if there is no such point.
    is_within : bool
        Whether the budget buys it.
    cost : float
        Of that point.
    gained, gained_error : float
        By how much its score is better on these rows, and the standard error of that. Leaves are as grown on
        both sides, so a refit has no part in it.
    expected : float or None
        By how much validation rows expected the score to be better at that cost; None if nobody asked them.
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
    """Sentences about one point, made from its numbers.

    Attributes
    ----------
    value : str
        A few words, for a slider to say.
    verdict : str
        Cost and score beside those of the whole ensemble, and whether chance explains the difference.
    spread, bought, wrong : str
        Who pays how much, what for, and where it errs.
    more, less : str
        What 10 % more or less money would do.
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
        Average cost of a row, the cost that half (nine in ten) of the rows do not exceed, and the largest.
    bars : Bars
        Distribution of the cost.
    n_bought : float
        Average number of sources that a row buys.
    of_rows : tuple of float
        By listed source: share of the rows that buy it.
    of_money : tuple of float
        By listed source: average money per row that it takes. One more entry for all others together.
    score, score_error : float
        Accuracy, or R²; and its standard error.
    gained, gained_error : float
        Score minus that of the whole ensemble with all features, and the standard error of that difference,
        row by row.
    n_wrong : int or None
        Classification: rows with a wrong label.
    mean_off : float or None
        Regression: average absolute difference from the truth.
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
    """How one model predicts one example, step by step.

    Attributes
    ----------
    answer : str
    is_right : bool or None
        None for regression.
    cost : float
    full_cost : float
        What all trees together would have asked for.
    reason, ending : str
        Why it stopped: see `Decision`; and the same in words.
    cut : float or None
        Two classes only: the label is answered if its probability is above.
    n_bought : int
    sources : tuple of int
        Places of the sources in the summary's list, in the order of their purchase; the first few, if there
        are many.
    lower, upper, guess : tuples of float
        What was possible, and the best guess, before the first purchase and after each: of the probability of
        the label that was answered, or of the target.
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
        The same with all sources on its paths, and with predictions that stop once they are decided.
    usage : tuple of three floats
        Share of the pairs of a row and a feature in which the row tests the feature never, 1 to 7 times, more
        often (Table 1 of the paper).
    tellings : tuple of Telling
        One for each story.
    tree : str
        What became of the tree that is shown.
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
    """An example, and why it is told.

    Attributes
    ----------
    title : str
    row : int
        Number of the row in the data, from 1.
    truth : str
    values : mapping from numbers of sources (as text) to what the source told
        Only of sources that some point buys for it.
    """

    title: str
    row: int
    truth: str
    values: dict[str, str]


@dataclass(frozen=True)
class Tree:
    """One tree, node by node in pre-order, with what is needed to prune it anywhere on the path.

    Attributes
    ----------
    number : int
        From 1.
    n_splits : int
        Of the whole tree.
    parent : tuple of int
        -1 at the root.
    question : tuple of str
        What a split asks; yes is its first child. Empty at leaves, and where deeper splits are left out.
    answer, refitted : tuples of str
        What the node answers if it is a leaf: as grown, and in the delivered model (empty if it has no such
        node).
    critical_lambda : tuple of float or None
        A split stays where lambda is below; None: everywhere.
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
    """What the rows that made choices expected: cost and score of points, cross-fitted, leaves refitted.

    `cost` is decided cost; empty if nobody simulated that.
    """

    cost: tuple[float, ...]
    full_cost: tuple[float, ...]
    score: tuple[float, ...]


@dataclass(frozen=True)
class Summary:
    """Answer "which operating point, and why?" from test rows that had no part in anything.

    Attributes
    ----------
    title, target, task, score_name, unit : str
    noun : str
        What sources are called: features, if each feature is paid for on its own.
    counting : {"full", "decided"}
        How the budget counts.
    budget : float or None
    n_rows, n_path_rows : int
        Rows for the delivered model and the whole ensemble, and for the points of the path.
    n_trees, n_features, n_path_points : int
        The last: how many points the path has; `points` has at most 200 of them.
    sources : tuple of Source
        All that have a price, those that take most money first.
    n_listed : int
        How many of them, from the first on, are told apart at each point.
    classes : tuple of str or None
        Rows and columns of the confusion matrices; rare ones are together in the last.
    residual_edges : tuple of float or None
    guess : str
        What costs nothing: always the most frequent label, or the average target.
    guess_score : float
    points : tuple of Point
        From cheap to dear, by what counts: the path, the delivered model in its place, the unpruned ensemble
        last.
    delivered : int
        Position of the delivered model.
    expected : Expected or None
    stories : tuple of Story
    tree : Tree
    headline : str
    notes : tuple of str
        How all this was measured.
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
        """Plain values, as `json.dumps` takes them; none of them is NaN or infinite."""
        return {"format": 1, **asdict(self)}
