"""Outcomes: costs, errors and other measures of one model on test rows."""

from __future__ import annotations

from dataclasses import dataclass

from budgetprune.report.summary.values import Value


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
