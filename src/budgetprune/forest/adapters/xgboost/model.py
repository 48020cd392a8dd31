"""XGBoost's JSON format and the supported models, for import and export."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError, UnsupportedModelError
from budgetprune.forest.adapters.xgboost.checks import check_ensemble, check_tree, reachable
from budgetprune.forest.damage import check_model

# Fields of a tree, per node and others. An unknown field could change the routing of rows, so it is an error.
PER_NODE = (
    "base_weights",
    "default_left",
    "left_children",
    "loss_changes",
    "parents",
    "right_children",
    "split_conditions",
    "split_indices",
    "split_type",
    "sum_hessian",
)
PER_SET = ("categories", "categories_nodes", "categories_segments", "categories_sizes")
_TREE_FIELDS = {*PER_NODE, *PER_SET, "id", "tree_param"}

# XGBoost keeps a base score that is a probability this far away from 0 and 1.
_PROBABILITY_MARGIN = np.float32(1e-6)


class XGBoostObjective(NamedTuple):
    """Objective of a model: link, loss and base score."""

    link: Literal["identity", "logistic", "softmax", "exp"]
    loss: str | None
    base: Literal["score", "probability", "mean"]
    label_rule: Literal["argmax", "positive", "likeliest"] = "argmax"


_NUMBER = XGBoostObjective("identity", None, "score")

_OBJECTIVES = {
    "binary:logistic": XGBoostObjective("logistic", "logistic", "probability", "likeliest"),
    "binary:logitraw": XGBoostObjective("logistic", "logistic", "score", "positive"),
    "reg:logistic": XGBoostObjective("logistic", "logistic", "probability", "likeliest"),
    "multi:softprob": XGBoostObjective("softmax", "softmax", "score", "likeliest"),
    "multi:softmax": XGBoostObjective("softmax", "softmax", "score"),
    "reg:squarederror": XGBoostObjective("identity", "squared", "score"),
    "count:poisson": XGBoostObjective("exp", "poisson", "mean"),
    "reg:gamma": XGBoostObjective("exp", "gamma", "mean"),
    "reg:tweedie": XGBoostObjective("exp", None, "mean"),
    "reg:squaredlogerror": _NUMBER,
    "reg:absoluteerror": _NUMBER,
    "reg:quantileerror": _NUMBER,
    "reg:pseudohubererror": _NUMBER,
    "rank:pairwise": _NUMBER,
    "rank:ndcg": _NUMBER,
    "rank:map": _NUMBER,
}


@dataclass(frozen=True)
class SavedModel:
    """Model in XGBoost's JSON, with only the trees that `predict` uses, and the meaning of its scores."""

    document: dict[str, Any]
    booster: Any
    objective: XGBoostObjective
    base: NDArray[np.float64]
    n_classes: int

    @property
    def learner(self) -> dict[str, Any]:
        learner: dict[str, Any] = self.document["learner"]
        return learner

    @property
    def is_ranker(self) -> bool:
        """Whether the model was trained to order the rows of each query."""
        return str(self.learner["objective"]["name"]).startswith("rank:")

    @property
    def ensemble(self) -> dict[str, Any]:
        ensemble: dict[str, Any] = self.learner["gradient_booster"]["model"]
        return ensemble

    @property
    def n_features(self) -> int:
        return int(self.learner["learner_model_param"]["num_feature"])

    @property
    def trees(self) -> list[dict[str, Any]]:
        trees: list[dict[str, Any]] = self.ensemble["trees"]
        return trees


def read_model(model: Any) -> SavedModel:
    """Save a fitted model as JSON; raise if a Forest would not predict as its `predict` does.

    Parameters
    ----------
    model : xgboost.Booster or one of XGBoost's scikit-learn estimators
    """
    booster = _fitted_booster(model)
    try:
        document = json.loads(bytes(booster.save_raw("json")))
    except ValueError as error:  # XGBoostError is a ValueError
        reason = str(error).partition("Stack trace")[0].strip()
        raise InvalidInputError(f"this {_name(model)} cannot be saved; is it fitted? ({reason})") from error
    learner = document["learner"]
    _check_kind(learner)
    name = learner["objective"]["name"]
    objective = _check_objective(model, name)
    missing = getattr(model, "missing", None)
    if missing is not None and not math.isnan(missing):
        raise UnsupportedModelError(
            f"this {_name(model)} treats {missing} as a missing value; budgetprune supports only NaN. Write "
            f"NaN "
            "into the rows, and train with missing=np.nan."
        )
    n_classes = 2 if objective.link == "logistic" else int(learner["learner_model_param"]["num_class"])
    n_outputs = n_classes if objective.link == "softmax" else 1
    _cut_to_best_round(model, learner["gradient_booster"]["model"])
    n_trees = len(learner["gradient_booster"]["model"]["trees"])
    if not n_trees:
        raise UnsupportedModelError(f"this {_name(model)} has no trees; train it for at least one round.")
    # Every round has a tree for each score.
    check_model(0 < n_outputs <= n_trees, f"{n_trees} trees are too few for {n_outputs} scores")
    saved = SavedModel(document, booster, objective, _base(learner, objective, n_outputs), n_classes)
    check_ensemble(saved.ensemble, n_outputs)
    for t, tree in enumerate(saved.trees):
        odd = set(tree) ^ _TREE_FIELDS
        if odd:
            raise UnsupportedModelError(
                "this version of XGBoost stores trees in a way that budgetprune does not know "
                f"({', '.join(sorted(odd))}); use a version of XGBoost that this budgetprune supports."
            )
        check_tree(t, tree, PER_NODE, saved.n_features)
    return saved


def check_document(document: dict[str, Any]) -> None:
    """Check the trees of a model in JSON before XGBoost loads it; other kinds of boosters are not checked."""
    learner = document["learner"]
    if learner["gradient_booster"]["name"] != "gbtree":
        return
    n_features = int(learner["learner_model_param"]["num_feature"])
    for t, tree in enumerate(learner["gradient_booster"]["model"]["trees"]):
        if int(tree["tree_param"]["size_leaf_vector"]) <= 1:
            check_tree(t, tree, PER_NODE, n_features)
            reachable(t, *(np.asarray(tree[side]) for side in ("left_children", "right_children")))


def _name(model: Any) -> str:
    return type(model).__name__


def _fitted_booster(model: Any) -> Any:
    if not hasattr(model, "get_booster"):
        return model
    if not model.__sklearn_is_fitted__():
        raise InvalidInputError(f"this {_name(model)} is not fitted; call its fit first.")
    if getattr(model, "n_classes_", None) == 1:
        raise UnsupportedModelError(
            f"this {_name(model)} was trained on rows of a single class; "
            "train it on rows of at least two classes."
        )
    return model.get_booster()


def _check_kind(learner: dict[str, Any]) -> None:
    kind = learner["gradient_booster"]["name"]
    if kind != "gbtree":
        why = "drops trees at random and reweights them" if kind == "dart" else "has no trees"
        raise UnsupportedModelError(
            f"a model with booster={kind!r} {why}; train it with booster='gbtree' to prune it."
        )
    ensemble = learner["gradient_booster"]["model"]
    n_targets = int(learner["learner_model_param"]["num_target"])
    if any(int(tree["tree_param"]["size_leaf_vector"]) > 1 for tree in ensemble["trees"]):
        raise UnsupportedModelError(
            "a model with multi_strategy='multi_output_tree' has vectors at its leaves, which budgetprune "
            "does not support; train it with multi_strategy='one_output_per_tree', and one model per target."
        )
    if n_targets > 1:
        raise UnsupportedModelError(
            f"this model predicts {n_targets} targets (or labels, or quantiles) at once; "
            "train one model per target and prune each."
        )


def _check_objective(model: Any, name: str) -> XGBoostObjective:
    if name == "binary:hinge":
        raise UnsupportedModelError(
            "a model with objective='binary:hinge' predicts labels and has no probabilities; "
            "train it with 'binary:logistic'."
        )
    if name not in _OBJECTIVES:
        raise UnsupportedModelError(
            f"the meaning of the scores of a model with objective={name!r} is unknown. "
            f"Supported are: {', '.join(_OBJECTIVES)}."
        )
    objective = _OBJECTIVES[name]
    is_custom = callable(getattr(model, "objective", None))
    classifies = objective.link in ("logistic", "softmax")
    if "Classifier" in _name(model):
        if is_custom or not classifies or name == "binary:logitraw":
            raise UnsupportedModelError(
                f"the labels of this {_name(model)} are scores above 0.5, because its objective "
                f"({'a custom function' if is_custom else name}) has no probabilities; train it with "
                "'binary:logistic'. If labels should be scores above 0, pass model.get_booster()."
            )
    elif name == "reg:logistic" or (classifies and _name(model) != "Booster"):
        raise UnsupportedModelError(
            f"this {_name(model)} with objective={name!r} is a regressor for targets between 0 and 1, which "
            f"budgetprune does not support. If its targets are classes, train an XGBClassifier, or "
            "a Booster with 'binary:logistic' or 'multi:softprob': they grow the same trees."
        )
    # A booster trained with a custom objective still names its default objective.
    return objective._replace(loss=None) if is_custom else objective


def _base(learner: dict[str, Any], objective: XGBoostObjective, n_outputs: int) -> NDArray[np.float64]:
    """Base score, computed with XGBoost's own operations and precision."""
    # A list since XGBoost 3.1, a number before.
    base = np.atleast_1d(np.asarray(json.loads(learner["learner_model_param"]["base_score"]), np.float32))
    if objective.base == "probability":
        base = np.clip(base, _PROBABILITY_MARGIN, np.float32(1) - _PROBABILITY_MARGIN)
        base = -np.log(np.float32(1) / base - np.float32(1))
    elif objective.base == "mean":
        base = np.log(base)
    return np.broadcast_to(base, n_outputs).astype(np.float64)


def _cut_to_best_round(model: Any, ensemble: dict[str, Any]) -> None:
    """Drop the rounds after the best one where `predict` does: a plain Booster uses all of its trees."""
    best = getattr(model, "best_iteration", None) if hasattr(model, "get_booster") else None
    if best is not None:
        check_model(best >= 0, f"its best round is {best}")
        ensemble["iteration_indptr"] = ensemble["iteration_indptr"][: best + 2]
        n_trees = ensemble["iteration_indptr"][-1]
        ensemble["trees"] = ensemble["trees"][:n_trees]
        ensemble["tree_info"] = ensemble["tree_info"][:n_trees]
        ensemble["gbtree_model_param"]["num_trees"] = str(n_trees)
