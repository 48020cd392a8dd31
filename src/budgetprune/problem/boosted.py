"""Node errors of a boosted ensemble: the loss that pruned splits no longer reduce.

Averaged trees each have an error of their own. Boosted trees correct each other, so what counts is the loss
of the sum: the error of a pruning is the loss that it adds to the unpruned ensemble's, per unit of weight. To
second order, and as if no later round took notice, that is the sum of the gains of the splits that go.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.problem.errors import Estimate, NodeErrors, check_finite
from budgetprune.problem.gains import NewtonSums, newton_sums, split_gains, sums_below
from budgetprune.problem.rows import RoutedRows, route
from budgetprune.problem.targets import Labels, check_for_loss


def boosted_errors(
    forest: Forest,
    estimate: Estimate,
    rows: RoutedRows,
    labels: Labels,
    X_train: Any,
    train_labels: Labels,
) -> NodeErrors:
    """Compute the gains of all splits, and sum them below each node.

    Parameters
    ----------
    forest : Forest
    estimate : which rows count
        In-bag gains are those that the model recorded; where it recorded none, the training rows are
        measured. A boosted tree sees all of them, so that pooled means training and held-out rows together.
    rows, labels : where held-out rows go, and what they are
    X_train, train_labels : the rows that the trees were grown on
    """
    if estimate == "in-bag" and forest.split_gain is not None:
        gain, counted = np.where(forest.is_split, forest.split_gain, 0.0), 1.0
    else:
        parts = []
        if estimate in ("in-bag", "pooled"):
            X = forest.prepare_rows(X_train, "X_train")
            parts.append(measure(forest, route(forest, X), train_labels))
        if estimate in ("held-out", "pooled"):
            parts.append(measure(forest, rows, labels))
        gain = np.sum([split_gains(forest, sums) for sums, _ in parts], axis=0)
        counted = sum(weight for _, weight in parts)
    check_finite(gain)
    with np.errstate(over="ignore"):
        lost: NDArray[np.float64] = sums_below(forest.right, gain)
    check_finite(lost)
    per_tree = np.full(forest.n_trees, counted)
    return NodeErrors(lost, gain, per_tree, per_tree)


def measure(forest: Forest, rows: RoutedRows, labels: Labels) -> tuple[NewtonSums, float]:
    """Add up the derivatives of some rows' loss at the nodes that they reach; return also their weight."""
    target, weight = labels.check(forest, rows.order.shape[1])
    check_for_loss(forest.loss, target, weight, labels.y_name)
    with np.errstate(over="ignore", invalid="ignore"):
        sums = newton_sums(forest, rows, target, weight)
    for part in sums:
        check_finite(part)
    return sums, float(weight.sum())


def check_boosted(forest: Forest, estimate: str, loss: str | None, X_train: Any, y_train: Any) -> None:
    """Raise unless the gains of a boosted ensemble can be computed from the input."""
    if estimate == "out-of-bag":
        raise InvalidInputError(
            "error='out-of-bag' is for bootstrapped trees; a boosted tree sees all training rows, directly "
            "or in its gradients. Use error='held-out' with y_cost, or 'pooled' with the training rows too."
        )
    if loss is not None:
        raise InvalidInputError(
            f"loss={loss!r} is for averaged trees; a boosted ensemble is pruned by the loss that it was "
            f"trained on ({forest.loss or 'not known here'}). Leave loss out."
        )
    if estimate == "in-bag" and forest.split_gain is not None:
        return
    check_known_loss(forest)
    if estimate == "in-bag" and (X_train is None or y_train is None):
        raise InvalidInputError(
            "this boosted model records no gains that could be used as they are (none at all, or with "
            "penalties taken off); pass X_train and y_train to measure them, or use error='held-out' with "
            "y_cost."
        )


def check_known_loss(forest: Forest) -> None:
    """Raise if there is no loss to measure gains by."""
    if forest.loss is None:
        has_record = forest.split_gain is not None
        raise InvalidInputError(
            "gains of this boosted model cannot be measured on rows, because the loss that it was trained on "
            "is none that we know; "
            + ("use error='in-bag', for the gains that it recorded itself." if has_record else _NO_RECORD)
        )


_NO_RECORD = "nor did it record gains. Train it on a squared, logistic, softmax, Poisson or gamma loss."
