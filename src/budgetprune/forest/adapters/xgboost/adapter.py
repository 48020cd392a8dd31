"""Adapter of XGBoost. The library itself is imported only to load or write a model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.forest.adapter import Adapter
from budgetprune.forest.adapters.xgboost import reader
from budgetprune.forest.adapters.xgboost.exporter import to_xgboost
from budgetprune.forest.adapters.xgboost.importer import from_xgboost
from budgetprune.forest.adapters.xgboost.model import check_document
from budgetprune.forest.damage import errors_as_damage

if TYPE_CHECKING:
    from budgetprune.forest.forest import Forest

_CLASSES = ("Booster", "XGBClassifier", "XGBRegressor", "XGBRFClassifier", "XGBRFRegressor", "XGBRanker")


class XGBoostAdapter(Adapter):
    """Boosters and scikit-learn estimators of XGBoost."""

    name, title = "xgboost", "XGBoost"
    importers = dict.fromkeys((f"xgboost.{each}" for each in _CLASSES), from_xgboost)
    suffixes = (".json", ".ubj")
    reader = reader

    def export(self, forest: Forest, **options: Any) -> Any:
        self.check_origin(forest)
        return to_xgboost(forest)

    def is_ranking_model(self, model: Any) -> bool:
        booster = model.get_booster() if hasattr(model, "get_booster") else model
        objective = json.loads(booster.save_config())["learner"]["objective"]["name"]
        return str(objective).startswith("rank:")

    def encode_labels(self, y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """XGBoost takes only labels 0, 1, ..., n_classes - 1."""
        classes, numbers = np.unique(y, return_inverse=True)
        return numbers, classes

    def check_content(self, content: bytes) -> None:
        if not content.startswith(b"{"):
            raise InvalidInputError("it is not a model that XGBoost saved (Booster.save_model).")

    def check_saved(self, content: bytes) -> None:
        with errors_as_damage("XGBoost model"):
            check_document(json.loads(content))
