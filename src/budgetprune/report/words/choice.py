"""Sentences about the choice of a point: the recommended budget, and the way to get a model."""

from __future__ import annotations

import shlex
from pathlib import PurePath
from urllib.parse import quote

from budgetprune.report.numbers import amount, significant
from budgetprune.report.summary.common import SummaryBase
from budgetprune.report.summary.pruned import OperatingPoint, Summary
from budgetprune.report.summary.staged import StagedPoint, StagedSummary
from budgetprune.report.words.terms import Terms, value_text

# Kinds of models that `budgetprune fit` trains and prunes.
_FITTED = ("random-forest", "extra-trees", "lightgbm")


def recommendation(summary: Summary | StagedSummary, terms: Terms) -> str:
    """Name the recommended point and the reason; empty if there is none."""
    found = summary.recommendation
    if found is None:
        return ""
    if found.rule == "constant":
        priced = summary.error_costs is not None and isinstance(summary, StagedSummary)
        reason = (
            "no source is expected to save more than it costs"
            if priced
            else f"no point is clearly better than predicting {value_text(summary.guess)} for every row"
        )
        return f"No budget is recommended: in cross-fitting, {reason}."
    assert found.point is not None
    point = summary.points[found.point]
    start = f"Recommended: a budget of {_with_unit(point.budget or amount(found.best_cost), summary)}."
    if point.kind == "delivered":
        start = "Your model is the recommended point."
    if found.rule == "lowest total":
        return f"{start} In cross-fitting, it has the lowest total cost of {summary.source_kind} and errors."
    best = f"{terms.score(found.best_score)} at {terms.cost(found.best_cost)}"
    if found.rule == "knee":
        before = _rate(terms, found.score - found.cheapest_score, found.cost - found.cheapest_cost)
        after = _rate(terms, found.best_score - found.score, found.best_cost - found.cost)
        return (
            f"{start} It is the knee of the cross-fitted curve: up to there, a unit of cost buys {before} of "
            f"{terms.score_name} on average; from there to the best point ({best}), {after}."
        )
    error = terms.score_difference(found.standard_error) or "less than the digits shown"
    return (
        f"{start} It is the cheapest point whose cross-fitted {terms.score_name}, "
        f"{terms.score(found.score)}, is within one standard error ({error}) of the best, {best}."
    )


def _rate(terms: Terms, gained: float, cost: float) -> str:
    """Format a gain in score for a unit of cost."""
    rate = gained / cost if cost > 0 else 0.0
    return f"{significant(100 * rate)} points" if terms.is_accuracy else significant(rate)


def _with_unit(text: str, summary: SummaryBase) -> str:
    return f"{text} {summary.unit}".strip()


def use(point: OperatingPoint | StagedPoint) -> str:
    """Describe how to get a point as a model."""
    if point.kind in ("everything", "unpruned"):
        return "No budget selects this point: it is the reference of the comparison."
    if point.budget is None:
        return "No budget selects this point: another one is better and cheaper, or this one uses no feature."
    if point.kind == "delivered":
        return "This is your model. Move the slider to see other points. This command selects one again:"
    if isinstance(point, OperatingPoint):
        return "Your model file also contains this point, with leaf values as grown. This command selects it:"
    return "Your model file also contains this point. This command selects it, without training:"


def command(summary: SummaryBase, point: OperatingPoint | StagedPoint) -> str:
    """Return the command that selects a point; empty if there is none."""
    if point.budget is None:
        return ""
    model, out = summary.model_name, "OTHER"
    if model != "MODEL":
        name = PurePath(model)
        out = f"{name.stem}-{point.budget}{name.suffix}"
    return f"budgetprune rebudget {shlex.quote(model)} --budget {point.budget} --out {shlex.quote(out)}"


def refit_command(summary: Summary, point: OperatingPoint) -> str:
    """Return the command that prunes again for the budget of a point and refits the leaves; may be empty."""
    if point.budget is None or summary.origin is None:
        return ""
    is_fitted = summary.origin.model in _FITTED
    start = "fit TRAINING_ROWS" if is_fitted else "prune ENSEMBLE --data VALIDATION_ROWS"
    kind = f" --model {summary.origin.model}" if is_fitted else ""
    decided = " --decided" if summary.counting == "decided" else ""
    return (
        f"budgetprune {start} --target {shlex.quote(summary.target)} --costs PRICES{kind}{decided} --budget "
        f"{point.budget} --out OTHER"
    )


def download_link(summary: SummaryBase, point: OperatingPoint | StagedPoint) -> str:
    """Return the address of a point on the server that offers it; empty if there is none."""
    if point.budget is None:
        return ""
    return summary.download.replace("{budget}", quote(point.budget))
