"""Checks of what LightGBM or XGBoost wrote, before the library loads it again.

Some functions of the libraries use numbers of a model as indices without looking at bounds. A file that was
loaded in another process is checked first, so that they see no such numbers in this one.
"""

from __future__ import annotations

import json

from budgetprune.forest.adapters.lightgbm.importer import check_text
from budgetprune.forest.adapters.xgboost.model import check_document
from budgetprune.forest.damage import errors_as_damage


def check_written(library: str, content: bytes) -> None:
    """Raise an error of the project unless the trees in a model's text or JSON are trees.

    Parameters
    ----------
    library : "lightgbm" or "xgboost"
    content : what the library wrote
    """
    with errors_as_damage(f"{library} model"):
        if library == "lightgbm":
            check_text(content.decode())
        else:
            check_document(json.loads(content))
