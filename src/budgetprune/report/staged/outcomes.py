"""Create the outcomes of points and stages."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetprune.report.numbers import short
from budgetprune.report.outcomes import difference, figures
from budgetprune.report.staged.measure import Followed
from budgetprune.report.staged.summary import Next, StagedOutcome, StagedWords, StageOutcome, Trade
from budgetprune.report.staged.words import StagedLanguage


def outcome(
    followed: Followed,
    everything: Followed,
    words: StagedWords,
    price: NDArray[np.float64],
    listed: NDArray[np.intp],
) -> StagedOutcome:
    """Describe a point, compared with acquiring all sources on the same rows."""
    loss = followed.loss
    return StagedOutcome(
        **figures(followed.taken, everything.taken, followed.seen.judge, price, listed),
        loss=short(float(np.nanmean(loss))) if np.isfinite(loss).any() else None,
        words=words,
    )


def gained_by(followed: Followed, everything: Followed) -> tuple[float, float]:
    """Return the difference in score to acquiring all sources, and its standard error."""
    return difference(followed.taken, everything.taken)


def stage_outcomes(
    followed: Followed, expected_stops: NDArray[np.float64] | None, language: StagedLanguage
) -> tuple[StageOutcome, ...]:
    """Describe the stages that rows can reach.

    Parameters
    ----------
    followed : Followed
    expected_stops : cross-fitted share of the rows that stop at each stage
    language : StagedLanguage
    """
    rule, quality = followed.rule, followed.seen.quality
    n_stages = rule.n_reachable
    stops = reached = None
    if expected_stops is not None:
        # Thresholds differ between folds, so some rows may have gone further.
        stops = np.append(expected_stops[: n_stages - 1], expected_stops[n_stages - 1 :].sum())
        reached = np.cumsum(stops[::-1])[::-1]
    found = []
    for k in range(n_stages):
        is_here, threshold = followed.stage == k, float(rule.thresholds[k])
        is_end = k == n_stages - 1
        goes_on = "none" if is_end else "all" if np.isneginf(threshold) else "some"
        found.append(
            StageOutcome(
                reached=short(float(np.mean(followed.stage >= k))),
                stops=short(is_here.mean()),
                score_stops=short(quality[is_here, k].mean()) if is_here.any() else None,
                score_all=short(quality[:, k].mean()),
                expected_reached=None if reached is None else short(reached[k]),
                expected_stops=None if stops is None else short(stops[k]),
                goes_on=goes_on,  # type: ignore[arg-type]
                threshold=short(threshold) if goes_on == "some" else None,
                rule=language.rule(rule, k),
                next=_next(followed, k) if k < rule.last else None,
            )
        )
    return tuple(found)


def _next(followed: Followed, k: int) -> Next:
    """Compare stopping at a stage with going on."""
    rule, loss, stage = followed.rule, followed.seen.loss, followed.stage
    further = rule.paid[stage] - rule.paid[k]
    price = np.full(stage.size, rule.price[k + 1])
    return Next(
        stage=k + 1,
        there=_trade(stage >= k, loss[:, k], followed.loss, further),
        on=_trade(stage > k, loss[:, k], followed.loss, further),
        stay=_trade(stage == k, loss[:, k], loss[:, k + 1], price),
    )


def _trade(
    is_in: NDArray[np.bool_],
    stopping: NDArray[np.float64],
    going_on: NDArray[np.float64],
    cost: NDArray[np.float64],
) -> Trade | None:
    counts = is_in & np.isfinite(stopping)
    if not counts.any():
        return None
    before, after, paid = (float(values[counts].mean()) for values in (stopping, going_on, cost))
    saved = short((before - after) / paid) if paid > 0 else None
    return Trade(int(counts.sum()), short(before), short(after), short(paid), saved)
