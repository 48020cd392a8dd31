"""Error estimates of the package: in-bag, out-of-bag, held-out and pooled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.problem.boosted import check_known_loss, measure
from budgetprune.problem.estimate import ErrorEstimate, ErrorRows, NodeStatistics, SplitGains
from budgetprune.problem.gains import split_gains
from budgetprune.problem.rows import RoutedRows, route
from budgetprune.problem.tally import tally_rows
from budgetprune.problem.targets import Labels


class InBag(ErrorEstimate):
    """Training rows, in the trees that were grown on them (the paper).

    A row counts as often as the bootstrap drew it. Boosted trees use all training rows: their gains are those
    that the model recorded. Where it recorded none, they are measured on the training rows.
    """

    name = "in-bag"
    no_weight = "all its training rows have weight 0"

    def is_available(self, forest: Forest, n_train: int | None) -> bool:
        if forest.is_boosted:
            return forest.split_gain is not None or (n_train is not None and forest.loss is not None)
        return _records_statistics(forest) or n_train is not None

    def statistics(self, forest: Forest, data: ErrorRows) -> Sequence[NodeStatistics]:
        if forest.is_classifier and forest.class_weight is not None:
            # Recorded statistics need no rows, so distributed problems have none here.
            own = None if data is None else data.labels.class_weight
            return [forest.class_weight if own is None else forest.class_weight * own]
        if not forest.is_classifier and forest.variance is not None:
            # Rounding may leave the variance of equal targets a little below 0.
            scatter = np.maximum(forest.variance, 0) * forest.weight
            return [np.column_stack([forest.weight, forest.value[:, 0], scatter])]
        what = "in-bag errors of a model that does not record enough (for its criterion, or constraints)"
        rows, target, weight, count = _training_rows(forest, data, what)
        if np.array_equal(count.sum(axis=1), forest.weight[forest.tree_start[:-1]]):
            # The trees gave each draw weight 1: sample weights, if any, were drawing probabilities.
            weight = np.ones_like(weight)
        return [tally_rows(forest, rows, target, weight, count)]

    def check_boosted(self, forest: Forest, has_train: bool) -> None:
        if forest.split_gain is not None:
            return
        check_known_loss(forest)
        if not has_train:
            raise InvalidInputError(
                "this boosted model records no usable gains (none at all, or only gains minus penalties); "
                "pass X_train and y_train to measure them, or use error='held-out' "
                "with y_cost."
            )

    def gains(self, forest: Forest, data: ErrorRows) -> Sequence[SplitGains]:
        if forest.split_gain is not None:
            return [SplitGains(np.where(forest.is_split, forest.split_gain, 0.0), 1.0)]
        return [_training_gains(forest, data)]


class OutOfBag(ErrorEstimate):
    """Training rows, in the trees whose bootstrap samples do not contain them."""

    name = "out-of-bag"
    needs = ("X_train", "y_train")
    no_weight = (
        "all training rows with a weight are in its bag (as without bootstrap); "
        "use error='in-bag', or 'held-out' with y_cost"
    )

    def is_available(self, forest: Forest, n_train: int | None) -> bool:
        if forest.is_boosted or n_train is None:
            return False
        return bool((forest.in_bag_counts(n_train) == 0).any(axis=1).all())

    def statistics(self, forest: Forest, data: ErrorRows) -> Sequence[NodeStatistics]:
        rows, target, weight, count = _training_rows(forest, data, "out-of-bag errors")
        return [tally_rows(forest, rows, target, weight, (count == 0).astype(np.int32))]

    def check_boosted(self, forest: Forest, has_train: bool) -> None:
        raise InvalidInputError(
            "error='out-of-bag' is for bootstrapped trees; a boosted tree sees all training rows, directly "
            "or in its gradients. Use error='held-out' with y_cost, or 'pooled' with the training rows too."
        )


class HeldOut(ErrorEstimate):
    """The rows whose costs are counted, in all trees."""

    name = "held-out"
    needs = ("y_cost",)
    no_weight = "all rows of X_cost have weight 0 once classes are weighted"

    def is_available(self, forest: Forest, n_train: int | None) -> bool:
        return not forest.is_boosted or forest.loss is not None

    def statistics(self, forest: Forest, data: ErrorRows) -> Sequence[NodeStatistics]:
        return [tally_rows(forest, data.rows, *data.labels.check(forest, data.rows.order.shape[1]))]

    def check_boosted(self, forest: Forest, has_train: bool) -> None:
        check_known_loss(forest)

    def gains(self, forest: Forest, data: ErrorRows) -> Sequence[SplitGains]:
        return [_measured(forest, data.rows, data.labels)]


class Pooled(ErrorEstimate):
    """Out-of-bag and held-out rows together; for boosted trees, all training rows and the held-out ones."""

    name = "pooled"
    needs = ("y_cost", "X_train", "y_train")
    no_weight = "all training rows are in its bag, and all rows of X_cost have weight 0"

    def is_available(self, forest: Forest, n_train: int | None) -> bool:
        if forest.is_boosted:
            return n_train is not None and forest.loss is not None
        return OUT_OF_BAG.is_available(forest, n_train)

    def statistics(self, forest: Forest, data: ErrorRows) -> Sequence[NodeStatistics]:
        return [*OUT_OF_BAG.statistics(forest, data), *HELD_OUT.statistics(forest, data)]

    def check_boosted(self, forest: Forest, has_train: bool) -> None:
        check_known_loss(forest)

    def gains(self, forest: Forest, data: ErrorRows) -> Sequence[SplitGains]:
        return [_training_gains(forest, data), *HELD_OUT.gains(forest, data)]


def _records_statistics(forest: Forest) -> bool:
    recorded = forest.class_weight if forest.is_classifier else forest.variance
    return recorded is not None


class _TrainingRows(NamedTuple):
    rows: RoutedRows
    target: NDArray[Any]
    weight: NDArray[np.float64]
    in_bag: NDArray[np.int32]  # how often each row is in each tree's bag


def _training_rows(forest: Forest, data: ErrorRows, what: str) -> _TrainingRows:
    """Route and check the training rows; `what` needs them, for the message."""
    if data.X_train is None or data.train_labels.y is None:
        raise InvalidInputError(f"{what} need the training rows: pass X_train and y_train.")
    X = forest.prepare_rows(data.X_train, "X_train")
    target, weight = data.train_labels.check(forest, len(X))
    return _TrainingRows(route(forest, X), target, weight, forest.in_bag_counts(len(X)))


def _training_gains(forest: Forest, data: ErrorRows) -> SplitGains:
    X = forest.prepare_rows(data.X_train, "X_train")
    return _measured(forest, route(forest, X), data.train_labels)


def _measured(forest: Forest, rows: RoutedRows, labels: Labels) -> SplitGains:
    sums, weight = measure(forest, rows, labels)
    return SplitGains(split_gains(forest, sums), weight)


IN_BAG, OUT_OF_BAG, HELD_OUT, POOLED = InBag(), OutOfBag(), HeldOut(), Pooled()
BUILT_IN = (IN_BAG, OUT_OF_BAG, HELD_OUT, POOLED)
