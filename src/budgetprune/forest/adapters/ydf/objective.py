"""Tasks and losses of Yggdrasil: link, loss and labels of the scores."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest.damage import check_model


class YdfObjective(NamedTuple):
    """Meaning of the scores."""

    link: Literal["identity", "logistic", "softmax", "exp"]
    label_rule: Literal["argmax", "nonnegative", "likeliest"] = "argmax"
    loss: Literal["squared", "logistic", "softmax", "poisson"] | None = None


_CLASSIFICATION, _REGRESSION, _RANKING = "CLASSIFICATION", "REGRESSION", "RANKING"

_LOSSES = {
    "BINOMIAL_LOG_LIKELIHOOD": YdfObjective("logistic", "nonnegative", "logistic"),
    "BINARY_FOCAL_LOSS": YdfObjective("logistic", "nonnegative"),
    "MULTINOMIAL_LOG_LIKELIHOOD": YdfObjective("softmax", "likeliest", "softmax"),
    "SQUARED_ERROR": YdfObjective("identity", loss="squared"),
    "MEAN_AVERAGE_ERROR": YdfObjective("identity"),
    "POISSON": YdfObjective("exp", loss="poisson"),
    "LAMBDA_MART_NDCG5": YdfObjective("identity"),
    "LAMBDA_MART_NDCG": YdfObjective("identity"),
    "XE_NDCG_MART": YdfObjective("identity"),
}


def read_task(about: Any) -> str:
    """Name of a model's task; raise if a Forest has no answers of this kind."""
    task = str(about.DESCRIPTOR.fields_by_name["task"].enum_type.values_by_number[about.task].name)
    if task not in (_CLASSIFICATION, _REGRESSION, _RANKING):
        raise UnsupportedModelError(
            f"this Yggdrasil model was trained with task={task}, whose answers a Forest cannot give. "
            f"Supported are {_CLASSIFICATION}, {_REGRESSION} and {_RANKING}."
        )
    return task


def is_classification(task: str) -> bool:
    return task == _CLASSIFICATION


def is_ranking(task: str) -> bool:
    return task == _RANKING


def boosted_objective(header: Any, n_labels: int) -> YdfObjective:
    """Objective of boosted trees, by their loss."""
    loss = str(header.DESCRIPTOR.fields_by_name["loss"].enum_type.values_by_number[header.loss].name)
    if loss not in _LOSSES:
        raise UnsupportedModelError(
            f"this Yggdrasil model was trained with the loss {loss}, whose scores a Forest cannot turn into "
            f"predictions. Supported are {', '.join(_LOSSES)}."
        )
    if header.output_logits:
        raise UnsupportedModelError(
            "this Yggdrasil model answers with scores instead of probabilities; call "
            "model.set_output_logits(False) first."
        )
    objective = _LOSSES[loss]
    n_scores = n_labels if objective.link == "softmax" else 1
    check_model(
        len(header.initial_predictions) == n_scores
        and header.num_trees_per_iter == n_scores
        and (objective.link in ("logistic", "softmax")) == (n_labels > 0),
        f"its loss {loss} has {n_scores} scores, not {len(header.initial_predictions)}",
    )
    return objective


def averaged_objective(n_trees: int, n_labels: int) -> YdfObjective:
    """Objective of averaged trees.

    If the votes of two classes are equal, Yggdrasil compares 1/2 with a sum in single precision, whose
    rounding depends on the number of trees.
    """
    if n_labels != 2:
        return YdfObjective("identity")
    share = np.cumsum(np.full(n_trees // 2, np.float32(1 / n_trees)), dtype=np.float32)
    takes_second = n_trees % 2 == 0 and bool(share[-1] >= np.float32(0.5))
    return YdfObjective("identity", "nonnegative" if takes_second else "argmax")
