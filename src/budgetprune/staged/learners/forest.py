"""Stages that are forests of scikit-learn: random trees on their own, which are averaged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from budgetprune.forest import Forest
from budgetprune.staged.data.sample import Sample, Scores
from budgetprune.staged.learners.constant import best_constant
from budgetprune.staged.learners.learner import Learner
from budgetprune.staged.learners.task import GrowTask, TreeSettings
from budgetprune.staged.learners.trees import GrownTrees, map_to_all_features, single_thread_scores
from budgetprune.staged.model.links import log_shares

# More trees make forests better, but only a little, and files larger.
N_TREES = 100
# Trees that are grown at a time; between batches, training may end because the time is over.
_BATCH = 10
# scikit-learn's forests compare numbers of 32 bits, and add them up to see whether all are finite.
_LARGEST = 1e30


class _GrownForest(GrownTrees):
    def __init__(self, forest: Forest, model: Any = None, columns: NDArray[np.intp] | None = None) -> None:
        self._forest, self.n_rounds = forest, forest.n_trees
        self.model, self.columns = model, columns

    def scores(self, rows: NDArray[np.float64]) -> Scores:
        found = single_thread_scores(self._forest, rows)
        return found if self._forest.classes is None else log_odds(found)

    def forest(self) -> Forest:
        return self._forest


class ForestLearner(Learner):
    """Random forests or extremely randomised trees; each stage stands alone.

    A forest of classes answers with shares of its trees' rows. `GrownTrees.scores` are logarithms, so that
    losses and calibration are those of boosted trees; the trees themselves answer with the shares.

    Parameters
    ----------
    boosted : Learner
        For what must be positive: forests cannot grow on a logarithmic scale.
    """

    name = "forest"
    decay = 0.0

    def __init__(self, boosted: Learner) -> None:
        self._boosted = boosted

    def grow(self, task: GrowTask) -> GrownTrees:
        return self._boosted.grow(task) if task.sample.kind == "positive" else super().grow(task)

    def _constant(self, task: GrowTask) -> GrownTrees:
        constant = super()._constant(task)
        if task.sample.kind == "regression":
            return constant
        return _GrownForest(_shares_of(task.sample, constant.forest()))

    def _grow(self, task: GrowTask) -> GrownTrees:
        sample, wanted = task.sample, min(task.n_rounds or task.settings.most_rounds, N_TREES)
        model = _model(task)
        rows = np.clip(sample.rows[:, task.columns], -_LARGEST, _LARGEST)
        n_trees = 0
        while n_trees < wanted and not (n_trees and task.is_over()):
            n_trees = min(wanted, n_trees + _BATCH)
            model.set_params(n_estimators=n_trees).fit(rows, sample.target, sample_weight=sample.weight)
        forest = map_to_all_features(Forest.from_model(model), task.columns, sample.columns)
        return _GrownForest(_summed(forest, sample), model, task.columns)

    def gains(self, grown: GrownTrees, n_features: int) -> NDArray[np.float64]:
        found = np.zeros(n_features)
        if isinstance(grown, _GrownForest) and grown.model is not None:
            found[grown.columns] = grown.model.feature_importances_
        return found


def log_odds(shares: NDArray[np.float64]) -> Scores:
    """Turn shares of classes into scores like those of boosted trees: two classes have one."""
    found = log_shares(shares)
    return found[:, 1:] - found[:, :1] if found.shape[1] == 2 else found


def forest_settings(n_rows: int) -> list[TreeSettings]:
    """List the settings that are tried: all thresholds or random ones, with small leaves and larger ones."""
    # A leaf for every other row, if there are few rows; large trees would make files large.
    usual = TreeSettings(n_leaves=int(np.clip(n_rows // 2, 8, 256)), most_rounds=N_TREES)
    return [
        replace(usual, extra=extra, least_rows=least_rows) for extra in (True, False) for least_rows in (2, 5)
    ]


def _model(task: GrowTask) -> Any:
    from sklearn.ensemble import (
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )

    settings, is_classifier = task.settings, task.sample.kind != "regression"
    kinds = {
        (True, True): ExtraTreesClassifier,
        (True, False): ExtraTreesRegressor,
        (False, True): RandomForestClassifier,
        (False, False): RandomForestRegressor,
    }
    return kinds[settings.extra, is_classifier](
        max_leaf_nodes=max(2, settings.n_leaves),
        min_samples_leaf=settings.least_rows,
        max_features="sqrt" if is_classifier else 0.5,
        warm_start=True,
        random_state=task.seed,
        n_jobs=task.n_threads,
    )


def _summed(forest: Forest, sample: Sample) -> Forest:
    """Let trees that are averaged add up to the average, as those of boosted stages add up."""
    value, classes = forest.value / forest.divisor, forest.classes
    if classes is not None:
        # Rows of some class may all be in another fold.
        n_classes = max(2, sample.n_outputs)
        own, value = value, np.zeros((len(value), n_classes))
        value[:, classes] = own
        classes = np.arange(n_classes)
    return replace(
        forest,
        value=value,
        base=np.zeros(value.shape[1]),
        classes=classes,
        divisor=1.0,
        tree_round=np.arange(forest.n_trees, dtype=np.int32),
        threshold=_float64_thresholds(forest.threshold),
        input_dtype=np.dtype(np.float64),
        # What only pruning uses would make files larger.
        class_weight=None,
        variance=None,
    )


def _float64_thresholds(threshold: NDArray[np.float64]) -> NDArray[np.float64]:
    """Find thresholds that tell numbers apart as the given ones do after rounding to 32 bits."""
    nearest = threshold.astype(np.float32)
    below = np.where(nearest > threshold, np.nextafter(nearest, np.float32(-np.inf)), nearest)
    above = np.nextafter(below, np.float32(np.inf))
    middle = (below.astype(np.float64) + above) / 2
    return np.where(middle.astype(np.float32) <= threshold, middle, np.nextafter(middle, -np.inf))


def _shares_of(sample: Sample, constant: Forest) -> Forest:
    """Turn a constant score into constant shares of classes."""
    score = best_constant(sample)
    shares = softmax(score) if score.size > 1 else np.append(expit(-score), expit(score))
    return replace(
        constant,
        value=np.zeros((1, shares.size)),
        tree_output=np.full(1, -1, dtype=np.int32),
        base=shares,
        link="identity",
        label_rule="argmax",
        loss=None,
    )
