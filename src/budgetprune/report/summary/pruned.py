"""Summary of a pruned model on test rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from budgetprune.report.summary.common import SummaryBase
from budgetprune.report.summary.outcome import Outcome, SourceShare
from budgetprune.report.summary.values import FeatureValue, Value

# Ways to count costs; see the docs on full and decided cost.
Counting = Literal["full", "decided"]
COUNTINGS: tuple[Counting, ...] = ("full", "decided")
Kind = Literal["path", "delivered", "unpruned"]
ExampleKind = Literal["typical", "cheap", "expensive", "lost", "wrong"]


@dataclass(frozen=True)
class Change:
    """Effect of a slightly larger or smaller budget. Numbers are rounded as in the JSON output.

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
    sources : tuple of SourceShare
        Sources that most rows acquire in addition (larger budget) or no longer (smaller budget), with the
        share of these rows.
    gained_to_refitted : float or None
        Difference in score to the delivered model; None unless that one is shown and its leaves are refitted.
    """

    budget: float
    point: int | None
    is_within: bool
    cost: float
    gained: float
    gained_error: float
    expected: float | None
    sources: tuple[SourceShare, ...] = ()
    gained_to_refitted: float | None = None


@dataclass(frozen=True, kw_only=True)
class PrunedOutcome(Outcome):
    """Outcome of a point of the path.

    Attributes
    ----------
    dropped : tuple of str
        Sources that the unpruned ensemble acquires and this model never does; the most expensive few.
    n_dropped : int
        Number of all such sources.
    more, less : Change
        Effect of a 10 % larger or smaller budget.
    """

    dropped: tuple[str, ...]
    n_dropped: int
    more: Change
    less: Change


@dataclass(frozen=True)
class KnownValues:
    """Values that became known at one step: the first few, and the number of the others.

    Attributes
    ----------
    features : tuple of int
        Indices of features, as in the values of the example.
    n_more : int
    """

    features: tuple[int, ...]
    n_more: int


@dataclass(frozen=True)
class Prediction:
    """Step-by-step prediction of one example by one model.

    Attributes
    ----------
    answer : Value
    is_right : bool or None
        None for regression.
    cost : float
    full_cost : float
        Cost of all sources that the trees test.
    reason : str
        Reason for stopping; see `Decision`.
    cut : float or None
        Two classes only: probability above which the label is predicted.
    n_acquired : int
    sources : tuple of int
        Indices of the first few sources in the summary's list, in order of acquisition.
    known : tuple of KnownValues
        Values known before the first acquisition, and those that each acquisition adds. A value is known once
        all sources that it needs are acquired.
    lower, upper, guess : tuples of float
        Bounds and best guess before the first acquisition and after each: of the probability of the predicted
        label, or of the target.
    """

    answer: Value
    is_right: bool | None
    cost: float
    full_cost: float
    reason: str
    cut: float | None
    n_acquired: int
    sources: tuple[int, ...]
    known: tuple[KnownValues, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    guess: tuple[float, ...]


@dataclass(frozen=True)
class ExpectedPoint:
    """Cross-fitted cost and score of one point on the validation rows, with refitted leaves.

    `cost` is the decided cost; None if it was not simulated.
    """

    full_cost: float
    cost: float | None
    score: float


@dataclass(frozen=True)
class OperatingPoint:
    """One model that could be chosen.

    Attributes
    ----------
    kind : {"path", "delivered", "unpruned"}
    number : int or None
        Number among the points of the path, from cheap to expensive, from 1; None for other kinds.
    lam : float or None
        None for the unpruned ensemble.
    budget : str or None
        A budget that selects this point; None if there is none.
    n_rows : int
        Number of rows it was evaluated on.
    n_splits, n_features : int
    n_tree_splits : int
        Number of splits that remain of the tree shown.
    full, decided : PrunedOutcome
        Results with all sources on its paths, and with predictions that stop once decided. The reference is
        the unpruned ensemble.
    expected : ExpectedPoint or None
        None for the unpruned ensemble, and if there is no validation curve.
    usage : tuple of three floats
        Shares of (row, feature) pairs in which the row tests the feature 0, 1 to 7, or more times (Table 1 of
        the paper).
    predictions : tuple of Prediction
        One for each example.
    """

    kind: Kind
    number: int | None
    lam: float | None
    budget: str | None
    n_rows: int
    n_splits: int
    n_features: int
    n_tree_splits: int
    full: PrunedOutcome
    decided: PrunedOutcome
    expected: ExpectedPoint | None
    usage: tuple[float, float, float]
    predictions: tuple[Prediction, ...]

    def outcome(self, counting: Counting) -> PrunedOutcome:
        """Return the outcome for one way to count costs."""
        return self.full if counting == "full" else self.decided


@dataclass(frozen=True)
class ExampleRow:
    """An example row.

    Attributes
    ----------
    kind : {"typical", "cheap", "expensive", "lost", "wrong"}
        "lost": the unpruned ensemble predicts it better.
    row : int
        Number of the row in the data, from 1.
    truth : Value
    values : mapping from indices of features to values
        Only of features that some point gets to know for the row.
    """

    kind: ExampleKind
    row: int
    truth: Value
    values: dict[int, FeatureValue]


@dataclass(frozen=True)
class SplitCondition:
    """Condition of a split: a threshold, or the categories for which it is true.

    Attributes
    ----------
    feature : str
    threshold : float or None
        None for categories.
    categories : tuple of str
        The first few.
    n_more : int
        Number of further categories.
    """

    feature: str
    threshold: float | None
    categories: tuple[str, ...]
    n_more: int


@dataclass(frozen=True)
class NodeValue:
    """Value of a node as a leaf.

    Attributes
    ----------
    kind : {"target", "target difference", "class share", "class", "class score"}
        "class": the class with the highest score, if scores are not shares.
    value : float
    label : str
        Class; empty for regression.
    """

    kind: Literal["target", "target difference", "class share", "class", "class score"]
    value: float
    label: str


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
    split : tuple of SplitCondition or None
        If its condition is true, a row goes to the first child. None at leaves and at the depth limit.
    value : tuple of NodeValue
        Value of each node as grown.
    refitted : tuple of NodeValue or None
        Value in the delivered model; None if it has no such node.
    critical_lambda : tuple of float or None
        A split is kept for smaller lambda; None: always.
    is_delivered : tuple of bool
        Splits of the delivered model.
    """

    number: int
    n_splits: int
    parent: tuple[int, ...]
    split: tuple[SplitCondition | None, ...]
    value: tuple[NodeValue, ...]
    refitted: tuple[NodeValue | None, ...]
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
class PredictorSettings:
    """Settings of the predictor, besides `max_cost`; see `BudgetPredictor`.

    `threshold_label` is the label that is predicted above `threshold`.
    """

    slack: float
    tolerance: float | None
    threshold: float | None
    threshold_label: str | None


@dataclass(frozen=True, kw_only=True)
class Summary(SummaryBase):
    """Measurements of a pruned model and its path on held-out rows: numbers and names, no sentences.

    Attributes
    ----------
    ensemble : {"forest", "ensemble"}
        "ensemble" for boosted trees.
    counting : {"full", "decided"}
        Way to count costs for the budget.
    n_path_points : int
        Number of points of the whole path; `points` has at most 200 of them.
    points : tuple of OperatingPoint
        The path and the delivered model from cheap to expensive, then the unpruned ensemble. Sorted by the
        cost given by `counting`.
    expected : Expected or None
    is_refitted : bool
        Whether the delivered model's leaf values differ from those of its pruning on the path.
    examples : tuple of ExampleRow
    tree : Tree
    settings : PredictorSettings
    """

    ensemble: Literal["forest", "ensemble"]
    counting: Counting
    n_path_points: int
    points: tuple[OperatingPoint, ...]
    expected: Expected | None
    is_refitted: bool
    examples: tuple[ExampleRow, ...]
    tree: Tree
    settings: PredictorSettings
