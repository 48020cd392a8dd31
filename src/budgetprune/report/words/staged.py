"""Sentences about a staged model."""

from __future__ import annotations

import math

import numpy as np

from budgetprune.report.numbers import SMALL_SHARE, amount, joined, share, significant, trimmed_amount
from budgetprune.report.summary.staged import (
    ExampleStep,
    LossKind,
    StagedExample,
    StagedPoint,
    StagedSummary,
    StageOutcome,
)
from budgetprune.report.words.outcomes import (
    compared_with_reference,
    constant,
    errors,
    reached,
    same_answers,
    score_change,
    score_lost,
    source_list,
)
from budgetprune.report.words.terms import Terms, terms_of, value_text

# Number of stages named in a sentence.
MOST_NAMED = 3
_UNCERTAINTIES: dict[LossKind, str] = {
    "errors": "probability of an error",
    "cost": "expected cost of errors",
    "log loss": "entropy",
    "squared error": "expected error",
}
_MOST_DIGITS = 8


def staged_terms(summary: StagedSummary) -> Terms:
    """Return the terms of the report of a staged model."""
    return terms_of(summary, f"the same model with all {summary.source_kind}")


def uncertainty_name(summary: StagedSummary) -> str:
    """Return the name of the quantity that thresholds apply to."""
    return _UNCERTAINTIES[summary.loss_kind]


# --- The whole report ---------------------------------------------------------------------------------------


def staged_headline(summary: StagedSummary) -> str:
    """Compare the model with acquiring all sources, on the same rows."""
    terms = staged_terms(summary)
    point = summary.points[summary.delivered]
    own, everything = point.outcome, summary.points[-1].outcome
    compared = (
        f"If it buys {_all_sources(terms, everything.n_acquired)} of its stages for every row, it costs "
        f"{terms.cost(everything.cost)} and reaches {terms.score(everything.score)}."
    )
    if point.is_constant:
        score = f"Its {terms.score_name} is {terms.score(own.score)}."
        start = f"{constant('Your model', own)} {score}"
        return f"{start} {compared}" if everything.cost > 0 else start
    if not everything.cost > 0:
        return f"Your model costs nothing, and reaches an {terms.score_name} of {terms.score(own.score)}."
    text = (
        f"Your model costs {terms.cost(own.cost)} per prediction on average, and reaches an "
        f"{terms.score_name} of {terms.score(own.score)}.{same_answers(own, point.n_rows)} {compared}"
    )
    if own.cost < everything.cost:
        lost = score_lost(terms, everything.score - own.score)
        text += f" So {share(1 - own.cost / everything.cost)} of the cost is saved, and {lost}."
    if summary.loss_kind == "cost":
        own_total, other_total = (each.cost + _loss(each.loss) for each in (own, everything))
        text += (
            f" With the cost of errors, the total is {terms.cost(own_total)} instead of "
            f"{terms.cost(other_total)}."
        )
    return text


def _all_sources(terms: Terms, n_acquired: float) -> str:
    number = round(n_acquired)
    few = {1: f"the only {terms.source}", 2: f"both {terms.sources}"}
    return few.get(number, f"all {number} {terms.sources}")


def _loss(loss: float | None) -> float:
    return math.nan if loss is None else loss


# --- One point ----------------------------------------------------------------------------------------------


def staged_point_name(summary: StagedSummary, point: StagedPoint) -> str:
    """Name a point."""
    if point.kind == "delivered":
        return "Your model"
    if point.kind == "everything":
        return f"All {summary.source_kind}"
    return f"Point {point.number} of {summary.n_curve_points}"


def staged_verdict(summary: StagedSummary, terms: Terms, point: StagedPoint) -> str:
    """Compare a point with acquiring all sources, and with stopping all rows at one stage."""
    outcome = point.outcome
    if point.kind == "everything":
        text = reached(terms, outcome.score, point.n_rows)
        if not round(outcome.n_acquired):
            return f"The stages of your model buy nothing. It {text}."
        return (
            f"Every row buys {_all_sources(terms, outcome.n_acquired)} of the stages of your model: "
            f"{terms.cost(outcome.cost)} per prediction. That {text}."
        )
    if point.is_constant:
        score = f"It {reached(terms, outcome.score, point.n_rows)}."
        return f"{constant('This model', outcome)} {score} {score_change(terms, outcome, point.n_rows)}"
    text = compared_with_reference(terms, outcome, point.n_rows)
    k = point.cheapest_equal
    if k is None:
        return f"{text} No single stage is as good for all of these rows."
    return (
        f"{text} The cheapest single stage that is as good for all of these rows is stage {k}, at "
        f"{terms.cost(summary.chains[point.chain][k].paid)} per row."
    )


def stopping_stages(summary: StagedSummary, point: StagedPoint) -> str:
    """Describe where rows stop, and how many stop because of `max_cost`."""
    stages = summary.chains[point.chain]
    stops = np.array([stage.stops for stage in point.stages])
    top = [k for k in np.argsort(-stops, kind="stable")[:MOST_NAMED].tolist() if stops[k] >= SMALL_SHARE]
    if stops.max() == 1:
        return f"All rows stop at stage {top[0]} (cost {trimmed_amount(stages[top[0]].paid)})."
    named = [f"{share(stops[k])} at stage {k} (cost {trimmed_amount(stages[k].paid)})" for k in sorted(top)]
    named[0] = named[0].replace(" at stage", " of the rows stop at stage", 1)
    rest = 1 - float(stops[top].sum())
    others = f"; the other {share(rest)} stop at other stages" if rest >= SMALL_SHARE else ""
    text = f"{joined(named)}{others}."
    if point.outcome.undecided > 0:
        limit = trimmed_amount(summary.max_cost or 0.0)
        text += f" {share(point.outcome.undecided)} would go on, but a row may cost at most {limit}."
    return text


def next_stage(summary: StagedSummary, point: StagedPoint) -> str:
    """Describe the loss that going on must save at a point."""
    if point.is_fixed or point.lam is None:
        return "At this point all rows stop at the same stage."
    if not point.lam > 0:
        return "At this point rows go on if any saving is expected, at any cost."
    worth = {
        "errors": f"{significant(100 * point.lam)} errors per 100 rows",
        "cost": f"{significant(point.lam)} of the cost of errors",
        "log loss": f"{significant(point.lam)} of the log loss",
        "squared error": f"{significant(point.lam)} of the squared error",
    }[summary.loss_kind]
    text = f"At this point rows go on if a unit of cost is expected to save at least {worth}."
    if summary.loss_kind == "cost" and point.is_best:
        text += " In cross-fitting, this point had the lowest total cost of sources and errors."
    return text


def staged_acquired(terms: Terms, point: StagedPoint) -> str:
    """Describe which sources are acquired."""
    if not point.n_stage_sources:
        return "The stages buy nothing: they use free sources only."
    number = terms.n_sources(point.outcome.n_acquired)
    text = f"A row buys {number} on average, of {point.n_stage_sources} in the stages."
    if point.outcome.top_sources:
        text += f" The highest costs are those of {source_list(point.outcome.top_sources)}."
    return text


def staged_errors(summary: StagedSummary, terms: Terms, point: StagedPoint) -> str:
    """Describe the errors, and their cost if they have one."""
    text = errors(terms, point.outcome, point.n_rows)
    if summary.loss_kind == "cost":
        text += f" Errors cost {terms.cost(_loss(point.outcome.loss))} per prediction."
    return text


# --- Stages -------------------------------------------------------------------------------------------------


def stage_rule(summary: StagedSummary, stage: StageOutcome) -> str:
    """Describe which rows go on from a stage."""
    if stage.threshold is not None:
        return f"above {uncertainty(summary, stage.threshold)}"
    return {
        "last": "the last stage",
        "stop": "all stop",
        "limit": f"limit of {trimmed_amount(summary.max_cost or 0.0)} per row",
        "continue": "all go on",
    }[stage.rule]


def uncertainty(summary: StagedSummary, value: float, n_digits: int = 3) -> str:
    """Format an uncertainty; of a squared error, its root."""
    if summary.loss_kind == "errors":
        return f"{100 * value:.{n_digits - 2}f} %"
    if summary.loss_kind == "squared error":
        value = value**0.5
    in_three = amount if summary.loss_kind == "cost" else significant
    text = in_three(value) if n_digits == 3 else f"{value:.{n_digits}g}"
    return f"{text} {summary.unit}".strip() if summary.loss_kind == "cost" else text


def _compared_uncertainties(summary: StagedSummary, first: float, second: float) -> tuple[str, str]:
    """Format two uncertainties with enough digits to differ."""
    for n_digits in range(3, _MOST_DIGITS + 1):
        texts = uncertainty(summary, first, n_digits), uncertainty(summary, second, n_digits)
        if texts[0] != texts[1] or first == second:
            break
    return texts


# --- Single rows --------------------------------------------------------------------------------------------


def staged_example_title(summary: StagedSummary, example: StagedExample) -> str:
    """Return the title of an example."""
    is_classifier = summary.task == "classification"
    return {
        "typical": "A correct prediction" if is_classifier else "A small error",
        "early": "A row that stops early",
        "middle": "A row that stops midway",
        "late": "A row that stops late",
        "wrong": "A wrong prediction" if is_classifier else "A large error",
        "avoidable": "A wrong prediction that all sources would correct"
        if is_classifier
        else "A large error that all sources would reduce",
    }[example.kind]


def step_reason(summary: StagedSummary, step: ExampleStep) -> str:
    """Describe why a row stopped at a stage or went on."""
    if step.threshold is not None and step.reason in ("above", "below"):
        own, limit = _compared_uncertainties(summary, step.uncertainty, step.threshold)
        name = uncertainty_name(summary)
        if step.reason == "below":
            return f"Stopped because the {name}, {own}, is not above {limit}."
        return f"Went on because the {name}, {own}, is above {limit}."
    limit = trimmed_amount(summary.max_cost or 0.0)
    return {
        "last": "Stopped because this is the last stage.",
        "free": "Went on because the next stage costs nothing.",
        "stop": "Stopped because no row goes on from here at this budget.",
        "limit": f"Stopped because the next stage would exceed the limit of {limit}.",
        "continue": "Went on because all rows do so at this stage and budget.",
    }[step.reason]


def with_all_sources(terms: Terms, example: StagedExample) -> str:
    """Describe the answer to a row with all sources acquired; empty if it has acquired all."""
    if not example.full_cost > example.cost:
        return ""
    answer = value_text(example.full_answer)
    return f"With all sources, for {terms.cost(example.full_cost)}, the answer would be {answer}."
