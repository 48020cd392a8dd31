"""Outcomes of the stages of a staged model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetprune.report.measure.stopping import StagedStoppingRule, StoppedRows
from budgetprune.report.summary.staged import Comparison, NextStage, StageOutcome, StageRule


def stage_outcomes(
    stopped: StoppedRows, expected_stops: NDArray[np.float64] | None
) -> tuple[StageOutcome, ...]:
    """Return the outcomes of the stages that rows can reach.

    Parameters
    ----------
    stopped : StoppedRows
    expected_stops : cross-fitted share of the rows that stop at each stage
    """
    rule, score = stopped.rule, stopped.predictions.score
    n_stages = rule.n_reachable
    stops = reached = None
    if expected_stops is not None:
        # Thresholds differ between folds, so some rows may have gone further.
        stops = np.append(expected_stops[: n_stages - 1], expected_stops[n_stages - 1 :].sum())
        reached = np.cumsum(stops[::-1])[::-1]
    found = []
    for k in range(n_stages):
        is_here, kind = stopped.stage == k, stage_rule(rule, k)
        found.append(
            StageOutcome(
                reached=float(np.mean(stopped.stage >= k)),
                stops=float(is_here.mean()),
                score_stops=float(score[is_here, k].mean()) if is_here.any() else None,
                score_all=float(score[:, k].mean()),
                stops_by_class=_stops_by_class(stopped, k),
                expected_reached=None if reached is None else float(reached[k]),
                expected_stops=None if stops is None else float(stops[k]),
                rule=kind,
                threshold=float(rule.thresholds[k]) if kind == "threshold" else None,
                next=_next_stage(stopped, k) if k < rule.last else None,
            )
        )
    return tuple(found)


def _stops_by_class(stopped: StoppedRows, k: int) -> tuple[float | None, ...] | None:
    """Return the share of the rows of each class that stop at a stage."""
    rows = stopped.predictions.rows
    if rows.matrix_classes is None:
        return None
    is_class = [rows.truth == c for c in rows.matrix_classes.named]
    return tuple(float(np.mean(stopped.stage[each] == k)) if each.any() else None for each in is_class)


def stage_rule(rule: StagedStoppingRule, k: int) -> StageRule:
    """Return which rows go on from a stage."""
    threshold = float(rule.thresholds[k])
    if k == rule.price.size - 1:
        return "last"
    if np.isposinf(threshold):
        return "stop"
    if k == rule.last:
        return "limit"
    return "continue" if np.isneginf(threshold) else "threshold"


def _next_stage(stopped: StoppedRows, k: int) -> NextStage:
    """Compare stopping at a stage with going on."""
    rule, loss, stage = stopped.rule, stopped.predictions.loss, stopped.stage
    further = rule.paid[stage] - rule.paid[k]
    price = np.full(stage.size, rule.price[k + 1])
    return NextStage(
        stage=k + 1,
        reached=_comparison(stage >= k, loss[:, k], stopped.loss, further),
        continued=_comparison(stage > k, loss[:, k], stopped.loss, further),
        stopped=_comparison(stage == k, loss[:, k], loss[:, k + 1], price),
    )


def _comparison(
    is_in: NDArray[np.bool_],
    stopping: NDArray[np.float64],
    going_on: NDArray[np.float64],
    cost: NDArray[np.float64],
) -> Comparison | None:
    counts = is_in & np.isfinite(stopping)
    if not counts.any():
        return None
    before, after, paid = (float(values[counts].mean()) for values in (stopping, going_on, cost))
    saved = (before - after) / paid if paid > 0 else None
    return Comparison(int(counts.sum()), before, after, paid, saved)
