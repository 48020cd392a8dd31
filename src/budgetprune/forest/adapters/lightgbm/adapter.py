"""Adapter of LightGBM. The library itself is imported only to load or write a model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from budgetprune.errors import InvalidInputError
from budgetprune.forest.adapter import Adapter
from budgetprune.forest.adapters.lightgbm import reader
from budgetprune.forest.adapters.lightgbm.exporter import to_lightgbm
from budgetprune.forest.adapters.lightgbm.importer import check_text, from_booster, from_estimator
from budgetprune.forest.damage import errors_as_damage
from budgetprune.utils.threads import boosting_threads

if TYPE_CHECKING:
    from budgetprune.forest.forest import Forest

_IMPORTERS = {
    "lightgbm.Booster": from_booster,
    "lightgbm.LGBMClassifier": from_estimator,
    "lightgbm.LGBMRegressor": from_estimator,
    "lightgbm.LGBMRanker": from_estimator,
}


class LightGBMAdapter(Adapter):
    """Boosters and scikit-learn estimators of LightGBM."""

    name, title = "lightgbm", "LightGBM"
    importers = _IMPORTERS
    suffixes = (".txt",)
    reader = reader

    def export(self, forest: Forest, **options: Any) -> Any:
        self.check_origin(forest)
        return to_lightgbm(forest)

    def is_ranking_model(self, model: Any) -> bool:
        lines = getattr(model, "booster_", model).model_to_string(num_iteration=1).splitlines()
        objective = next((line for line in lines if line.startswith("objective=")), "")
        return objective.removeprefix("objective=").split(" ")[0] in ("lambdarank", "rank_xendcg")

    @contextmanager
    def training(self, model: Any, X: Any) -> Iterator[None]:
        """Train with `boosting_threads` unless the model sets its number of threads."""
        if model.n_jobs is not None:
            yield
            return
        model.n_jobs = boosting_threads(X)
        try:
            yield
        finally:
            model.n_jobs = None  # predictions may have another number of rows

    def stored_name(self, name: str) -> str:
        """LightGBM replaces spaces in names of features."""
        return name.replace(" ", "_")

    def check_content(self, content: bytes) -> None:
        """Raise unless the content looks complete; LightGBM ends the process for some other files."""
        if not content.startswith(b"tree\n"):
            raise InvalidInputError("it is not a model that LightGBM saved (Booster.save_model).")
        sizes = re.search(rb"^tree_sizes=([0-9 ]+)$", content, flags=re.MULTILINE)
        begin, end = content.find(b"\nTree=0\n") + 1, content.find(b"end of trees\n")
        if sizes is None or end < 0 or end - begin != sum(map(int, sizes[1].split())):
            raise InvalidInputError("it is damaged or incomplete; save or copy it again.")

    def check_saved(self, content: bytes) -> None:
        with errors_as_damage("LightGBM model"):
            check_text(content.decode())
