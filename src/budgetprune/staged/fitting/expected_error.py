"""Model of the expected squared error of a stage, for regression."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from budgetprune.staged.fitting.spec import FitSpec
from budgetprune.staged.learners.task import GrowTask, ValidationRows
from budgetprune.staged.model.chain import Stage
from budgetprune.staged.training.trainer import StageTrainer


def add_expected_error(
    spec: FitSpec, stage: Stage, columns: NDArray[np.intp], scores: NDArray[np.float64], trainer: StageTrainer
) -> tuple[Stage, NDArray[np.float64]]:
    """Learn the expected squared error of a stage from out-of-fold errors.

    Returns the stage and its out-of-fold outputs.
    """
    sample, learner, settings = spec.sample, trainer.learner, trainer.settings[0]
    error = (sample.target - scores[:, 0]) ** 2
    least = max(1e-6 * float(error.mean()), np.finfo(np.float64).tiny)
    squares = replace(sample, target=np.maximum(error, least), kind="positive")
    simple = replace(settings, n_leaves=8, most_rounds=60, least_rows=max(settings.least_rows, 20))
    if not columns.size:
        # Without features, the expected error is constant, and the same for all folds.
        constant = learner.grow(GrowTask(squares, columns, None, None, simple))
        outputs = np.column_stack([scores[:, 0], np.exp(constant.scores(sample.rows)[:, 0])])
        return replace(stage, spread=constant.forest()), outputs
    seen = np.empty(len(sample))
    n_rounds = 0
    for i, (train, test) in enumerate(spec.folds):
        task = GrowTask(
            squares.take(train),
            columns,
            None,
            n_rounds if i else None,
            simple,
            validation=ValidationRows(squares.take(test), None),
            n_threads=spec.n_jobs,
            is_over=spec.deadline.is_over,
        )
        grown = learner.grow(task)
        n_rounds = max(grown.n_rounds, 1)
        seen[test] = grown.scores(sample.rows[test])[:, 0]
    final = learner.grow(GrowTask(squares, columns, None, n_rounds, simple, n_threads=spec.n_jobs))
    outputs = np.column_stack([scores[:, 0], np.exp(seen)])
    return replace(stage, spread=final.forest()), outputs
