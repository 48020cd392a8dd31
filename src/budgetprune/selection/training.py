"""Training of the ensemble inside an estimator: its seed, its weights, the feature names of its forest."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import has_fit_parameter

from budgetprune.errors import InvalidInputError, UnsupportedModelError
from budgetprune.forest import Forest, adapter_of, are_stored_names, find_adapter
from budgetprune.preprocessing import split_pipeline


def supported_model(estimator: Any) -> Any:
    """Return the model to be trained, if it can become a `Forest`.

    It may be inside a frozen estimator, or at the end of a pipeline.
    """
    if isinstance(estimator, FrozenEstimator):
        estimator = estimator.estimator
    elif not hasattr(estimator, "fit") or isinstance(estimator, type):
        name = estimator.__name__ if isinstance(estimator, type) else type(estimator).__name__
        raise UnsupportedModelError(
            f"estimator must be a model with a fit method, not {name}; write "
            + (f"{name}(...)." if isinstance(estimator, type) else "FrozenEstimator(model) if it is fitted.")
        )
    model = split_pipeline(estimator)[1]
    find_adapter(model)
    return model


def set_open_parameters(model: Any, random: np.random.RandomState | None, n_jobs: int | None) -> None:
    """Set `random_state` and `n_jobs` of a model where they are None and a value is given."""
    parameters = model.get_params()
    if random is not None and parameters.get("random_state", 0) is None:
        model.set_params(random_state=random.randint(np.iinfo(np.int32).max))
    if n_jobs is not None and parameters.get("n_jobs", 0) is None:
        model.set_params(n_jobs=n_jobs)


def train(model: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    """Fit a model, with weights if there are any, and return it."""
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    if weights and not has_fit_parameter(model, "sample_weight"):
        raise InvalidInputError(f"{type(model).__name__} takes no sample_weight; leave it out.")
    adapter = adapter_of(model)
    with nullcontext() if adapter is None else adapter.training(model, X):
        return model.fit(X, y, **weights)


def with_names(forest: Forest, names: tuple[str, ...] | None) -> Forest:
    """Return the forest with the user's feature names, unless it was trained with other names.

    A model may have been trained on arrays, or its library may store names in another form.
    """
    stored = forest.feature_names
    if stored is None or (names is not None and are_stored_names(stored, names)):
        return replace(forest, feature_names=names)
    return forest
