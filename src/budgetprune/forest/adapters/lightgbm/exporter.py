"""Export to LightGBM: a booster whose trees hold only the remaining nodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest.adapters.lightgbm import text as lightgbm_text
from budgetprune.forest.adapters.lightgbm.objective import read_objective
from budgetprune.forest.adapters.lightgbm.text import ModelText
from budgetprune.forest.topology import in_preorder
from budgetprune.forest.topology_kernels import sum_of_leaves

if TYPE_CHECKING:
    from budgetprune.forest.forest import Forest


def to_lightgbm(forest: Forest) -> Any:
    """Replace the trees in the origin's model text by those of `forest`, and load it."""
    origin: Any = forest.origin
    booster = getattr(origin, "booster_", origin)
    written = booster.model_to_string()
    text = lightgbm_text.parse(written)
    _check_same_meaning(forest, text)
    trees = _write_trees(forest, text)
    header = {**text.header, "tree_sizes": " ".join(str(len(tree)) for tree in trees)}
    head = "\n".join(f"{key}={entry}" if entry else key for key, entry in header.items() if key)
    # Feature importances are recomputed when the trees are read.
    parameters, pandas_categorical = (
        written[max(written.rfind(f"\n{section}:"), 0) :] for section in ("parameters", "pandas_categorical")
    )
    tail = parameters if text.parameters else pandas_categorical
    return type(booster)(model_str=f"{head}\n\n{''.join(trees)}end of trees\n{tail}")


def _check_same_meaning(forest: Forest, text: ModelText) -> None:
    objective = read_objective(text)
    n_trees, n_outputs = text.shrinkage.size, text.n_outputs
    divisor = n_trees / n_outputs if text.is_averaged else 1.0
    for what, has, had in (
        ("link", forest.link, objective.link),
        ("number of trees", forest.n_trees, n_trees),
        ("number of outputs", forest.n_outputs, n_outputs),
        ("output of each tree", forest.tree_output.tolist(), (np.arange(n_trees) % n_outputs).tolist()),
        ("divisor", forest.divisor, divisor),
    ):
        if has != had:
            raise UnsupportedModelError(
                f"a LightGBM model of the origin's kind cannot represent this forest: the {what} was changed."
            )


def _write_trees(forest: Forest, text: ModelText) -> list[str]:
    """Text of each tree; splits and leaves are numbered in the order of the forest's nodes."""
    start, is_split = forest.tree_start, forest.is_split
    split, leaf = np.flatnonzero(is_split), np.flatnonzero(~is_split)
    first_split, first_leaf = (np.searchsorted(nodes, start) for nodes in (split, leaf))
    tree = forest.tree_of_node
    number = np.where(
        is_split,
        np.cumsum(is_split) - 1 - first_split[tree],
        ~(np.cumsum(~is_split) - 1 - first_leaf[tree]),
    )
    old = text.tree_start[tree] + forest.origin_node
    answer = forest.value[:, 0] + _base_in_trees(forest)[tree]
    by_category = forest.category_set >= 0
    n_sets = np.cumsum(by_category)
    n_sets_before: NDArray[np.int64] = (n_sets - by_category)[start[:-1]]

    hessian, count = _hessians(text)[old], np.rint(forest.weight).astype(np.int64)
    of_splits = {
        "split_feature": forest.feature,
        "split_gain": text.nodes.gain[old],
        "threshold": np.where(by_category, n_sets - 1 - n_sets_before[tree], forest.threshold),
        "decision_type": _decision_types(forest),
        "left_child": number[forest.left],
        "right_child": number[forest.right],
    }
    of_leaves = {"leaf_value": answer, "leaf_weight": hessian, "leaf_count": count}
    of_splits |= {"internal_value": answer, "internal_weight": hessian, "internal_count": count}
    columns = [
        (key, first, _words(column[nodes]))
        for fields, nodes, first in ((of_splits, split, first_split), (of_leaves, leaf, first_leaf))
        for key, column in fields.items()
    ]
    trees = []
    for t in range(forest.n_trees):
        sets = forest.category_set[start[t] : start[t + 1]]
        sets = sets[sets >= 0]
        lines = [f"Tree={t}", f"num_leaves={first_leaf[t + 1] - first_leaf[t]}", f"num_cat={sets.size}"]
        lines += [f"{key}={' '.join(words[first[t] : first[t + 1]])}" for key, first, words in columns]
        lines += _category_lines(forest, sets) if sets.size else []
        lines += ["is_linear=0", f"shrinkage={float(text.shrinkage[t])!r}"]
        trees.append("\n".join(lines) + "\n\n\n")
    return trees


def _hessians(text: ModelText) -> NDArray[np.float64]:
    """Sum second derivatives of leaves at inner nodes, where LightGBM writes only six digits."""
    hessian = text.nodes.hessian.copy()
    order, _, _, right = in_preorder(text.tree_start, text.nodes.left, text.nodes.right)
    hessian[order] = sum_of_leaves(right, hessian[order][:, np.newaxis])[:, 0]
    return hessian


def _base_in_trees(forest: Forest) -> NDArray[np.float64]:
    """Base score added to the first tree of each output, since LightGBM has no base score."""
    share = np.zeros(forest.n_trees)
    if forest.divisor == 1.0:
        share[: forest.n_outputs] = forest.base
        return share
    return forest.base[forest.tree_output] / forest.divisor  # averaged trees share it equally


def _decision_types(forest: Forest) -> NDArray[np.int64]:
    kind = lightgbm_text.MISSING_ZERO if forest.missing == "nan-or-zero" else lightgbm_text.MISSING_NAN
    by_threshold = (kind << lightgbm_text.MISSING_SHIFT) + lightgbm_text.DEFAULT_LEFT * forest.missing_left
    return np.where(forest.category_set >= 0, lightgbm_text.IS_CATEGORICAL, by_threshold)


def _category_lines(forest: Forest, sets: NDArray[np.int32]) -> list[str]:
    first, sizes = forest.category_start[sets], np.diff(forest.category_start)[sets]
    boundaries = np.concatenate([[0], np.cumsum(sizes)])
    bits = forest.category_bits[lightgbm_text.ranges(first, sizes)]
    return [f"cat_boundaries={' '.join(_words(boundaries))}", f"cat_threshold={' '.join(_words(bits))}"]


def _words(numbers: NDArray[Any]) -> list[str]:
    """Format numbers so that reading them gives the same bits."""
    entries: Iterable[Any] = numbers.tolist()
    return [repr(number) for number in entries]
