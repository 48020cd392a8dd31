"""Learner with scikit-learn's random forests and extremely randomised trees."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import Forest
from budgetprune.staged.data.sample import LearningSample, Scores
from budgetprune.staged.learners.constant import best_constant
from budgetprune.staged.learners.learner import Learner
from budgetprune.staged.learners.task import GrowTask, TreeSettings
from budgetprune.staged.learners.trees import GrownTrees, map_to_all_features, single_thread_scores
from budgetprune.staged.model.links import log_shares
from budgetprune.utils.special import expit, softmax

# More trees improve forests little and make files larger.
N_TREES = 100
# Number of trees per batch; the deadline is checked between batches.
_BATCH = 10
# scikit-learn's forests convert rows to float32 and check that their sum is finite.
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
    """Random forests or extremely randomised trees; each stage is a model of its own.

    The trees of a classification forest predict class shares. `GrownTrees.scores` returns their logarithms,
    so that losses and calibration are the same as for boosted trees.

    Parameters
    ----------
    boosted : Learner
        Used for positive targets, because forests cannot fit logarithms of the mean.
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
    """Convert class shares to scores as of boosted trees, with one score for two classes."""
    found = log_shares(shares)
    return found[:, 1:] - found[:, :1] if found.shape[1] == 2 else found


def forest_settings(n_rows: int) -> list[TreeSettings]:
    """List the settings to compare: random or best thresholds, smaller and larger leaves."""
    # The maximum keeps model files small; with few rows, there is at most one leaf per two rows.
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


def _summed(forest: Forest, sample: LearningSample) -> Forest:
    """Divide the values of averaged trees by their number, so that they are summed as boosted trees are."""
    value, classes = forest.value / forest.divisor, forest.classes
    if classes is not None:
        # A class may have no rows in this fold.
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
        # Only pruning uses these; without them, files are smaller.
        class_weight=None,
        variance=None,
    )


def _float64_thresholds(threshold: NDArray[np.float64]) -> NDArray[np.float64]:
    """Find thresholds that split float64 values as the given ones split them after rounding to float32."""
    nearest = threshold.astype(np.float32)
    below = np.where(nearest > threshold, np.nextafter(nearest, np.float32(-np.inf)), nearest)
    above = np.nextafter(below, np.float32(np.inf))
    middle = (below.astype(np.float64) + above) / 2
    return np.where(middle.astype(np.float32) <= threshold, middle, np.nextafter(middle, -np.inf))


def _shares_of(sample: LearningSample, constant: Forest) -> Forest:
    """Convert a constant score to constant class shares."""
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
