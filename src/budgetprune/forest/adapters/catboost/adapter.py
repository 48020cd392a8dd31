"""Adapter of CatBoost. The library itself is imported only to load a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from budgetprune.errors import InvalidInputError
from budgetprune.forest.adapter import Adapter
from budgetprune.forest.adapters.catboost import reader
from budgetprune.forest.adapters.catboost.document import loss_of
from budgetprune.forest.adapters.catboost.importer import from_catboost, with_categories_of
from budgetprune.forest.adapters.catboost.objective import RANKING

if TYPE_CHECKING:
    from budgetprune.forest.forest import Forest

_CLASSES = ("CatBoost", "CatBoostClassifier", "CatBoostRegressor", "CatBoostRanker")


class CatBoostAdapter(Adapter):
    """Models of CatBoost, which are imported only."""

    name, title = "catboost", "CatBoost"
    importers = dict.fromkeys((f"catboost.{each}" for each in _CLASSES), from_catboost)
    suffixes = (".cbm",)
    reader = reader

    def check_content(self, content: bytes) -> None:
        if not content.startswith(b"CBM1"):
            raise InvalidInputError("it is not a model that CatBoost saved (save_model, format cbm).")

    def is_ranking_model(self, model: Any) -> bool:
        return loss_of(model) in RANKING

    def with_categories_of(self, forest: Forest, tables: Sequence[Any]) -> Forest:
        return with_categories_of(forest, tables)
