"""Content that the reports of pruned and of staged models share. Keys are those of the JSON output."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from budgetprune.report.numbers import short, short_amount
from budgetprune.report.summary.common import SummaryBase
from budgetprune.report.summary.outcome import ClassMeasures, CostHistogram, Outcome, ProbabilityMeasures
from budgetprune.report.summary.pruned import Summary
from budgetprune.report.summary.staged import StagedSummary
from budgetprune.report.words.choice import recommendation
from budgetprune.report.words.measures import error_prices, fact_names, facts, probabilities
from budgetprune.report.words.terms import Terms, matrix_names, value_text

Content = dict[str, Any]


def outcome_content(outcome: Outcome) -> Content:
    """Return the numbers of an outcome."""
    return {
        "cost": short_amount(outcome.cost),
        "median": short_amount(outcome.median),
        "ninetieth": short_amount(outcome.ninetieth),
        "largest": short_amount(outcome.largest),
        "bars": _bars(outcome.costs),
        "n_bought": short(outcome.n_acquired),
        "bought": _lines(outcome),
        "score": short(outcome.score),
        "score_error": short(outcome.score_error, 3),
        "gained": short(outcome.gained),
        "gained_error": short(outcome.gained_error, 3),
        "n_wrong": outcome.n_wrong,
        "mean_off": optional(outcome.mean_error),
        "error_cost": optional(outcome.error_cost),
        "by_class": None if outcome.by_class is None else [_class(each) for each in outcome.by_class],
        "probabilities": _probabilities(outcome.probabilities),
        "confusion": outcome.confusion,
        "residuals": outcome.residuals,
        "undecided": short(outcome.undecided, 3),
    }


def measures_content(terms: Terms, outcome: Outcome, n_rows: int) -> Content:
    """Return the measures of an outcome as text."""
    n_classes = len(terms.class_names or ())
    return {
        "facts": facts(terms, outcome, n_rows),
        "probability_words": probabilities(terms, outcome, n_classes),
    }


def sources_content(summary: SummaryBase) -> Content:
    """Return the sources of a report."""
    return {"sources": [asdict(source) for source in summary.sources]}


def recommendation_content(summary: Summary | StagedSummary, terms: Terms) -> Content:
    """Return the recommended point and the reason."""
    found = summary.recommendation
    return {
        "recommended": None if found is None else found.point,
        "recommendation": recommendation(summary, terms),
    }


def target_content(summary: SummaryBase) -> Content:
    """Return the classes or the bins of residuals, and the best constant prediction."""
    return {
        "classes": matrix_names(summary),
        "named_classes": summary.classes,
        "residual_edges": None if summary.residual_edges is None else rounded(summary.residual_edges),
        "error_costs": summary.error_costs,
        "error_prices": error_prices(summary),
        "fact_names": fact_names(summary),
        "guess": value_text(summary.guess),
        "guess_score": short(summary.guess_score),
    }


def rounded(numbers: Iterable[float], n_digits: int = 5) -> tuple[float, ...]:
    """Round numbers to significant digits."""
    return tuple([short(number, n_digits) for number in numbers])


def optional(number: float | None) -> float | None:
    """Round a number to significant digits; None stays None."""
    return None if number is None else short(number)


def _class(measures: ClassMeasures) -> Content:
    return {
        "n_rows": measures.n_rows,
        "n_predicted": measures.n_predicted,
        "recall": optional(measures.recall),
        "precision": optional(measures.precision),
    }


def _probabilities(measures: ProbabilityMeasures | None) -> Content | None:
    if measures is None:
        return None
    calibration = measures.calibration
    return {
        "n_rows": measures.n_rows,
        "auc": optional(measures.auc),
        "log_loss": short(measures.log_loss),
        "calibration": {
            "label": calibration.label,
            "predicted": rounded([each.predicted for each in calibration.bins], 4),
            "observed": rounded([each.observed for each in calibration.bins], 4),
            "n_rows": [each.n_rows for each in calibration.bins],
            "error": short(calibration.error, 4),
        },
    }


def _lines(outcome: Outcome) -> Content:
    lines, others = outcome.lines, outcome.others
    return {
        "sources": [line.source for line in lines],
        "of_rows": rounded([line.share for line in lines], 3),
        "cost": [short_amount(line.cost) for line in lines],
        "reference_of_rows": rounded([line.reference_share for line in lines], 3),
        "reference_cost": [short_amount(line.reference_cost) for line in lines],
        "others": {
            "number": others.number,
            "of_rows": short(others.largest_share, 3),
            "cost": short_amount(others.cost),
            "reference_cost": short_amount(others.reference_cost),
        },
    }


def _bars(costs: CostHistogram) -> Content:
    return {
        "left": tuple(map(short_amount, costs.left)),
        "width": short_amount(costs.width),
        "share": rounded(costs.share, 4),
        "is_open": costs.is_open,
    }
