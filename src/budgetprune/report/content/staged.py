"""Content of the report of a staged model."""

from __future__ import annotations

from budgetprune.report.content.common import (
    Content,
    measures_content,
    optional,
    outcome_content,
    recommendation_content,
    sources_content,
    target_content,
)
from budgetprune.report.content.rival import rival_content
from budgetprune.report.numbers import short, short_amount
from budgetprune.report.summary.staged import (
    ChainStage,
    Comparison,
    ExampleStep,
    NextStage,
    StagedExample,
    StagedPoint,
    StagedSummary,
    StageOutcome,
)
from budgetprune.report.words import choice
from budgetprune.report.words import outcomes as outcome_words
from budgetprune.report.words import staged as words
from budgetprune.report.words.notes import staged_notes
from budgetprune.report.words.terms import Terms, title, value_text, values_text


def staged_content(summary: StagedSummary) -> Content:
    """Return the content of a report: rounded numbers and sentences."""
    terms = words.staged_terms(summary)
    return {
        "format": 2,
        "model": "staged",
        "title": title(summary),
        "target": summary.target,
        "task": summary.task,
        "score_name": summary.score_name,
        "unit": summary.unit,
        "noun": summary.source_kind,
        "counting": "decided",
        "budget": summary.budget,
        "max_cost": summary.max_cost,
        "loss_kind": summary.loss_kind,
        "uncertainty_name": words.uncertainty_name(summary),
        "n_rows": summary.n_rows,
        "n_point_rows": summary.n_sample_rows,
        "n_trees": summary.n_trees,
        "n_features": summary.n_features,
        "n_curve_points": summary.n_curve_points,
        **sources_content(summary),
        "chains": [[_chain_stage(stage) for stage in chain] for chain in summary.chains],
        **target_content(summary),
        "points": [_point(summary, terms, point) for point in summary.points],
        "delivered": summary.delivered,
        "stories": [_example(summary, terms, example) for example in summary.examples],
        **recommendation_content(summary, terms),
        "rival": rival_content(summary, terms),
        "headline": words.staged_headline(summary),
        "notes": staged_notes(summary),
    }


def _chain_stage(stage: ChainStage) -> Content:
    return {
        "sources": stage.sources,
        "price": short_amount(stage.price),
        "paid": short_amount(stage.paid),
        "score": short(stage.score),
    }


def _point(summary: StagedSummary, terms: Terms, point: StagedPoint) -> Content:
    name = words.staged_point_name(summary, point)
    return {
        "kind": point.kind,
        "name": name,
        "chain": point.chain,
        "lam": point.lam,
        "budget": point.budget,
        "download": choice.download_link(summary, point),
        "expected_cost": optional(point.expected_cost),
        "expected_score": optional(point.expected_score),
        "expected_score_std": optional(point.expected_score_std),
        "n_rows": point.n_rows,
        "decided": outcome_content(point.outcome)
        | measures_content(terms, point.outcome, point.n_rows)
        | {
            "loss": optional(point.outcome.loss),
            "words": {
                "value": outcome_words.value(terms, name, point.outcome),
                "verdict": words.staged_verdict(summary, terms, point),
                "stages": words.stopping_stages(summary, point),
                "next": words.next_stage(summary, point),
                "bought": words.staged_acquired(terms, point),
                "wrong": words.staged_errors(summary, terms, point),
                "use": choice.use(point),
                "command": choice.command(summary, point),
                "refit_command": "",
            },
        },
        "stages": [_stage(summary, stage) for stage in point.stages],
    }


def _stage(summary: StagedSummary, stage: StageOutcome) -> Content:
    return {
        "reached": short(stage.reached),
        "stops": short(stage.stops),
        "score_stops": optional(stage.score_stops),
        "score_all": short(stage.score_all),
        "stops_by_class": None
        if stage.stops_by_class is None
        else [optional(share) for share in stage.stops_by_class],
        "expected_reached": optional(stage.expected_reached),
        "expected_stops": optional(stage.expected_stops),
        "goes_on": {"continue": "all", "threshold": "some"}.get(stage.rule, "none"),
        "threshold": optional(stage.threshold),
        "rule": words.stage_rule(summary, stage),
        "next": None if stage.next is None else _next(stage.next),
    }


def _next(following: NextStage) -> Content:
    return {
        "stage": following.stage,
        "there": _comparison(following.reached),
        "on": _comparison(following.continued),
        "stay": _comparison(following.stopped),
    }


def _comparison(comparison: Comparison | None) -> Content | None:
    if comparison is None:
        return None
    return {
        "n_rows": comparison.n_rows,
        "stopping": short(comparison.stopping),
        "going_on": short(comparison.going_on),
        "cost": short_amount(comparison.cost),
        "saved": optional(comparison.saved),
    }


def _example(summary: StagedSummary, terms: Terms, example: StagedExample) -> Content:
    return {
        "title": words.staged_example_title(summary, example),
        "row": example.row,
        "truth": value_text(example.truth),
        "answer": value_text(example.answer),
        "is_right": example.is_right,
        "cost": short_amount(example.cost),
        "steps": [_step(summary, step) for step in example.steps],
        "ending": words.with_all_sources(terms, example),
    }


def _step(summary: StagedSummary, step: ExampleStep) -> Content:
    return {
        "sources": step.sources,
        "values": values_text(step.values),
        "cost": short_amount(step.cost),
        "answer": value_text(step.answer),
        "probability": optional(step.probability),
        "expected_error": optional(step.expected_error),
        "uncertainty": short(step.uncertainty),
        "threshold": optional(step.threshold),
        "goes_on": step.goes_on,
        "why": words.step_reason(summary, step),
    }
