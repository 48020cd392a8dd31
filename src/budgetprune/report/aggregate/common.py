"""Fields that the summaries of pruned and of staged models share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from budgetprune.costs import CostTable, PricedSource
from budgetprune.forest import Forest
from budgetprune.report.measure.rows import EvaluationRows
from budgetprune.report.measure.values import features_of
from budgetprune.report.options import ReportOptions
from budgetprune.report.summary.common import Origin
from budgetprune.utils.environment import __version__

if TYPE_CHECKING:
    from budgetprune.model import About


def shared_fields(
    forest: Forest, costs: CostTable, rows: EvaluationRows, about: About | None, options: ReportOptions
) -> dict[str, Any]:
    """Return the fields of `SummaryBase` that do not depend on the kind of model."""
    guess, guess_score = rows.best_constant()
    shown = rows.matrix_classes
    return {
        "title": options.title,
        "target": "" if about is None else about.target,
        "task": "classification" if forest.is_classifier else "regression",
        "score_name": "accuracy" if forest.is_classifier else "R²",
        "unit": options.unit or ("" if about is None else about.unit),
        "source_kind": "features" if _has_one_source_each(costs) else "sources",
        "budget": None if about is None else about.budget,
        "n_rows": len(rows),
        "n_unknown": rows.n_unknown,
        "n_features": forest.n_features,
        "classes": None if shown is None else shown.names,
        "has_other_classes": shown is not None and shown.has_other,
        "has_unknown_classes": shown is not None and shown.has_unknown,
        "error_costs": _error_costs(rows),
        "residual_edges": None if forest.is_classifier else tuple(rows.edges.tolist()),
        "guess": guess,
        "guess_score": guess_score,
        "model_name": options.model_name,
        "download": options.download,
        "origin": None if about is None else _origin(about),
        "version": __version__,
    }


def _error_costs(rows: EvaluationRows) -> tuple[tuple[float, ...], ...] | None:
    if rows.prices is None:
        return None
    if rows.prices.matrix is None:
        return ((float(rows.prices.squared or 0.0),),)
    named = [] if rows.matrix_classes is None else rows.matrix_classes.named
    return tuple(tuple(row) for row in rows.prices.matrix[np.ix_(named, named)].tolist())


def source_of(costs: CostTable, s: int, forest: Forest) -> PricedSource:
    """Return a source with the names of the features that need it."""
    names = [forest.names[k] for k in features_of(costs, s)]
    return PricedSource(costs.source_names[s], float(costs.price[s]), tuple(names))


def _has_one_source_each(costs: CostTable) -> bool:
    n_needs = np.diff(costs.needs_start)
    return bool(np.all(n_needs <= 1)) and np.unique(costs.needs).size == costs.needs.size


def _origin(about: About) -> Origin:
    return Origin(
        n_train=about.n_train,
        n_validation=about.n_validation,
        choices=about.choices,
        created=about.created,
        versions=dict(about.versions),
        model=about.model,
    )
