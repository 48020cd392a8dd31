"""Checks of LightGBM and XGBoost model files before the library loads them.

Some functions of the libraries use numbers of a model as indices without checking bounds. A file that was
loaded in another process is checked first, so that no invalid index is used in this process.
"""

from __future__ import annotations

import json

from budgetprune.forest.adapters.lightgbm.importer import check_text
from budgetprune.forest.adapters.xgboost.model import check_document
from budgetprune.forest.damage import errors_as_damage


def check_written(library: str, content: bytes) -> None:
    """Raise a budgetprune error unless the trees in a model's text or JSON are valid.

    Parameters
    ----------
    library : "lightgbm" or "xgboost"
    content : model file of the library
    """
    with errors_as_damage(f"{library} model"):
        if library == "lightgbm":
            check_text(content.decode())
        else:
            check_document(json.loads(content))
