"""Content of the report of a pruned model."""

from __future__ import annotations

from dataclasses import asdict

from budgetprune.report.content.common import (
    Content,
    measures_content,
    outcome_content,
    recommendation_content,
    rounded,
    sources_content,
    target_content,
)
from budgetprune.report.content.rival import rival_content
from budgetprune.report.numbers import short, short_amount
from budgetprune.report.summary.pruned import (
    Change,
    Counting,
    ExampleRow,
    OperatingPoint,
    Prediction,
    Summary,
    Tree,
)
from budgetprune.report.words import choice
from budgetprune.report.words import outcomes as outcome_words
from budgetprune.report.words import pruned as words
from budgetprune.report.words.notes import pruned_notes
from budgetprune.report.words.terms import Terms, title, value_text


def pruned_content(summary: Summary) -> Content:
    """Return the content of a report: rounded numbers and sentences."""
    terms = words.pruned_terms(summary)
    return {
        "format": 2,
        "title": title(summary),
        "target": summary.target,
        "task": summary.task,
        "score_name": summary.score_name,
        "unit": summary.unit,
        "noun": summary.source_kind,
        "counting": summary.counting,
        "budget": summary.budget,
        "n_rows": summary.n_rows,
        "n_path_rows": summary.n_sample_rows,
        "n_trees": summary.n_trees,
        "n_features": summary.n_features,
        "n_path_points": summary.n_path_points,
        **sources_content(summary),
        **target_content(summary),
        "points": [_point(summary, terms, point) for point in summary.points],
        "delivered": summary.delivered,
        "refit_note": words.refit_note(summary),
        "expected": None if summary.expected is None else asdict(summary.expected),
        "stories": [_example(summary, example) for example in summary.examples],
        "tree": _tree(summary.tree),
        **recommendation_content(summary, terms),
        "rival": rival_content(summary, terms),
        "headline": words.pruned_headline(summary),
        "notes": pruned_notes(summary),
    }


def _point(summary: Summary, terms: Terms, point: OperatingPoint) -> Content:
    return {
        "kind": point.kind,
        "name": words.point_name(summary, point),
        "lam": point.lam,
        "budget": point.budget,
        "download": choice.download_link(summary, point),
        "n_splits": point.n_splits,
        "n_features": point.n_features,
        "full": _outcome(summary, terms, point, "full"),
        "decided": _outcome(summary, terms, point, "decided"),
        "usage": rounded(point.usage, 4),
        "tellings": [_prediction(terms, prediction) for prediction in point.predictions],
        "tree": words.tree_left(summary.tree, point),
    }


def _outcome(summary: Summary, terms: Terms, point: OperatingPoint, counting: Counting) -> Content:
    name, outcome = words.point_name(summary, point), point.outcome(counting)
    return (
        outcome_content(outcome)
        | measures_content(terms, outcome, point.n_rows)
        | {
            "more": _change(outcome.more),
            "less": _change(outcome.less),
            "words": {
                "value": outcome_words.value(terms, name, outcome),
                "verdict": words.verdict(terms, point, counting),
                "spread": outcome_words.spread(outcome),
                "bought": words.acquired(terms, outcome),
                "wrong": outcome_words.errors(terms, outcome, point.n_rows),
                "more": words.change(terms, outcome.more, outcome.cost, is_more=True),
                "less": words.change(terms, outcome.less, outcome.cost, is_more=False),
                "use": choice.use(point),
                "command": choice.command(summary, point),
                "refit_command": choice.refit_command(summary, point),
            },
        }
    )


def _change(change: Change) -> Content:
    return {
        "budget": change.budget,
        "point": change.point,
        "is_within": change.is_within,
        "cost": change.cost,
        "gained": change.gained,
        "gained_error": change.gained_error,
        "expected": change.expected,
    }


def _prediction(terms: Terms, prediction: Prediction) -> Content:
    return {
        "answer": value_text(prediction.answer),
        "is_right": prediction.is_right,
        "cost": short_amount(prediction.cost),
        "full_cost": short_amount(prediction.full_cost),
        "reason": prediction.reason,
        "ending": words.ending(terms, prediction),
        "cut": None if prediction.cut is None else short(prediction.cut),
        "n_bought": prediction.n_acquired,
        "sources": prediction.sources,
        "known": [{"features": step.features, "n_more": step.n_more} for step in prediction.known],
        "lower": rounded(prediction.lower),
        "upper": rounded(prediction.upper),
        "guess": rounded(prediction.guess),
    }


def _example(summary: Summary, example: ExampleRow) -> Content:
    return {
        "title": words.example_title(summary, example),
        "row": example.row,
        "truth": value_text(example.truth),
        "values": {str(k): f"{each.name} {value_text(each.value)}" for k, each in example.values.items()},
    }


def _tree(tree: Tree) -> Content:
    return {
        "number": tree.number,
        "n_splits": tree.n_splits,
        "parent": tree.parent,
        "question": [words.question(split) for split in tree.split],
        "answer": [words.node_value(value) for value in tree.value],
        "refitted": [words.node_value(value) for value in tree.refitted],
        "critical_lambda": tree.critical_lambda,
        "is_delivered": tree.is_delivered,
    }
