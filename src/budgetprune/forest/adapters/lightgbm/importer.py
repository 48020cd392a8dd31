"""Importer for LightGBM's boosters and their scikit-learn wrappers; LightGBM itself is not imported."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError, UnsupportedModelError
from budgetprune.forest.adapters.lightgbm import text as lightgbm_text
from budgetprune.forest.adapters.lightgbm.objective import LightGBMObjective, read_objective
from budgetprune.forest.adapters.lightgbm.steps import RecordedTrees, find_steps
from budgetprune.forest.adapters.lightgbm.text import ModelText
from budgetprune.forest.damage import check_model
from budgetprune.forest.forest import Forest
from budgetprune.forest.packed import ZERO
from budgetprune.forest.topology import in_preorder


def from_estimator(model: Any) -> Forest:
    """Convert a scikit-learn estimator of LightGBM."""
    if not model.__sklearn_is_fitted__():
        raise InvalidInputError(f"this {type(model).__name__} is not fitted; call its fit first.")
    return _translate(model, model.booster_, getattr(model, "classes_", None))


def from_booster(model: Any) -> Forest:
    """Convert a Booster."""
    return _translate(model, model, None)


def _translate(model: Any, booster: Any, classes: NDArray[Any] | None) -> Forest:
    # By default it writes the trees that `predict` uses: after early stopping, those up to the best
    # iteration.
    text = lightgbm_text.parse(booster.model_to_string())
    _refuse_other_trees(text)
    objective = read_objective(text)
    nodes, start, n_outputs = text.nodes, text.tree_start, text.n_outputs
    n_trees = start.size - 1
    order, parent, left, right = in_preorder(start, nodes.left, nodes.right)
    feature, decision = nodes.feature[order], nodes.decision_type[order]
    by_category = (decision & lightgbm_text.IS_CATEGORICAL).astype(np.bool_)
    by_threshold = (left >= 0) & ~by_category
    threshold = np.where(by_threshold, _around_zero(nodes.threshold[order]), np.nan)
    missing, missing_left = _missing_values(threshold, decision, by_threshold)
    own_sets = np.repeat(text.first_category_set, np.diff(start))
    category_set = np.where(
        by_category, np.nan_to_num(nodes.threshold[order]).astype(np.int64) + own_sets, -1
    )
    n_rows = nodes.n_rows[order]
    penalty = _penalties(text, parent, feature, by_category)
    trees = RecordedTrees(start, right, nodes.value[order], nodes.hessian[order], n_rows, penalty)
    steps = find_steps(text, trees, objective.name)
    return Forest(
        tree_start=start,
        parent=parent,
        left=left,
        right=right,
        feature=feature.astype(np.int32),
        threshold=threshold,
        missing_left=missing_left,
        category_set=category_set,
        category_start=text.category_start,
        category_bits=text.category_bits,
        value=steps.value[:, np.newaxis],
        # Row counts, since weights are not recorded. Old versions record 0 for a tree that is a single leaf.
        weight=np.where(n_rows > 0, n_rows, n_rows.max()),
        class_weight=None,
        variance=None,
        tree_output=np.arange(n_trees, dtype=np.int32) % n_outputs,
        base=steps.base,
        divisor=n_trees / n_outputs if text.is_averaged else 1.0,
        link=objective.link,
        label_rule="likeliest" if objective.is_classifier else "argmax",
        classes=_classes(model, objective, n_outputs, classes),
        n_features=booster.num_feature(),
        feature_names=_names(booster.feature_name()),
        input_dtype=np.dtype(np.float64),
        missing=missing,
        origin=model,
        origin_node=(order - np.repeat(start[:-1], np.diff(start))).astype(np.int32),
        loss=objective.loss,
        # In a random forest, the gradients of all trees are taken at the base score.
        tree_round=np.arange(n_trees, dtype=np.int32) // (n_trees if text.is_averaged else n_outputs),
        split_gain=steps.split_gain,
        categories=_categories(booster.pandas_categorical, text),
    )


def check_text(written: str) -> None:
    """Check model text before LightGBM loads it, which saves features without checking their bounds."""
    text = lightgbm_text.parse(written)
    _refuse_other_trees(text)
    in_preorder(text.tree_start, text.nodes.left, text.nodes.right)


def _refuse_other_trees(text: ModelText) -> None:
    if text.tree_start.size < 2:
        raise InvalidInputError("this LightGBM model has no trees; train it for at least one round.")
    if text.is_linear:
        raise UnsupportedModelError(
            "this LightGBM model has linear trees (linear_tree=True): its leaves hold linear functions of "
            "further features. Train it with linear_tree=False."
        )
    if text.parameters.get("boosting") == "dart":
        raise UnsupportedModelError(
            "this LightGBM model was trained with boosting='dart': its trees were reweighted after they were "
            "grown, so the gains of their splits are unknown. Train it with 'gbdt'."
        )


def _classes(
    model: Any, objective: LightGBMObjective, n_outputs: int, classes: NDArray[Any] | None
) -> NDArray[Any] | None:
    is_wrapper = classes is not None
    if is_wrapper and not objective.is_classifier:
        raise UnsupportedModelError(
            f"this {type(model).__name__} was trained with an objective that gives no class probabilities "
            f"({objective.name or 'a custom one'}); use 'binary' or 'multiclass'."
        )
    if not objective.is_classifier:
        if n_outputs > 1:
            raise UnsupportedModelError(
                f"this LightGBM model has {n_outputs} scores for a custom objective, so their meaning is "
                f"unknown; use 'multiclass'."
            )
        return None
    n_classes = max(n_outputs, 2)
    if classes is None:
        return np.arange(n_classes)
    if len(classes) != n_classes:
        raise UnsupportedModelError(
            f"this {type(model).__name__} has {len(classes)} class(es), but its trees have {n_classes}; "
            f"train it on rows of at least two classes."
        )
    return np.asarray(classes)


def _names(names: list[str]) -> tuple[str, ...] | None:
    """Names of the features, None if LightGBM generated them."""
    return None if names == [f"Column_{k}" for k in range(len(names))] else tuple(names)


def _around_zero(threshold: NDArray[np.float64]) -> NDArray[np.float64]:
    """Move thresholds close to zero, so that all values that LightGBM treats as zero go the same way."""
    almost = np.abs(threshold) <= ZERO
    return np.where(almost, np.where(threshold >= 0, ZERO, np.nextafter(-ZERO, -np.inf)), threshold)


def _missing_values(
    threshold: NDArray[np.float64], decision: NDArray[np.int64], by_threshold: NDArray[np.bool_]
) -> tuple[Literal["nan", "nan-or-zero"], NDArray[np.bool_]]:
    """Values that count as missing, and whether they go left.

    In LightGBM each split defines its missing values: NaN; NaN and zero; or none, and then NaN counts as
    zero. A missing category goes right.
    """
    kind = decision >> lightgbm_text.MISSING_SHIFT & 3
    default_left = (decision & lightgbm_text.DEFAULT_LEFT).astype(np.bool_)
    zero_left = threshold >= 0
    left = by_threshold & np.where(kind == lightgbm_text.MISSING_NONE, zero_left, default_left)
    if not np.any(by_threshold & (kind == lightgbm_text.MISSING_ZERO)):
        return "nan", left
    if np.any(by_threshold & (kind == lightgbm_text.MISSING_NAN) & (default_left != zero_left)):
        raise UnsupportedModelError(
            "some splits of this LightGBM model treat zeros as missing values, and others do not; train all "
            "rounds with the same zero_as_missing."
        )
    return "nan-or-zero", left


def _penalties(
    text: ModelText, parent: NDArray[np.int32], feature: NDArray[np.int64], by_category: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """The lambda in each node's step: larger below a split by more than one category."""
    settings = {
        key: float(text.parameters.get(key, 0.0)) for key in ("lambda_l2", "cat_l2", "max_cat_to_onehot")
    }
    n_bins = np.array([info.count(":") + 1 for info in text.header["feature_infos"].split(" ")])
    # Checked against the largest feature that is tested; leaves test -1.
    check_model(n_bins.size > feature.max(), "feature_infos does not cover all features")
    many = by_category & (n_bins[feature] > settings["max_cat_to_onehot"])
    return np.where(many[parent] & (parent >= 0), settings["cat_l2"], 0.0) + settings["lambda_l2"]


def _categories(known: list[list[Any]] | None, text: ModelText) -> tuple[tuple[Any, ...] | None, ...] | None:
    """Categories by number, for each feature that was a category column of a pandas table.

    LightGBM stores them without their columns: those that it was told to treat as categorical. If there is
    another number of them (it treats ordered categories as numeric), or splits have categories that are not
    listed, the numbering is unknown, and rows must hold numbers.
    """
    if not known:
        return None
    infos = text.header["feature_infos"].split(" ")
    listed = text.parameters.get("categorical_feature")
    columns = [int(k) for k in listed.split(",")] if listed else []
    check_model(
        all(0 <= k < len(infos) for k in columns)
        and all(isinstance(names, list) and all(map(_is_hashable, names)) for names in known),
        "it lists categories of columns that do not exist",
    )
    categories: list[tuple[Any, ...] | None] = [None] * len(infos)
    if len(columns) == len(known) and all(
        _n_categories(infos[k]) <= len(names) for k, names in zip(columns, known, strict=True)
    ):
        for k, names in zip(columns, known, strict=True):
            categories[k] = tuple(names)
    return tuple(categories)


def _is_hashable(category: Any) -> bool:
    return not isinstance(category, list | dict)  # JSON values other than these are hashable


def _n_categories(info: str) -> int:
    """Number of numbered categories; a range "[low:high]" and "none" describe other features."""
    return 1 + max(int(c) for c in info.split(":")) if info[0] not in "[n" else 0
