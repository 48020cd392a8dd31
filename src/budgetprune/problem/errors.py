"""Node errors of averaged trees (e_h of the paper), for any rows and any additive loss.

Two steps that know nothing of each other. An *estimate* decides which rows count, and tallies what the rows
at each node are: the weight of each class, or weight, mean and scatter of the targets. A *loss* reads the
tally beside what the node answers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias, cast, get_args

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.problem.rows import RoutedRows, route
from budgetprune.problem.tally import tally_rows
from budgetprune.problem.targets import Labels

Estimate: TypeAlias = Literal["in-bag", "out-of-bag", "held-out", "pooled"]
Loss: TypeAlias = Literal["misclassification", "brier", "squared"]
Tally: TypeAlias = NDArray[np.float64]

_ADVICE = {
    "in-bag": "all its training rows have weight 0",
    "out-of-bag": "all training rows with a weight are in its bag (as without bootstrap); "
    "use error='in-bag', or 'held-out' with y_cost",
    "held-out": "all rows of X_cost have weight 0 once classes are weighted",
    "pooled": "all training rows are in its bag, and all rows of X_cost have weight 0",
}


class NodeErrors(NamedTuple):
    """Loss of each node as a leaf, gain of each split, and their normalisation to errors.

    Attributes
    ----------
    lost, lost_gain : float64 arrays of shape (n_nodes,)
        Lost weight, exact for misclassification if weights are integers; that of a split minus that of its
        children.
    counted : float64 array of shape (n_trees,)
        Weight on which it is measured.
    denominator : float64 array of shape (n_trees,)
        Lost weight, divided by this, adds up over trees to the error of the forest.
    """

    lost: NDArray[np.float64]
    lost_gain: NDArray[np.float64]
    counted: NDArray[np.float64]
    denominator: NDArray[np.float64]


def node_errors(
    forest: Forest,
    estimate: Estimate,
    loss: Loss,
    rows: RoutedRows,
    labels: Labels,
    X_train: Any,
    train_labels: Labels,
) -> NodeErrors:
    """Measure the loss of each node of averaged trees as a leaf.

    Parameters
    ----------
    forest : Forest
    estimate, loss : which rows count, and how
    rows, labels : where held-out rows go, and what they are
    X_train, train_labels : the rows that the trees were grown on
    """
    tallies = []
    if estimate == "in-bag":
        tallies.append(_in_bag(forest, X_train, train_labels))
    if estimate in ("out-of-bag", "pooled"):
        tallies.append(_out_of_bag(forest, X_train, train_labels))
    if estimate in ("held-out", "pooled"):
        tallies.append(_held_out(forest, rows, labels))
    roots = forest.tree_start[:-1]
    lost = np.sum([_LOSSES[loss](forest.value, tally) for tally in tallies], axis=0)
    counted = np.sum([_weight(forest, tally[roots]) for tally in tallies], axis=0)
    check_finite(lost)
    empty = np.flatnonzero(counted == 0)
    if empty.size:
        raise InvalidInputError(
            f"tree {empty[0]} has no counted weight ({empty.size} such tree(s)): {_ADVICE[estimate]}."
        )
    split = np.flatnonzero(forest.is_split)
    saved = np.zeros_like(lost)
    saved[split] = lost[split] - lost[forest.left[split]] - lost[forest.right[split]]
    return NodeErrors(lost, saved, counted, counted * forest.n_trees)


def check_finite(lost: NDArray[np.float64]) -> None:
    """Raise if node losses overflow a float."""
    if not np.isfinite(lost).all():
        raise InvalidInputError(
            "node errors are too large to add up; give targets or weights a smaller scale."
        )


def check_estimate(estimate: str, y_cost: Any, X_train: Any, y_train: Any) -> None:
    """Raise unless the estimate is known and the rows it needs are given."""
    if estimate not in get_args(Estimate):
        raise InvalidInputError(f"error={estimate!r} is unknown; use one of {_options(get_args(Estimate))}.")
    needed = {"held-out": "y_cost", "out-of-bag": "X_train y_train", "pooled": "y_cost X_train y_train"}
    given = {"y_cost": y_cost, "X_train": X_train, "y_train": y_train}
    missing = [name for name in needed.get(estimate, "").split() if given[name] is None]
    if missing:
        raise InvalidInputError(
            f"{estimate} errors need labelled rows to be measured on; pass {' and '.join(missing)}."
        )


def check_loss(forest: Forest, loss: str | None) -> Loss:
    """Return the loss, or the default if it is None; raise unless it fits the forest."""
    if np.any(forest.tree_output >= 0) or forest.link != "identity":
        raise InvalidInputError(
            "the trees of this forest add up to a score, but it does not say in which round of boosting each "
            "was grown; set tree_round, and loss or split_gain."
        )
    fitting = get_args(Loss)[:2] if forest.is_classifier else get_args(Loss)[2:]
    if loss is not None and loss not in fitting:
        kind = "a classifier" if forest.is_classifier else "a regressor"
        raise InvalidInputError(f"loss={loss!r} does not fit {kind}; use {_options(fitting)}.")
    return cast(Loss, fitting[0] if loss is None else loss)


def _options(names: tuple[str, ...]) -> str:
    return ", ".join(map(repr, names))


# --- Estimates: which rows count ----------------------------------------------------------------------------


def _in_bag(forest: Forest, X: Any, labels: Labels) -> Tally:
    """Rows count in the trees that were grown on them, as often as the bootstrap drew them (the paper)."""
    if forest.is_classifier and forest.class_weight is not None:
        return forest.class_weight
    if not forest.is_classifier and forest.variance is not None:
        # Rounding may leave the variance of equal targets a little below 0.
        scatter = np.maximum(forest.variance, 0) * forest.weight
        return np.column_stack([forest.weight, forest.value[:, 0], scatter])
    what = "in-bag errors of a model that does not remember enough (for its criterion, or constraints)"
    rows, target, weight, count = _training(forest, X, labels, what)
    if np.array_equal(count.sum(axis=1), forest.weight[forest.tree_start[:-1]]):
        # To the trees each draw was worth 1: weights, if any, have decided what was drawn.
        weight = np.ones_like(weight)
    return tally_rows(forest, rows, target, weight, count)


def _out_of_bag(forest: Forest, X: Any, labels: Labels) -> Tally:
    """Training rows count in the trees whose samples do not include them."""
    rows, target, weight, count = _training(forest, X, labels, "out-of-bag errors")
    return tally_rows(forest, rows, target, weight, (count == 0).astype(np.int32))


def _training(
    forest: Forest, X: Any, labels: Labels, what: str
) -> tuple[RoutedRows, NDArray[Any], NDArray[np.float64], NDArray[np.int32]]:
    """Where training rows go, what they are, what they weigh, and how often each is in a tree's bag."""
    if X is None or labels.y is None:
        raise InvalidInputError(f"{what} need the training rows: pass X_train and y_train.")
    X = forest.prepare_rows(X, "X_train")
    target, weight = labels.check(forest, len(X))
    return route(forest, X), target, weight, forest.in_bag_counts(len(X))


def _held_out(forest: Forest, rows: RoutedRows, labels: Labels) -> Tally:
    """Rows whose costs are counted also count errors, once in every tree."""
    return tally_rows(forest, rows, *labels.check(forest, rows.order.shape[1]))


def _weight(forest: Forest, tally: Tally) -> NDArray[np.float64]:
    """Total weight of a tally."""
    weight: NDArray[np.float64] = tally.sum(axis=1) if forest.is_classifier else tally[:, 0]
    return weight


# --- Losses: what a node loses on the rows of a tally -------------------------------------------------------


def _misclassified(value: NDArray[np.float64], tally: Tally) -> NDArray[np.float64]:
    """Weight of the rows whose class is not the node's own label."""
    others = tally.copy()
    np.put_along_axis(others, np.argmax(value, axis=1)[:, np.newaxis], 0.0, axis=1)
    lost: NDArray[np.float64] = others.sum(axis=1)
    return lost


def _brier(value: NDArray[np.float64], tally: Tally) -> NDArray[np.float64]:
    """Squared distance of the node's probabilities p from a row of class k: |p|^2 - 2 p_k + 1."""
    length = np.einsum("hk,hk->h", value, value)
    lost: NDArray[np.float64] = np.einsum("hk,hk->h", tally, (1 + length)[:, np.newaxis] - 2 * value)
    return lost


def _squared(value: NDArray[np.float64], tally: Tally) -> NDArray[np.float64]:
    """Squared distance of the node's value from the targets: scatter plus that of their mean."""
    weight, mean, scatter = tally.T
    lost: NDArray[np.float64] = scatter + weight * (mean - value[:, 0]) ** 2
    return lost


_LOSSES: dict[Loss, Callable[[NDArray[np.float64], Tally], NDArray[np.float64]]] = {
    "misclassification": _misclassified,
    "brier": _brier,
    "squared": _squared,
}
