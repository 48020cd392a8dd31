"""Assembly of a chain from trained stages: calibration, sources and out-of-fold results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from budgetprune.costs import CostTable
from budgetprune.forest import Forest
from budgetprune.staged.fitting.expected_error import add_expected_error
from budgetprune.staged.fitting.out_of_fold import collect_results
from budgetprune.staged.fitting.spec import FitSpec
from budgetprune.staged.learners.calibration import best_scale
from budgetprune.staged.learners.forest import log_odds
from budgetprune.staged.learners.losses import mean_loss
from budgetprune.staged.model.chain import Chain, Stage
from budgetprune.staged.model.links import link_of, probabilities
from budgetprune.staged.ordering.acquired_sources import AcquiredSources
from budgetprune.staged.stopping.out_of_fold import OutOfFoldResults
from budgetprune.staged.training.trainer import CrossFitted, StageTrainer


def assemble_chain(
    spec: FitSpec, found: CrossFitted, trainer: StageTrainer
) -> tuple[Chain, OutOfFoldResults]:
    """Calibrate the stages; return the chain and its out-of-fold results."""
    sample, acquired = spec.sample, AcquiredSources(spec.costs)
    link = link_of(found.forests[0])
    stages, outputs, losses = [], [], []
    for k, sources in enumerate(_needed_sources(spec.costs, found.forests)):
        stage = Stage(sources, replace(found.forests[k], classes=spec.classes))
        scores = found.scores[k]
        if not stage.forest.n_splits and k == 0:
            # A constant first stage has the same scores for all rows. Scores that differ between folds would
            # let a stopping rule separate the folds.
            scores = np.tile(stage.forest.base, (len(sample), 1))
            scores = log_odds(scores) if link == "shares" else scores
        if link == "identity":
            # Features of the plan that no tree tests are not acquired.
            acquired.has[list(sources)] = True
            stage, seen = add_expected_error(spec, stage, acquired.columns(), scores, trainer)
        else:
            stage = replace(stage, scale=best_scale(sample, scores))
            seen = probabilities(scores * stage.scale, "logistic" if sample.kind == "binary" else "softmax")
        stages.append(stage)
        outputs.append(seen)
        losses.append(mean_loss(sample, scores * stage.scale))
    price = np.array([spec.costs.price[list(stage.sources)].sum() for stage in stages])
    # The training loss is less noisy than the number of errors.
    best = int(np.argmin(losses))
    return Chain(tuple(stages), trainer.learner.decay, link), collect_results(spec, outputs, price, best)


def _needed_sources(costs: CostTable, forests: Sequence[Forest]) -> list[tuple[int, ...]]:
    """List the sources that each stage needs in addition; planned sources that no tree uses are left out."""
    has = costs.price == 0
    found = []
    for forest in forests:
        needed = costs.needed_by(forest.used_features)
        found.append(tuple(np.flatnonzero(needed & ~has).tolist()))
        has |= needed
    return found
