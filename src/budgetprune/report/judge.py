"""Test rows with their targets, and metrics of predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs.price_lists import is_missing, listed
from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest

# Maximum number of classes in a readable confusion matrix.
MOST_CLASSES = 10
N_BINS = 24


@dataclass(frozen=True, eq=False)
class Judge:
    """Evaluate predictions row by row, for paired comparison of models.

    Attributes
    ----------
    rows : array of shape (n_rows, n_features)
        As `Forest.prepare_rows` returns them.
    truth : int64 array with class indices, or float64 array with targets
        -1 is a label unknown to the model; every answer to it is wrong.
    given : object array of shape (n_rows,)
        Labels or targets as given.
    classes : array of labels, or None for regression
    variance : float
        Variance of all targets; 1 for classification.
    class_names : tuple of str, or None for regression
        Rows and columns of the confusion matrix.
    shown : int64 array of shape (n_classes + 1,)
        Index of each class in `class_names`. If there are many classes, rare ones share one index. The last
        entry is for labels unknown to the model.
    edges : float64 array
        Bin edges of the residuals.
    """

    rows: NDArray[Any]
    truth: NDArray[Any]
    given: NDArray[np.object_]
    classes: NDArray[Any] | None
    variance: float
    class_names: tuple[str, ...] | None
    shown: NDArray[np.int64]
    edges: NDArray[np.float64]

    @classmethod
    def of(cls, forest: Forest, X: Any, y: Any) -> Judge:
        """Validate rows and targets, and prepare them for any pruning of a forest."""
        rows = forest.prepare_rows(X, "the data")
        targets = list(y)
        if len(targets) != len(rows):
            raise InvalidInputError(f"there are {len(rows)} rows, but {len(targets)} targets.")
        n_missing = sum(map(is_missing, targets))
        if n_missing:
            raise InvalidInputError(
                f"the target of {n_missing} row(s) is missing; leave them out, they cannot judge."
            )
        none = np.empty(0)
        given = np.empty(len(targets), dtype=object)
        given[:] = targets
        if forest.classes is not None:
            truth = _numbers(targets, forest.classes)
            names, shown = _shown(truth, forest.classes)
            return cls(rows, truth, given, forest.classes, 1.0, names, shown, none)
        target = _targets(targets)
        variance = float(target.var())
        if not variance > 0:
            raise InvalidInputError("the target is the same in all rows of the data, so R² is not defined.")
        edges = _edges(target - target.mean())
        return cls(rows, target, given, None, variance, None, none.astype(np.int64), edges)

    def __len__(self) -> int:
        return len(self.rows)

    def part(self, index: NDArray[np.intp]) -> Judge:
        """Return a subset of the rows."""
        return replace(self, rows=self.rows[index], truth=self.truth[index], given=self.given[index])

    def truth_of(self, row: int) -> Any:
        """Return the true target or label of a row; an unknown label is returned as given."""
        if self.classes is None:
            return self.truth[row]
        return self.given[row] if self.truth[row] < 0 else self.classes[self.truth[row]]

    def guess(self) -> tuple[str, float]:
        """Return the best constant prediction and its score."""
        if self.classes is None:
            return f"{self.truth.mean():.4g}", 0.0
        count = np.bincount(self.truth[self.truth >= 0], minlength=self.classes.size)
        return str(self.classes[count.argmax()]), float(count.max() / len(self))

    def numbers(self, answer: NDArray[Any]) -> NDArray[np.int64]:
        """Return the class indices of labels."""
        assert self.classes is not None
        number = np.zeros(len(answer), dtype=np.int64)
        for k, label in enumerate(self.classes):
            number[answer == label] = k
        return number

    def quality(self, answer: NDArray[Any]) -> NDArray[np.float64]:
        """Return the score of each answer; its mean is the accuracy or R²."""
        if self.classes is not None:
            return np.asarray(self.numbers(answer) == self.truth, dtype=np.float64)
        better: NDArray[np.float64] = 1 - (answer - self.truth) ** 2 / self.variance
        return better

    def confusion(self, answer: NDArray[Any]) -> tuple[tuple[int, ...], ...] | None:
        """Count rows by true and predicted label."""
        if self.class_names is None:
            return None
        n_shown = len(self.class_names)
        pair = self.shown[self.truth] * n_shown + self.shown[self.numbers(answer)]
        count = np.bincount(pair, minlength=n_shown**2).reshape(n_shown, n_shown)
        return tuple(map(tuple, count.tolist()))

    def residuals(self, answer: NDArray[Any]) -> tuple[int, ...] | None:
        """Count rows by residual (prediction minus truth); the outermost bins are open."""
        if self.classes is not None:
            return None
        inside = np.clip(answer - self.truth, self.edges[0], self.edges[-1])
        return tuple(np.histogram(inside, self.edges)[0].tolist())

    def mean_off(self, answer: NDArray[Any]) -> float | None:
        """Return the mean absolute error; None for classification."""
        return None if self.classes is not None else float(np.abs(answer - self.truth).mean())


def _numbers(targets: Sequence[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    """Return class indices of labels, which a file may have turned into strings."""
    known = {label: k for k, label in enumerate(classes.tolist())}
    as_text = {str(label): k for label, k in known.items()}
    number = {label: known.get(label, as_text.get(str(label), -1)) for label in set(targets)}
    if all(k < 0 for k in number.values()):
        raise InvalidInputError(
            f"the target is never one of the labels that the model knows, {listed(map(repr, known))}; it has "
            f"{listed(sorted(map(repr, number)))}."
        )
    return np.array([number[label] for label in targets], dtype=np.int64)


def _targets(targets: Sequence[Any]) -> NDArray[np.float64]:
    try:
        target = np.array(targets, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"the target must be a number in every row ({error}).") from error
    if not np.isfinite(target).all():
        raise InvalidInputError("the target is infinite in some rows.")
    return target


def _shown(truth: NDArray[np.int64], classes: NDArray[Any]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the row names of the confusion matrix and the index of each class.

    The most frequent classes keep their order; the others share the next index.
    """
    count = np.bincount(truth[truth >= 0], minlength=classes.size)
    n_alone = classes.size if classes.size <= MOST_CLASSES else MOST_CLASSES - 1
    alone = np.sort(np.argsort(-count, kind="stable")[:n_alone])
    names = [str(classes[k]) for k in alone]
    place = np.full(classes.size + 1, n_alone)
    place[alone] = np.arange(n_alone)
    if n_alone < classes.size:
        names.append("other labels")
    if (truth < 0).any():
        place[-1] = len(names)
        names.append("unknown to the model")
    return tuple(names), place


def _edges(spread: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return edges of equal bins around 0 that cover 98 % of a constant model's residuals."""
    reach = float(np.quantile(np.abs(spread), 0.98))
    return np.linspace(-reach, reach, N_BINS + 1)
