"""Training and prediction time of staged models, relative to LightGBM with the same settings."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.compare.staged import least_hessian
from benchmarks.measure import busy_cores, seconds, seconds_in_turns, stage, times
from budgetprune import BudgetClassifier
from budgetprune_experiments.split import Split

N_ROWS = 100_000
N_JOBS = 2
# Number of repeats; the median is reported.
REPEATS = 5


def speed_lines(split: Split) -> list[str]:
    """Measure on a quiet machine, and with one busy core. Nothing else should run meanwhile."""
    lines = []
    for n_busy, when in ((0, "quiet"), (1, "one core busy")):
        with busy_cores(n_busy):
            lines += [f"{when + ',':15}{line}" for line in _measured(split)]
    return lines


def _measured(split: Split) -> Iterator[str]:
    rows = split.train_and_val
    model = BudgetClassifier(random_state=split.seed, n_jobs=N_JOBS)
    with stage("training a staged model"):
        own, _ = seconds(partial(model.fit, rows.X, rows.y))
    peer = _same_settings(model)
    with stage("training LightGBM"):
        taken = seconds_in_turns({"peer": partial(peer.fit, rows.X, rows.y)}, REPEATS)["peer"]
    yield (
        f"fit / LightGBM once ({peer.num_leaves} leaves, {peer.n_estimators} rounds, {len(rows):,} rows): "
        f"{own / taken:.1f} ({times(own, taken)})"
    )
    X = np.resize(split.test.X, (N_ROWS, split.test.X.shape[1]))
    middle = float(np.median(model.tradeoff_.cost))
    runs: dict[str, Any] = {
        f"budget {middle:.3g}": partial(model.with_budget(middle).predict, X),
        "no budget": partial(model.with_budget(None).predict, X),
        "peer": partial(peer.booster_.predict, X, num_threads=N_JOBS),
    }
    for run in runs.values():
        run()  # kernels are compiled, threads are started
    with stage(f"predicting {N_ROWS:,} rows"):
        found = seconds_in_turns(runs, REPEATS)
    taken = found.pop("peer")
    for budget, own in found.items():
        yield (
            f"predict / LightGBM's predict, {N_ROWS:,} rows, {budget}: "
            f"{own / taken:.2f} ({times(own, taken)})"
        )


def _same_settings(model: BudgetClassifier) -> Any:
    """LightGBM with the settings of the last stage, on all features."""
    from lightgbm import LGBMClassifier

    forest = model.model_.chain.stages[-1].forest
    n_splits = np.add.reduceat(forest.is_split.astype(np.int64), forest.tree_start[:-1])
    settings = model.settings_[-1]  # of the stage that has all features
    return LGBMClassifier(
        # A stage may have fewer leaves than the settings say.
        num_leaves=int(n_splits.max()) + 1,
        n_estimators=forest.n_trees // forest.n_outputs,
        learning_rate=settings.learning_rate,
        min_child_samples=settings.least_rows,
        min_child_weight=least_hessian(model),
        extra_trees=settings.extra,
        random_state=0,
        n_jobs=N_JOBS,
        verbose=-1,
    )
