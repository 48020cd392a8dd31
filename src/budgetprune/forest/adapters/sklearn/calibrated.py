"""Importer for calibrated classifiers of scikit-learn: a sigmoid or a temperature of one ensemble.

Both are linear before the logistic function or the softmax, so the leaves can be rescaled. Others, such as
isotonic functions or the mean of several calibrated classifiers, are no link of a sum of trees.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest.adapters.sklearn.common import check_fitted
from budgetprune.forest.forest import Forest
from budgetprune.forest.registry import import_model

ADVICE = (
    "Calibrate with method='sigmoid' and ensemble=False (or around FrozenEstimator(model)), or prune the "
    "model "
    "inside and calibrate the pruned one: CalibratedClassifierCV(FrozenEstimator(pruned)), where pruned "
    "is the result of to_sklearn()."
)


def from_calibrated(model: Any) -> Forest:
    """Convert a CalibratedClassifierCV around one ensemble.

    The forest has no origin, because it cannot be exported to scikit-learn.
    """
    check_fitted(model)
    calibrated = model.calibrated_classifiers_
    if len(calibrated) > 1:
        raise UnsupportedModelError(
            f"this CalibratedClassifierCV averages {len(calibrated)} classifiers (ensemble=True), each "
            f"with its own calibration, which no sum of trees does. {ADVICE}"
        )
    (only,) = calibrated
    if len(model.classes_) != 2 or only.method not in ("sigmoid", "temperature"):
        raise UnsupportedModelError(
            f"this CalibratedClassifierCV has method={only.method!r} and {len(model.classes_)} classes; "
            "only two classes with method='sigmoid', or method='temperature' of scores before the logistic "
            f"function, can become a Forest. {ADVICE}"
        )
    inner = only.estimator
    inner = inner.estimator if isinstance(inner, FrozenEstimator) else inner
    forest = import_model(inner)
    if only.method == "sigmoid":
        (calibrator,) = only.calibrators
        # p = 1 / (1 + exp(a f + b)) for a score f
        return _logistic(model, forest, inner, -float(calibrator.a_), -float(calibrator.b_))
    if not hasattr(inner, "decision_function"):
        raise UnsupportedModelError(
            f"a temperature of the probabilities of a {type(inner).__name__} is no link of a sum of trees. "
            f"{ADVICE}"
        )
    # The two classes have the scores -f and f, so the probability of the second is logistic(2 beta f).
    return _logistic(model, forest, inner, 2 * float(only.calibrators[0].beta_), 0.0)


def _logistic(model: Any, forest: Forest, inner: Any, factor: float, offset: float) -> Forest:
    """Return the forest whose probability is the logistic function of factor * f + offset.

    The score f is what scikit-learn calibrates: the decision function of a model that has one, else the
    probability of the second class.
    """
    if hasattr(inner, "decision_function"):
        if forest.link != "logistic":
            raise UnsupportedModelError(
                f"the scores of this {type(inner).__name__} cannot be calibrated here. {ADVICE}"
            )
        value, base, tree_round = forest.value, forest.base, forest.tree_round
    elif forest.link == "identity":  # an average of probabilities
        value = forest.value[:, [1]] / forest.divisor
        base = forest.base[[1]] / forest.divisor
        tree_round = np.arange(forest.n_trees, dtype=np.int32)
    else:
        raise UnsupportedModelError(
            f"the probabilities of a {type(inner).__name__}, which is boosted, were calibrated, and not "
            f"its scores; that is no link of a sum of trees. {ADVICE}"
        )
    return replace(
        forest,
        value=factor * value,
        base=factor * base + offset,
        tree_output=np.zeros(forest.n_trees, dtype=np.int32),
        tree_round=tree_round,
        divisor=1.0,
        link="logistic",
        label_rule="likeliest",
        classes=model.classes_,
        class_weight=None,
        variance=None,
        split_gain=None,
        loss="logistic",
        origin=None,
    )
