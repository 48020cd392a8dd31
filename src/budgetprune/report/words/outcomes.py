"""Sentences about an outcome, shared by the reports of all models."""

from __future__ import annotations

import numpy as np

from budgetprune.report.numbers import (
    SMALL_SHARE,
    amount,
    joined,
    pluralize,
    share,
    significant,
    trimmed_amount,
)
from budgetprune.report.summary.outcome import Outcome, SourceShare
from budgetprune.report.words.terms import TWO_SIGMA, Terms, value_text

# Costs from this multiple on are told as multiples, not in per cent.
_MANY_TIMES = 3


def value(terms: Terms, name: str, outcome: Outcome) -> str:
    """Name a point with its cost and score."""
    score = terms.score(outcome.score)
    return f"{name}: cost {terms.cost(outcome.cost)}, {terms.score_name} {score}"


def compared_with_reference(
    terms: Terms, outcome: Outcome, n_rows: int, way: str = "", subject: str = "it"
) -> str:
    """Compare cost and score with those of the reference, and say whether the difference is significant.

    Parameters
    ----------
    terms : Terms
    outcome : Outcome
    n_rows : int
    way : how the costs of both are counted
    subject : name of the model
    """
    saved = cost_change(outcome.cost, outcome.reference.cost, terms.reference)
    start = f"{way}, {subject}" if way else subject
    text = (
        f"{start[0].upper()}{start[1:]} costs {terms.cost(outcome.cost)} per prediction{saved}, and "
        f"{reached(terms, outcome.score, n_rows)}. {score_change(terms, outcome, n_rows)}"
    )
    return text + same_answers(outcome, n_rows)


def constant(name: str, outcome: Outcome) -> str:
    """Describe a model that uses no feature."""
    answer = value_text(outcome.only_answer)
    return f"{name} is a constant: it uses no feature, costs nothing and predicts {answer} for every row."


def same_answers(outcome: Outcome, n_rows: int) -> str:
    """Warn if a model predicts the same for all rows; else return an empty string."""
    if outcome.only_answer is None or n_rows == 1:
        return ""
    return f" It predicts {value_text(outcome.only_answer)} for all of these rows, as a constant would."


def reached(terms: Terms, score: float, n_rows: int) -> str:
    """State a score."""
    if terms.is_accuracy:
        return f"gets {round(score * n_rows):,} of {pluralize(n_rows, 'row')} right ({terms.score(score)})"
    return f"reaches an {terms.score_name} of {terms.score(score)}"


def cost_change(cost: float, before: float, than: str) -> str:
    """Compare a cost with another; empty if the other is 0."""
    if not before > 0:
        return ""
    change = cost / before - 1
    if abs(change) < SMALL_SHARE:
        return f", as much as {than}"
    if change > _MANY_TIMES - 1:
        return f", {significant(cost / before)} times as much as {than} ({amount(before)})"
    return f", {share(abs(change))} {'less' if change < 0 else 'more'} than {than} ({amount(before)})"


def score_change(terms: Terms, outcome: Outcome, n_rows: int) -> str:
    """Compare the score with that of the reference, and say whether the difference is significant."""
    gained, gained_error = outcome.gained, outcome.gained_error
    if gained == 0:
        return f"That is as good as {terms.reference} on these rows."
    difference, margin = terms.comparison(gained, gained_error)
    text = f"That is {difference} than {terms.reference}"
    if abs(gained) <= TWO_SIGMA * gained_error:
        return f"{text}, which is within the random error on {pluralize(n_rows, 'row')} ({margin})."
    return f"{text}, which is more than the random error on {pluralize(n_rows, 'row')} ({margin})."


def spread(outcome: Outcome) -> str:
    """Describe the distribution of cost."""
    median, ninetieth, most = outcome.median, outcome.ninetieth, outcome.largest
    if outcome.smallest == most:
        text = f"Every row costs {trimmed_amount(most)}."
    elif median == most:
        text = f"At least half of the rows cost {trimmed_amount(most)}, none more."
    elif ninetieth == most:
        text = (
            f"Half of the rows cost at most {trimmed_amount(median)}, none more than {trimmed_amount(most)}."
        )
    else:
        half = f"Half of the rows cost at most {trimmed_amount(median)}, nine in ten at most "
        start = half if median < ninetieth else "Nine in ten rows cost at most "
        text = f"{start}{trimmed_amount(ninetieth)}, the most expensive row {trimmed_amount(most)}."
    if 0 < outcome.free < 1:
        text += f" {share(outcome.free)} cost nothing."
    if outcome.undecided > 0:
        text += f" {share(outcome.undecided)} reached the cost limit before they were decided."
    return text


def errors(terms: Terms, outcome: Outcome, n_rows: int) -> str:
    """Describe the errors."""
    if outcome.confusion is None:
        return f"Predictions are off by {significant(outcome.mean_error or 0.0)} on average."
    n_wrong = outcome.n_wrong or 0
    if not n_wrong:
        return f"All {n_rows:,} rows are right." if n_rows > 1 else "The only row is right."
    text = f"{pluralize(n_wrong, 'row')} of {n_rows:,} {'is' if n_wrong == 1 else 'are'} wrong."
    matrix = np.array(outcome.confusion)
    np.fill_diagonal(matrix, 0)
    true, predicted = np.unravel_index(matrix.argmax(), matrix.shape)
    n_most = int(matrix[true, predicted])
    if n_most:
        assert terms.class_names is not None
        times = {1: "once", 2: "twice"}.get(n_most, f"{n_most:,} times")
        text += (
            f" The most frequent mistake: {terms.class_names[true]} predicted as "
            f"{terms.class_names[predicted]}, {times}."
        )
    return text


def source_list(sources: tuple[SourceShare, ...], of: str = "") -> str:
    """List sources with their shares."""
    return joined([f"{each.source} ({share(each.share)}{of})" for each in sources])


def score_lost(terms: Terms, lost: float) -> str:
    """State how much score is lost, or gained if `lost` is negative."""
    difference = terms.score_difference(lost)
    if not difference:
        return f"no {terms.score_name} is lost"
    verb = "are" if difference.endswith("points") else "is"
    return f"{difference} {verb} {'lost' if lost > 0 else 'gained'}"
