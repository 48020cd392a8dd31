"""CatBoost's loss functions: link, loss and labels of the scores."""

from __future__ import annotations

import json
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest.damage import check_model


class CatBoostObjective(NamedTuple):
    """Meaning of the scores for one loss function."""

    link: Literal["identity", "logistic", "softmax", "exp"]
    loss: Literal["squared", "logistic", "softmax", "poisson"] | None = None

    @property
    def is_classifier(self) -> bool:
        return self.link in ("logistic", "softmax")


_NUMBER = CatBoostObjective("identity")

RANKING = (
    "GroupQuantile",
    "LambdaMart",
    "PairLogit",
    "PairLogitPairwise",
    "QueryCrossEntropy",
    "QueryRMSE",
    "QuerySoftMax",
    "StochasticFilter",
    "StochasticRank",
    "YetiRank",
    "YetiRankPairwise",
)

_OBJECTIVES = {
    "Logloss": CatBoostObjective("logistic", "logistic"),
    "CrossEntropy": CatBoostObjective("logistic", "logistic"),
    "Focal": CatBoostObjective("logistic"),
    "MultiClass": CatBoostObjective("softmax", "softmax"),
    "RMSE": CatBoostObjective("identity", "squared"),
    "Poisson": CatBoostObjective("exp", "poisson"),
    "Tweedie": CatBoostObjective("exp"),
    **dict.fromkeys(
        ("MAE", "Quantile", "LogLinQuantile", "MAPE", "Lq", "Huber", "Expectile", "LogCosh"), _NUMBER
    ),
    **dict.fromkeys(RANKING, _NUMBER),
}

_LABEL_TYPES: dict[str, Any] = {
    "Integer": np.int64,
    "Float": np.float64,
    "String": np.str_,
    "Boolean": np.bool_,
}


def read_objective(information: dict[str, Any], n_outputs: int) -> tuple[str, CatBoostObjective]:
    """Return the name of a model's loss function and its meaning; raise if a Forest cannot express it."""
    name = loss_name(information)
    if name not in _OBJECTIVES:
        raise UnsupportedModelError(
            f"this CatBoost model was trained with loss_function={name!r}, whose scores a Forest cannot turn "
            f"into predictions. Supported are {', '.join(_OBJECTIVES)}."
        )
    objective = _OBJECTIVES[name]
    check_model(
        n_outputs == 1 or objective.link == "softmax", f"its loss {name} has one score, not {n_outputs}"
    )
    threshold = float(information.get("binclass_probability_threshold", 0.5))
    if objective.is_classifier and threshold != 0.5:
        raise UnsupportedModelError(
            f"this CatBoost model gives the second class to probabilities above {threshold:g} "
            "(set_probability_threshold), but a Forest does so above 0.5; set the threshold to 0.5."
        )
    return name, objective


def loss_name(information: dict[str, Any]) -> str:
    """Name of the loss function; a sum of models has no parameters, but the loss as JSON within JSON."""
    if "params" in information:
        return str(information["params"]["loss_function"]["type"])
    return str(json.loads(information["loss_function"])["type"])


def read_classes(
    information: dict[str, Any], objective: CatBoostObjective, n_outputs: int
) -> NDArray[Any] | None:
    """Return the labels of a classifier, None for regression."""
    if not objective.is_classifier:
        return None
    n_classes = 2 if objective.link == "logistic" else n_outputs
    stored = information.get("class_params", {})
    # Without names, targets were probabilities of the second class.
    names = stored.get("class_names") or list(range(n_classes))
    classes = np.array(names, dtype=_LABEL_TYPES[stored.get("class_label_type", "Integer")])
    check_model(classes.shape == (n_classes,), f"it has {len(names)} labels for {n_classes} classes")
    return classes
