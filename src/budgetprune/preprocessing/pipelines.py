"""Division of a Pipeline of scikit-learn into its preprocessing and its model."""

from __future__ import annotations

from typing import Any

from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from budgetprune.errors import UnsupportedModelError


def split_pipeline(model: Any) -> tuple[Any, Any]:
    """Return the transformer before the model of a Pipeline, fitted or not, and the model.

    The transformer is a Pipeline of the same steps; None if there is nothing before the model, or if `model`
    is no Pipeline.
    """
    if isinstance(model, CalibratedClassifierCV) and _is_pipeline(model.estimator):
        raise UnsupportedModelError(
            "this CalibratedClassifierCV is around a Pipeline, so the columns that its trees need cannot be "
            "found. Calibrate the model alone, after the preprocessing: make_pipeline(preprocessing, "
            "CalibratedClassifierCV(model, method='sigmoid', ensemble=False))."
        )
    if not isinstance(model, Pipeline):
        return None, model
    *before, (name, last) = model.steps
    if last is None or isinstance(last, str):
        raise UnsupportedModelError(
            f"the last step of the Pipeline, {name!r}, must be a model, not {last!r}."
        )
    inner, last = split_pipeline(last.estimator if isinstance(last, FrozenEstimator) else last)
    if inner is None:
        return (model[:-1], last) if before else (None, last)
    return Pipeline([*before, (name, inner)]), last


def _is_pipeline(model: Any) -> bool:
    return isinstance(model.estimator if isinstance(model, FrozenEstimator) else model, Pipeline)


def join_pipeline(model: Any, transformer: Any, last: Any) -> Any:
    """Return a Pipeline of a transformer and a model, with the name that the model has in another "
    "Pipeline."""
    return Pipeline([*transformer.steps, (model.steps[-1][0], last)])
