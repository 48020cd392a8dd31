"""Metadata of a new model."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from budgetprune.model import About
from budgetprune.utils.environment import versions

# Packages whose versions are stored with a model.
PACKAGES = ("budgetprune", "numpy", "scikit-learn", "lightgbm", "xgboost")


def new_metadata(
    *,
    is_classifier: bool,
    budget: float | None,
    lam: float,
    score_name: str | None = None,
    **fields: Any,
) -> About:
    """Return metadata with today's date and the versions of packages.

    Parameters
    ----------
    is_classifier : whether the model predicts classes
    budget : limit of the average cost of a prediction
    lam : chosen point of the path or curve
    score_name : name of the score that chose the model; by default accuracy, or R²
    fields : other fields of `About`
    """
    return About(
        task="classification" if is_classifier else "regression",
        score_name=score_name or ("accuracy" if is_classifier else "R²"),
        budget=None if budget is None else float(budget),
        lam=float(lam),
        created=datetime.now(UTC).date().isoformat(),
        versions=versions(PACKAGES),
        **fields,
    )
