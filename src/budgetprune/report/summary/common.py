"""Parts of the summaries of pruned and of staged models, besides outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from budgetprune.costs import PricedSource
from budgetprune.report.summary.rival import Rival
from budgetprune.report.summary.values import Value


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
    rival : Rival or None
        Another model to compare with.
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
    rival: Rival | None
    model_name: str
    download: str
    origin: Origin | None
    version: str
