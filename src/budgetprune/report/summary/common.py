"""Parts of the summaries of pruned and of staged models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from budgetprune.costs import PricedSource

# Value of a feature, a label or a target; None is a missing value.
Value = float | str | None


@dataclass(frozen=True)
class CostHistogram:
    """Bars of one width that begin at `left`, and the share of the rows in each.

    If `is_open`, the last bar also contains all rows with larger values (outliers).
    """

    left: tuple[float, ...]
    width: float
    share: tuple[float, ...]
    is_open: bool


@dataclass(frozen=True)
class SourceShare:
    """The name of a source, with a share of the cost or of the rows."""

    source: str
    share: float


@dataclass(frozen=True)
class FeatureValue:
    """The name and the value of a feature in one row."""

    name: str
    value: Value


@dataclass(frozen=True)
class FeatureValues:
    """The first few values that a row has from some sources, and the number of the others."""

    shown: tuple[FeatureValue, ...]
    n_more: int


@dataclass(frozen=True)
class Reference:
    """The model that a point is compared with, on the rows of that point, with costs counted in the same way.

    Attributes
    ----------
    cost, score : float
        Averages over the rows.
    n_acquired : float
        Average number of sources that a row acquires.
    """

    cost: float
    score: float
    n_acquired: float


@dataclass(frozen=True)
class SourceLine:
    """One source of a model, compared with the reference on the same rows.

    Attributes
    ----------
    source : int
        Index in the summary's list.
    share, reference_share : float
        Share of the rows that acquire it.
    cost, reference_cost : float
        Average cost per row.
    """

    source: int
    share: float
    cost: float
    reference_share: float
    reference_cost: float


@dataclass(frozen=True)
class OtherSources:
    """All sources without a line of their own.

    Attributes
    ----------
    number : int
    largest_share : float
        Largest share of the rows that acquire one of them.
    cost, reference_cost : float
        Average cost per row of all of them.
    """

    number: int
    largest_share: float
    cost: float
    reference_cost: float


@dataclass(frozen=True)
class ClassMeasures:
    """Recall and precision of one class.

    Attributes
    ----------
    n_rows, n_predicted : int
        Rows of the class, and rows for which it is predicted.
    recall, precision : float or None
        None if there are no such rows.
    """

    n_rows: int
    n_predicted: int
    recall: float | None
    precision: float | None


@dataclass(frozen=True)
class CalibrationBin:
    """Rows with similar probabilities: their mean, the share of rows with the event, and their number."""

    predicted: float
    observed: float
    n_rows: int


@dataclass(frozen=True)
class Calibration:
    """Probabilities compared with frequencies.

    Attributes
    ----------
    label : str or None
        The class whose probability it is: the second of two. None: the most probable class of each row.
    bins : tuple of CalibrationBin
        Non-empty bins of equal width.
    error : float
        Expected calibration error: average distance of the two, weighted by rows.
    """

    label: str | None
    bins: tuple[CalibrationBin, ...]
    error: float


@dataclass(frozen=True)
class ProbabilityMeasures:
    """Quality of class probabilities on the rows with a label known to the model.

    Attributes
    ----------
    n_rows : int
    auc : float or None
        Area under the ROC curve; with more than two classes, the average over the classes of the rows, each
        against the rest. None if all rows have the same class.
    log_loss : float
    calibration : Calibration
    """

    n_rows: int
    auc: float | None
    log_loss: float
    calibration: Calibration


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Costs and errors of one model on the test rows, with one way to count costs.

    Attributes
    ----------
    cost, smallest, median, ninetieth, largest : float
        Mean, minimum, median, 90 % quantile and maximum of the cost of a row.
    free : float
        Share of the rows that cost nothing.
    costs : CostHistogram
        Distribution of the cost.
    n_acquired : float
        Average number of sources that a row acquires.
    lines : tuple of SourceLine
        Sources that many rows acquire, or that make up much of the cost, in the order of the summary's list.
    others : OtherSources
        All other sources with a price.
    top_sources : tuple of SourceShare
        Sources with the highest average cost, and their shares of the total cost.
    score, score_error : float
        Accuracy or R², and its standard error.
    gained, gained_error : float
        Score minus that of the reference, and the paired standard error of that difference.
    n_wrong : int or None
        Classification: rows with a wrong label.
    mean_error : float or None
        Regression: mean absolute error.
    error_cost : float or None
        Average cost of errors; None if errors have no price.
    by_class : tuple of ClassMeasures, or None
        Classification: of the classes that have a row in the confusion matrix.
    probabilities : ProbabilityMeasures or None
        None for regression.
    confusion : tuple of tuples of int, or None
        Classification: rows by true label (outer) and predicted label.
    residuals : tuple of int, or None
        Regression: rows in each bin of prediction minus truth.
    undecided : float
        Share of the rows that `max_cost` stopped before they were decided.
    only_answer : Value
        The answer to every row, if it is the same for all; else None.
    reference : Reference
        The reference model on the same rows, with costs counted in the same way.
    """

    cost: float
    smallest: float
    median: float
    ninetieth: float
    largest: float
    free: float
    costs: CostHistogram
    n_acquired: float
    lines: tuple[SourceLine, ...]
    others: OtherSources
    top_sources: tuple[SourceShare, ...]
    score: float
    score_error: float
    gained: float
    gained_error: float
    n_wrong: int | None
    mean_error: float | None
    error_cost: float | None
    by_class: tuple[ClassMeasures, ...] | None
    probabilities: ProbabilityMeasures | None
    confusion: tuple[tuple[int, ...], ...] | None
    residuals: tuple[int, ...] | None
    undecided: float
    only_answer: Value
    reference: Reference


@dataclass(frozen=True)
class Origin:
    """Metadata of the model.

    Attributes
    ----------
    n_train, n_validation : int
        Number of rows that trained it, and that were used to select it.
    choices : str
        Settings selected on these rows, as the model file states them.
    created : str
        Date, or empty.
    versions : mapping from package names to versions
    model : str
        Kind of model: "staged", "random-forest" and the like, or the class name of an existing model.
    """

    n_train: int
    n_validation: int
    choices: str
    created: str
    versions: dict[str, str]
    model: str = ""


@dataclass(frozen=True)
class Recommendation:
    """Point that the cross-fitted curve recommends.

    Attributes
    ----------
    rule : {"knee", "one standard error", "lowest total", "constant"}
        The knee of the curve; the cheapest point whose score is within one standard error of the best; the
        lowest total of costs and cost of errors; or none, because a constant is within one standard error.
    point : int or None
        Index among the points; None for the rule "constant".
    cost, score : float
        Cross-fitted cost and score of that point.
    cheapest_cost, cheapest_score, best_cost, best_score : float
        Those of the cheapest point, and of the point with the best score.
    standard_error : float
        Standard error of the best score.
    """

    rule: Literal["knee", "one standard error", "lowest total", "constant"]
    point: int | None
    cost: float
    score: float
    cheapest_cost: float
    cheapest_score: float
    best_cost: float
    best_score: float
    standard_error: float


@dataclass(frozen=True, kw_only=True)
class SummaryBase:
    """Fields that the summaries of all models have.

    Attributes
    ----------
    title : str
        As given by the user; empty for a title that names the target.
    target, unit : str
        Name of the target, and unit of cost. Both may be empty.
    task : {"classification", "regression"}
    score_name : {"accuracy", "R²"}
    source_kind : {"features", "sources"}
        "features" if each source is needed by one feature only.
    budget, max_cost : float or None
        Average cost, and limit for each row.
    n_rows : int
        Number of rows for the delivered model and its reference.
    n_sample_rows : int
        Number of rows for the other points.
    n_unknown : int
        Number of rows with a label unknown to the model.
    n_trees, n_features : int
    sources : tuple of PricedSource
        All sources with a price.
    classes : tuple of str or None
        Labels that have a row in the confusion matrices.
    has_other_classes, has_unknown_classes : bool
        Whether the matrices have another row for rare labels, and one for labels unknown to the model.
    error_costs : tuple of tuples of float, or None
        Cost of errors by true label (outer) and predicted label, for `classes`; for regression, the only
        entry is that of a unit of squared error. None if errors have no price.
    residual_edges : tuple of float or None
    guess : Value
        Best constant prediction: the most frequent label, or the mean target.
    guess_score : float
    delivered : int
        Index of the delivered model among the points.
    recommendation : Recommendation or None
        None if there is no cross-fitted curve with the score of the report.
    model_name, download : str
        See `ReportOptions`.
    origin : Origin or None
    version : str
        Version of budgetprune that measured.
    """

    title: str
    target: str
    task: Literal["classification", "regression"]
    score_name: str
    unit: str
    source_kind: Literal["features", "sources"]
    budget: float | None
    max_cost: float | None
    n_rows: int
    n_sample_rows: int
    n_unknown: int
    n_trees: int
    n_features: int
    sources: tuple[PricedSource, ...]
    classes: tuple[str, ...] | None
    has_other_classes: bool
    has_unknown_classes: bool
    error_costs: tuple[tuple[float, ...], ...] | None
    residual_edges: tuple[float, ...] | None
    guess: Value
    guess_score: float
    delivered: int
    recommendation: Recommendation | None
    model_name: str
    download: str
    origin: Origin | None
    version: str
