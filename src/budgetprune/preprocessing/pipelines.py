"""Division of a Pipeline of scikit-learn into its preprocessing and its model."""

from __future__ import annotations

from typing import Any

from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from budgetprune.errors import UnsupportedModelError


def split_pipeline(model: Any) -> tuple[Any, Any]:
    """Return the transformer before the model of a Pipeline, fitted or not, and the model.

    The transformer is a Pipeline of the same steps; None if there is nothing before the model, or if `model`
    is no Pipeline.
    """
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


def join_pipeline(model: Any, transformer: Any, last: Any) -> Any:
    """Return a Pipeline of a transformer and a model, with the name that the model has in another "
    "Pipeline."""
    return Pipeline([*transformer.steps, (model.steps[-1][0], last)])
