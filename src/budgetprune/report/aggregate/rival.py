"""Comparison with another model on the same rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.report.aggregate.common import source_of
from budgetprune.report.aggregate.outcomes import SourceTable, outcome_fields
from budgetprune.report.measure.delivered import (
    Measurements,
    costs_of,
    curve_of,
    delivered_results,
    forest_measured,
)
from budgetprune.report.measure.staged import StagedMeasurements
from budgetprune.report.summary.outcome import Outcome
from budgetprune.report.summary.pruned import COUNTINGS, Counting
from budgetprune.report.summary.rival import Rival, RivalOutcome


def summarise_rival(own: Measurements, other: Measurements, name: str) -> Rival:
    """Compare the delivered model of a report with another one.

    Parameters
    ----------
    own, other : measurements of both models on the same rows
    name : name of the other model
    """
    _check_same_answers(own, other, name)
    is_staged = isinstance(other, StagedMeasurements)
    has_full = not is_staged and not isinstance(own, StagedMeasurements)
    outcomes = {
        counting: _outcome(own, other, counting)
        for counting in COUNTINGS
        if has_full or counting == "decided"
    }
    forest, costs = forest_measured(other), costs_of(other)
    return Rival(
        name=name,
        kind="staged" if is_staged else "pruned",
        sources=tuple(source_of(costs, s, forest) for s in other.source_order.tolist()),
        full=outcomes.get("full"),
        decided=outcomes["decided"],
    )


def _check_same_answers(own: Measurements, other: Measurements, name: str) -> None:
    """Raise unless both models predict the same labels, or both numbers."""
    ours, theirs = own.rows.classes, other.rows.classes
    if (ours is None) != (theirs is None):
        raise InvalidInputError(f"{name} cannot be compared: one model predicts classes, the other numbers.")
    if ours is not None and theirs is not None and set(ours.tolist()) != set(theirs.tolist()):
        raise InvalidInputError(f"{name} cannot be compared: the two models predict different labels.")


def _outcome(own: Measurements, other: Measurements, counting: Counting) -> RivalOutcome:
    ours, theirs = delivered_results(own, counting), delivered_results(other, counting)
    costs = costs_of(other)
    # The shares of our sources, by the index of the other model's source of the same name.
    share = dict(zip(costs_of(own).source_names, ours.share.tolist(), strict=True))
    reference = replace(ours, share=np.array([share.get(source, 0.0) for source in costs.source_names]))
    sources = SourceTable(costs.source_names, costs.price, other.source_order)
    outcome = Outcome(**outcome_fields(theirs, reference, own.rows, sources))
    total = replace(outcome.reference, n_acquired=float(ours.share.sum()))
    n_own, n_other = _disagreement(ours.score, theirs.score) if own.rows.classes is not None else (None, None)
    cost, score = zip(*curve_of(other, counting), strict=True)
    return RivalOutcome(replace(outcome, reference=total), n_own, n_other, cost, score)


def _disagreement(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> tuple[int, int]:
    """Count the rows that only one of the models predicts rightly."""
    return int(np.count_nonzero(ours > theirs)), int(np.count_nonzero(theirs > ours))
