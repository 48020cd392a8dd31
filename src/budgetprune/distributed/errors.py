"""Node errors of a distributed problem: recorded by the model, or measured on all rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.problem import (
    ErrorEstimate,
    ErrorRows,
    NodeErrors,
    NodeStatistics,
    boosted_errors,
    check_boosted,
    check_estimate,
    check_loss,
    class_weight,
    node_errors,
)

RECORDED, MEASURED = "in-bag", "held-out"


class SummedStatistics(ErrorEstimate):
    """Statistics at each node that have been added up over all rows.

    Parameters
    ----------
    tally : float64 array of shape (n_nodes, n_classes)
        Weight of each class at each node.
    """

    name = MEASURED
    no_weight = "all rows have weight 0 once classes are weighted"

    def __init__(self, tally: NDArray[np.float64]) -> None:
        self.tally = tally

    def statistics(self, forest: Forest, data: ErrorRows) -> Sequence[NodeStatistics]:
        return [self.tally]


def check_errors(forest: Forest, error: str, loss: str | None, target: str | None) -> None:
    """Raise unless the errors of the nodes can be found, before any row is read."""
    if not isinstance(forest, Forest):
        raise InvalidInputError(
            f"forest must be a Forest, not {type(forest).__name__}; write Forest.from_model(model)."
        )
    if error not in (RECORDED, MEASURED):
        raise InvalidInputError(
            f"error={error!r} is not available for distributed rows; use {RECORDED!r} (recorded by the "
            f"model) or {MEASURED!r} (measured on all rows, needs target)."
        )
    estimate = check_estimate(error)
    if forest.is_boosted:
        check_boosted(forest, estimate, loss, has_train=False)
    else:
        check_loss(forest, loss)
    if error == RECORDED and not estimate.is_available(forest, None):
        raise InvalidInputError(
            "this model does not record its in-bag errors; use error='held-out', and pass target, a column."
        )
    if error == MEASURED:
        if target is None:
            raise InvalidInputError(
                "error='held-out' measures errors on the rows: pass target, a column name."
            )
        if forest.is_boosted or not forest.is_classifier:
            raise InvalidInputError(
                "held-out errors of distributed rows are for averaged trees of classifiers; "
                "use error='in-bag', which the model records."
            )


def recorded_errors(forest: Forest, loss: str | None) -> NodeErrors:
    """Errors that the model recorded in training."""
    estimate = check_estimate(RECORDED)
    nothing: Any = None  # recorded errors read no rows
    if forest.is_boosted:
        return boosted_errors(forest, estimate, nothing)
    return node_errors(forest, estimate, check_loss(forest, loss), nothing)


def errors_of_tally(
    forest: Forest, loss: str | None, tally: NDArray[np.float64], class_counts: NDArray[np.int64]
) -> NodeErrors:
    """Errors on all rows, from the weight of each class at each node."""
    # Class weights may depend on the number of rows of each class.
    summed = SummedStatistics(tally * class_weight(forest, class_counts))
    nothing: Any = None
    return node_errors(forest, summed, check_loss(forest, loss), nothing)
