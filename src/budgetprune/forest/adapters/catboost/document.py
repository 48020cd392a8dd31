"""Models in CatBoost's JSON format."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.forest.adapters.catboost.features import (
    Features,
    read_features,
    refuse_features,
    refuse_statistics,
)
from budgetprune.forest.adapters.catboost.objective import loss_name
from budgetprune.forest.adapters.catboost.parts import Parts, Splits
from budgetprune.forest.adapters.catboost.trees import Trees, nested_trees, oblivious_trees
from budgetprune.forest.damage import check_model, damaged


class SavedModel(NamedTuple):
    """A model in CatBoost's JSON."""

    features: Features
    information: dict[str, Any]
    splits: Splits
    trees: Trees
    scale: float
    bias: NDArray[np.float64]


def read_model(model: Any) -> SavedModel:
    """Save a fitted model as JSON and read it; raise if a Forest cannot express it."""
    parts = Parts()
    document, features = _read(model, parts.collect)
    scale, bias = document["scale_and_bias"]
    bias = np.atleast_1d(np.asarray(bias, dtype=np.float64))
    splits = parts.splits(features)
    is_oblivious = "oblivious_trees" in document
    trees = document["oblivious_trees" if is_oblivious else "trees"]
    check_model(isinstance(trees, list) and bool(trees), "it has no trees")
    return SavedModel(
        features,
        document["model_info"],
        splits,
        oblivious_trees(trees, splits, bias.size)
        if is_oblivious
        else nested_trees(trees, parts.nodes(bias.size), splits),
        float(scale),
        bias,
    )


def features_of(model: Any) -> Features:
    """Read the features of a fitted model."""
    return _read(model, Parts().collect)[1]


def loss_of(model: Any) -> str:
    """Name of the loss function of a fitted model."""
    return loss_name(_read(model, Parts().collect)[0]["model_info"])


def _read(model: Any, hook: Callable[[dict[str, Any]], Any]) -> tuple[dict[str, Any], Features]:
    """Save a model as JSON, which CatBoost writes to files only, and read it with a hook for objects."""
    if not model.is_fitted():
        raise InvalidInputError(f"this {type(model).__name__} is not fitted; call its fit first.")
    names = list(map(str, model.feature_names_))
    refuse_features(model, names)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "model.json")
        try:
            model.save_model(str(file), format="json")
        except (OSError, MemoryError):
            raise
        except Exception as error:  # CatBoostError, whose module is not imported here
            raise InvalidInputError(
                f"this {type(model).__name__} cannot be saved as JSON ({str(error).partition(': ')[2]})."
            ) from error
        content = file.read_bytes()
    try:
        document = json.loads(content, object_hook=hook)
    except RecursionError as error:
        raise damaged("its trees are too deep") from error
    features = read_features(document["features_info"], names)
    refuse_statistics(document["features_info"], features, names)
    return document, features
