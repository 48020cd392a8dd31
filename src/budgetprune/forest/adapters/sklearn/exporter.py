"""Export to scikit-learn: an estimator whose trees hold only the remaining nodes."""

from __future__ import annotations

import copy
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest.adapters.sklearn.hist_exporter import pruned_predictor
from budgetprune.forest.adapters.sklearn.layout import LEAF_FEATURE, LEAF_THRESHOLD, class_columns, node_table
from budgetprune.forest.registry import adapter_of, import_model

if TYPE_CHECKING:
    from budgetprune.forest.forest import Forest

# Attributes that were measured on the unpruned trees.
_STALE = ("oob_score_", "oob_scores_", "oob_improvement_", "oob_decision_function_", "oob_prediction_")
_STALE_PER_ROUND = ("train_score_", "validation_score_")


def to_sklearn(forest: Forest) -> Any:
    """Copy the origin and replace its trees by those of `forest`."""
    scale = _check_expressible(forest)
    value = forest.value if scale == 1.0 else scale * forest.value
    origin: Any = forest.origin
    if hasattr(origin, "tree_"):
        return _pruned_tree(forest, 0, origin, value)
    if hasattr(origin, "_predictors"):
        old, new = origin._predictors, _pruned_rounds(forest, origin, value)
    elif forest.is_boosted:
        old, new = origin.estimators_, np.empty_like(origin.estimators_)
        new.flat = [
            _pruned_tree(forest, t, tree, value, origin.learning_rate) for t, tree in enumerate(old.flat)
        ]
    else:
        old = origin.estimators_
        new = [_pruned_tree(forest, t, tree, value) for t, tree in enumerate(old)]
    model = _copy_except(origin, old, new)
    for name in _STALE:
        model.__dict__.pop(name, None)
    for name in _STALE_PER_ROUND:  # further boosting (warm_start) needs their lengths
        if name in model.__dict__:
            setattr(model, name, np.full_like(getattr(model, name), np.nan))
    return model


def _check_expressible(forest: Forest) -> float:
    """Raise if the origin's class cannot represent the forest; return the factor for its values."""
    origin = forest.origin
    adapter = adapter_of(origin)
    library = None if adapter is None else adapter.name
    kind = type(origin).__name__
    if library != "sklearn" and hasattr(forest, f"to_{library}"):
        raise UnsupportedModelError(
            f"this forest came from a {kind} of {library}: convert it back with to_{library}()."
        )
    if library != "sklearn":
        raise UnsupportedModelError(
            "only a forest that was imported from a scikit-learn model can be exported to it: the origin is "
            f"{'missing' if origin is None else kind}."
        )
    own = import_model(origin)
    if forest.link != own.link and not own.is_boosted:
        raise UnsupportedModelError(
            f"a {kind} averages the values of its trees, and cannot apply a {forest.link} link to summed "
            "scores. Refit the leaves with refit='squared' so that scikit-learn can represent them, or use "
            "to_onnx(), which supports both."
        )
    if forest.link != own.link:
        raise UnsupportedModelError(
            f"this {kind} has a {own.link} link, and cannot apply the forest's {forest.link} link instead; "
            "to_onnx() can."
        )
    scale = own.divisor / forest.divisor
    if not np.allclose(scale * forest.base, own.base, rtol=1e-12, atol=0.0):
        raise UnsupportedModelError(
            f"the base score of the forest is {forest.base}, but that of its {kind} is {own.base}, and it "
            f"cannot store another; to_onnx() can."
        )
    return scale


def _pruned_rounds(forest: Forest, origin: Any, value: NDArray[np.float64]) -> list[list[Any]]:
    """Pruned trees of histogram-based boosting, one list per round."""
    tree = count()
    return [
        [pruned_predictor(forest, next(tree), old, value, origin.learning_rate) for old in one_round]
        for one_round in origin._predictors
    ]


def _copy_except(shell: Any, part: Any, new_part: Any) -> Any:
    """Deep copy of `shell` with `new_part` where it holds `part`, which is not copied."""
    return copy.deepcopy(shell, {id(part): new_part})


def _pruned_tree(
    forest: Forest, t: int, tree: Any, value: NDArray[np.float64], learning_rate: float = 1.0
) -> Any:
    """Copy of scikit-learn's `tree` that holds the nodes of the forest's tree `t`, in the forest's order.

    Parameters
    ----------
    value : value of each node of the forest
    learning_rate : factor of the tree's values in the ensemble's predictions
    """
    nodes = slice(forest.tree_start[t], forest.tree_start[t + 1])
    kept = forest.origin_node[nodes]
    is_split = forest.is_split[nodes]

    table = node_table(tree.tree_)[kept]
    for child, number in (("left_child", forest.left), ("right_child", forest.right)):
        table[child] = np.where(is_split, number[nodes] - nodes.start, -1)
    table["feature"][~is_split] = LEAF_FEATURE
    table["threshold"][~is_split] = LEAF_THRESHOLD
    table["missing_go_to_left"][~is_split] = 0

    own = value[nodes]
    if hasattr(tree, "classes_") and forest.classes is not None:
        known = class_columns(tree, forest.classes.size)
        if np.delete(own, known, axis=1).any():
            raise UnsupportedModelError(
                f"tree {t} gives weight to a class that is not in its origin's training sample."
            )
        own = own[:, known]
    elif learning_rate != 1.0:
        # Values that were not refitted keep their bits.
        old = tree.tree_.value[kept, 0, :]
        own = np.where(learning_rate * old == own, old, own / learning_rate)

    make, arguments, state = tree.tree_.__reduce__()
    new = make(*arguments)
    new.__setstate__(
        {
            **state,
            "max_depth": int(forest.depth[nodes].max()),
            "node_count": kept.size,
            "nodes": table,
            "values": np.ascontiguousarray(own[:, np.newaxis, :]),
        }
    )
    return _copy_except(tree, tree.tree_, new)
