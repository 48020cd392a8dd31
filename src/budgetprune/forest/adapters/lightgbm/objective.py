"""LightGBM objectives: link, label rule and loss of the scores."""

from __future__ import annotations

from typing import Literal, NamedTuple

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest.adapters.lightgbm.text import ModelText


class LightGBMObjective(NamedTuple):
    """Meaning of the scores for one LightGBM objective."""

    name: str
    link: Literal["identity", "logistic", "softmax", "exp"]
    loss: Literal["squared", "logistic", "softmax", "poisson", "gamma"] | None

    @property
    def is_classifier(self) -> bool:
        return self.link in ("logistic", "softmax")


_OBJECTIVES = {
    objective.name: objective
    for objective in (
        LightGBMObjective("binary", "logistic", "logistic"),
        LightGBMObjective("multiclass", "softmax", "softmax"),
        LightGBMObjective("regression", "identity", "squared"),
        LightGBMObjective("poisson", "exp", "poisson"),
        LightGBMObjective("gamma", "exp", "gamma"),
        LightGBMObjective("tweedie", "exp", None),
        *(
            LightGBMObjective(name, "identity", None)
            for name in (
                "regression_l1",
                "huber",
                "fair",
                "quantile",
                "mape",
                "lambdarank",
                "rank_xendcg",
                "",
            )
        ),
    )
}


def read_objective(text: ModelText) -> LightGBMObjective:
    """Return the model's objective; raise if a `Forest` cannot represent it."""
    name, *settings = text.header.get("objective", "").split(" ")
    if name not in _OBJECTIVES or "sqrt" in settings:
        raise UnsupportedModelError(
            f"LightGBM's objective {' '.join([name, *settings])!r} turns scores into predictions in a way "
            f"that Forest does not support. Supported are "
            f"{', '.join(known for known in _OBJECTIVES if known)} and custom objectives."
        )
    scale = next((word.partition(":")[2] for word in settings if word.startswith("sigmoid:")), "1")
    if float(scale) != 1.0:
        raise UnsupportedModelError(
            f"this LightGBM model was trained with sigmoid={scale}: its probabilities are not the logistic "
            "function of its scores. Train it with sigmoid=1."
        )
    return _OBJECTIVES[name]
