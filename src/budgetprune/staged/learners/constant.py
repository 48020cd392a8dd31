"""`ConstantScore`: the same scores for all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import Forest
from budgetprune.staged.data.sample import Kind, LearningSample, Scores
from budgetprune.staged.learners.trees import GrownTrees

_LINKS: dict[Kind, Any] = {
    "binary": "logistic",
    "multiclass": "softmax",
    "regression": "identity",
    "positive": "exp",
}
_LOSSES: dict[Kind, Any] = {
    "binary": "logistic",
    "multiclass": "softmax",
    "regression": "squared",
    "positive": "gamma",
}


class ConstantScore(GrownTrees):
    """The best constant score, as a tree with a single leaf."""

    n_rounds = 1

    def __init__(self, sample: LearningSample, start: Scores | None) -> None:
        self._base = np.zeros(sample.n_outputs) if start is not None else best_constant(sample)
        self._sample = sample

    def scores(self, rows: NDArray[np.float64]) -> Scores:
        return np.tile(self._base, (len(rows), 1))

    def forest(self) -> Forest:
        about, kind = self._sample.columns, self._sample.kind
        none = np.full(1, -1)
        return Forest(
            tree_start=np.array([0, 1]),
            parent=none,
            left=none,
            right=none,
            feature=none,
            threshold=np.full(1, np.nan),
            missing_left=np.zeros(1, dtype=np.bool_),
            category_set=none,
            category_start=np.zeros(1, dtype=np.int64),
            category_bits=np.zeros(0, dtype=np.uint32),
            value=np.zeros((1, 1)),
            weight=np.full(1, float(len(self._sample))),
            class_weight=None,
            variance=None,
            tree_output=np.zeros(1, dtype=np.int32),
            base=self._base,
            divisor=1.0,
            link=_LINKS[kind],
            label_rule="likeliest" if kind == "binary" else "argmax",
            classes=_class_numbers(self._sample),
            n_features=about.n_features,
            feature_names=about.names,
            input_dtype=np.dtype(np.float64),
            missing="nan",
            origin=None,
            origin_node=np.zeros(1, dtype=np.int32),
            loss=_LOSSES[kind],
            tree_round=np.zeros(1, dtype=np.int32),
            categories=about.categories,
        )


def _class_numbers(sample: LearningSample) -> NDArray[np.intp] | None:
    if sample.kind not in ("binary", "multiclass"):
        return None
    return np.arange(max(2, sample.n_outputs))


def best_constant(sample: LearningSample) -> NDArray[np.float64]:
    """Compute the constant score with the lowest loss: log odds (smoothed), or the mean."""
    if sample.kind in ("binary", "multiclass"):
        n_classes = max(2, sample.n_outputs)
        share = np.bincount(sample.target, weights=sample.weight, minlength=n_classes)
        share = np.log((share + 0.5) / (share.sum() + 0.5 * n_classes))
        return np.asarray(share[1:] - share[:1] if sample.n_outputs == 1 else share - share.mean())
    mean = np.average(sample.target, weights=sample.weight)
    return np.array([np.log(mean) if sample.kind == "positive" else mean])
