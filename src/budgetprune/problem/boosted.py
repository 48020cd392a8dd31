"""Node errors of a boosted ensemble: the loss that pruned splits no longer reduce.

Each averaged tree has an error of its own. Boosted trees correct each other, so the loss of their sum counts:
the error of a pruning is the increase of the loss over the unpruned ensemble, per unit of weight. To second
order, and if later rounds are taken as fixed, that is the sum of the gains of the pruned splits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.problem.errors import NodeErrors, check_finite
from budgetprune.problem.estimate import ErrorEstimate, ErrorRows
from budgetprune.problem.gains import NewtonSums, newton_sums
from budgetprune.problem.kernels import sums_below
from budgetprune.problem.rows import RoutedRows
from budgetprune.problem.targets import Labels, check_for_loss


def boosted_errors(forest: Forest, estimate: ErrorEstimate, data: ErrorRows) -> NodeErrors:
    """Compute the gains of all splits, and sum them below each node."""
    parts = estimate.gains(forest, data)
    gain = np.sum([part.gain for part in parts], axis=0)
    check_finite(gain)
    with np.errstate(over="ignore"):
        lost: NDArray[np.float64] = sums_below(forest.right, gain)
    check_finite(lost)
    per_tree = np.full(forest.n_trees, sum(part.weight for part in parts))
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


def check_boosted(forest: Forest, estimate: ErrorEstimate, loss: str | None, has_train: bool) -> None:
    """Raise unless the gains of a boosted ensemble can be computed from the input."""
    if loss is not None:
        raise InvalidInputError(
            f"loss={loss!r} is for averaged trees; a boosted ensemble is pruned by the loss that it was "
            f"trained on ({forest.loss or 'unknown'}). Leave loss out."
        )
    estimate.check_boosted(forest, has_train)


def check_recorded_gains(
    forest: Forest, estimate: ErrorEstimate, class_weight: NDArray[np.float64] | None
) -> None:
    """Raise if classes have weights, but gains are those that the model recorded without them."""
    if class_weight is None or estimate.uses_cost_labels or forest.split_gain is None:
        return
    raise InvalidInputError(
        f"error={estimate.name!r} takes the gains that this boosted model recorded, which cannot be weighted "
        "by class; use error='held-out'."
    )


def check_known_loss(forest: Forest) -> None:
    """Raise if the loss of a boosted ensemble is not supported, so that gains cannot be measured."""
    if forest.loss is None:
        has_record = forest.split_gain is not None
        raise InvalidInputError(
            "gains of this boosted model cannot be measured on rows, because its training loss is not "
            "supported; "
            + ("use error='in-bag', for the gains that it recorded itself." if has_record else _NO_RECORD)
        )


_NO_RECORD = "nor did it record gains. Train it on a squared, logistic, softmax, Poisson or gamma loss."
