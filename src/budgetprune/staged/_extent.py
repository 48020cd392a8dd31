"""How many stages, folds and chains there is time for."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from budgetprune.staged._learner import FEWEST_ROUNDS
from budgetprune.staged._order import Shop, Trials
from budgetprune.staged._training import speed_up
from budgetprune.staged._work import Work

MOST_STAGES = 20
# If the time is limited, there are fewer stages and folds, so that each stage has time for so many rounds.
USUAL_STAGES, FEWEST_STAGES, FEWEST_FOLDS, ROUNDS_OF_STAGE = 10, 5, 2, 40


@dataclass(frozen=True)
class Extent:
    """How much there is time for.

    Attributes
    ----------
    n_stages, n_folds, n_chains : int
        At most. A chain for the budget that is asked for is trained in any case.
    is_hurried : whether each stage has one setting only
    """

    n_stages: int
    n_folds: int
    n_chains: int
    is_hurried: bool


def choose_extent(work: Work, trials: Trials, n_chains: int, left: float) -> Extent:
    """Choose how many stages, folds and chains there may be: each stage should have time for enough rounds.

    Parameters
    ----------
    work : Work
    trials : Trials
        By which the time of a round is measured.
    n_chains : int
    left : seconds for the training of all chains; infinite if the time is not limited
    """
    n_folds = len(work.folds)
    everything = Extent(MOST_STAGES, n_folds, n_chains, is_hurried=False)
    if left == np.inf:
        return everything
    began = time.monotonic()
    trials.grow(Shop(work.costs).offered_columns(), None, FEWEST_ROUNDS)
    seconds = (time.monotonic() - began) / FEWEST_ROUNDS * len(work.sample) / len(trials.train)
    n_stages = left * speed_up(work.n_jobs) / max(seconds * ROUNDS_OF_STAGE, 1e-9)
    few = min(n_folds, FEWEST_FOLDS)
    # What is given up first: many stages, then folds, then settings, then further chains.
    for extent in (
        replace(everything, n_stages=USUAL_STAGES),
        Extent(USUAL_STAGES, few, n_chains, is_hurried=False),
        Extent(USUAL_STAGES, few, n_chains, is_hurried=True),
        Extent(USUAL_STAGES, few, 1, is_hurried=True),
        Extent(FEWEST_STAGES, few, 1, is_hurried=True),
    ):
        n_times = extent.n_chains * (extent.n_folds + (1 if extent.is_hurried else 2))
        if n_stages / n_times >= extent.n_stages:
            break
    return replace(extent, n_stages=int(np.clip(n_stages / n_times, extent.n_stages, MOST_STAGES)))
