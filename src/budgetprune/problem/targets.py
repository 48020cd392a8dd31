"""Validation of labels, targets and weights."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.losses import find_loss
from budgetprune.utils.row_values import as_numbers, as_weights, one_per_row


class Labels(NamedTuple):
    """Labels or targets of rows and their weights, as given, with their names for messages."""

    y: Any
    weight: Any
    y_name: str
    weight_name: str
    class_weight: NDArray[np.float64] | None = None  # in addition to the model's

    def check(self, forest: Forest, n_rows: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return targets and weights as arrays; class weights are multiplied into the weights."""
        target = as_targets(forest, self.y, n_rows, self.y_name)
        weight = as_weights(self.weight, n_rows, self.weight_name)
        if forest.classes is not None:
            count = np.bincount(target, minlength=forest.classes.size)
            weight = weight * class_weight(forest, count)[target]
            if self.class_weight is not None:
                weight = weight * self.class_weight[target]
        return target, weight


def as_targets(forest: Forest, y: Any, n_rows: int, name: str) -> NDArray[Any]:
    """Return the class index of each row, or for regression its target."""
    if forest.classes is None:
        return as_numbers(y, n_rows, name)
    labels = one_per_row(y, n_rows, name)
    number = {label: k for k, label in enumerate(forest.classes.tolist())}
    try:
        distinct, row_label = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise InvalidInputError(f"{name} mixes labels of different kinds ({error}).") from error
    unknown = [repr(label) for label in distinct.tolist() if label not in number]
    if unknown:
        raise InvalidInputError(
            f"{name} has labels that the forest does not know: {', '.join(unknown[:5])}"
            f"{', ...' if len(unknown) > 5 else ''}; its classes are {reprlib.repr(list(number))}."
        )
    return np.array([number[label] for label in distinct.tolist()], dtype=np.int64)[row_label]


def check_for_loss(loss: str | None, target: NDArray[Any], weight: NDArray[np.float64], y_name: str) -> None:
    """Raise unless a loss can be added up over these rows."""
    known = None if loss is None else find_loss(loss)
    too_small = np.zeros(0) if known is None else np.flatnonzero(target < known.least_target)
    if known is not None and too_small.size:
        i = too_small[0]
        raise InvalidInputError(
            f"{y_name} is {target[i]} in row {i}, but targets of a {loss} loss are {known.valid_targets}."
        )
    if not weight.any():
        raise InvalidInputError(
            f"all rows of {y_name} have weight 0 once classes are weighted; at least one must count."
        )


def read_class_weight(wish: Any, forest: Forest, y: Any) -> NDArray[np.float64] | None:
    """Return the weight of each class of a forest; None if none is given.

    Parameters
    ----------
    wish : None, "balanced", mapping of labels to weights, or array of shape (n_classes,)
        ``"balanced"`` balances the rows with the labels `y`. Classes that a mapping lacks have weight 1.
    forest : Forest
    y : labels, or None
    """
    if wish is None:
        return None
    if forest.classes is None:
        raise InvalidInputError("class_weight is for classifiers, and this forest predicts numbers.")
    labels = forest.classes.tolist()
    if isinstance(wish, str) and wish == "balanced":
        if y is None:
            raise InvalidInputError("class_weight='balanced' needs the labels of the rows.")
        target = as_targets(forest, y, len(y), "y")
        return _balanced(np.bincount(target, minlength=len(labels)))
    if isinstance(wish, Mapping):
        unknown = [label for label in wish if label not in labels]
        if unknown:
            raise InvalidInputError(
                f"class_weight has a weight for {unknown[0]!r}; the classes are {reprlib.repr(labels)}."
            )
        wish = [wish.get(label, 1.0) for label in labels]
    try:
        weight = np.zeros(0) if isinstance(wish, str) else np.array(wish, dtype=np.float64)
    except (TypeError, ValueError):
        weight = np.zeros(0)
    if weight.shape != (len(labels),) or not np.all((weight >= 0) & (weight < np.inf)) or not weight.any():
        raise InvalidInputError(
            "class_weight must be 'balanced', or have a finite weight of at least 0 for each of "
            f"{reprlib.repr(labels)}, and one above 0; not {wish!r}."
        )
    return weight


def _balanced(count: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return weights that are inversely proportional to the number of rows of each class."""
    return np.asarray(count.sum() / (np.count_nonzero(count) * np.maximum(count, 1)))


def class_weight(forest: Forest, count: NDArray[np.int64]) -> NDArray[np.float64]:
    """Class weights as in the model's training, one per class.

    ``"balanced"`` balances the rows at hand, given by the `count` of each class; so does
    ``"balanced_subsample"``, because rows that no tree was grown on have no subsamples. Other such
    parameters of boosting libraries (`scale_pos_weight`, `is_unbalance`) are ignored; pass sample weights
    instead.
    """
    assert forest.classes is not None
    n_classes = forest.classes.size
    model: Any = forest.origin
    labels: Iterable[Any] = forest.classes.tolist()
    if not forest.is_boosted and hasattr(model, "estimators_") and not hasattr(model, "class_weight"):
        # A bag leaves weighting to its trees, and numbers the classes before they see them.
        model, labels = model.estimators_[0], range(n_classes)
    wish = getattr(model, "class_weight", None)
    if wish is None:
        return np.ones(n_classes)
    if isinstance(wish, str):
        return _balanced(count)
    return np.array([wish.get(label, 1.0) for label in labels], dtype=np.float64)
