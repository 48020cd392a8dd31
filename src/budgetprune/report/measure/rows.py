"""Test rows with their true targets, and the score of predictions for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import is_missing, join_first
from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.report.measure.error_costs import ErrorPrices
from budgetprune.report.summary.values import Value

# Maximum number of classes in a readable confusion matrix.
MOST_CLASSES = 10
N_BINS = 24


@dataclass(frozen=True, eq=False)
class MatrixClasses:
    """Rows and columns of the confusion matrices.

    Attributes
    ----------
    names : tuple of str
        Classes with a row of their own.
    has_other, has_unknown : bool
        Whether there is another row for rare classes, and one for labels unknown to the model.
    position : int64 array of shape (n_classes + 1,)
        Row of each class. The last entry is for labels unknown to the model.
    """

    names: tuple[str, ...]
    has_other: bool
    has_unknown: bool
    position: NDArray[np.int64]

    @classmethod
    def choose(cls, truth: NDArray[np.int64], classes: NDArray[Any]) -> MatrixClasses:
        """Give the most frequent classes rows of their own, in the order of the classes."""
        count = np.bincount(truth[truth >= 0], minlength=classes.size)
        n_named = classes.size if classes.size <= MOST_CLASSES else MOST_CLASSES - 1
        named = np.sort(np.argsort(-count, kind="stable")[:n_named])
        has_other, has_unknown = n_named < classes.size, bool((truth < 0).any())
        position = np.full(classes.size + 1, n_named)
        position[named] = np.arange(n_named)
        if has_unknown:
            position[-1] = n_named + has_other
        return cls(tuple(str(classes[k]) for k in named), has_other, has_unknown, position)

    @property
    def named(self) -> list[int]:
        """Indices of the classes with a row of their own."""
        return np.flatnonzero(self.position[:-1] < len(self.names)).tolist()

    def __len__(self) -> int:
        return len(self.names) + self.has_other + self.has_unknown


@dataclass(frozen=True, eq=False)
class EvaluationRows:
    """Test rows with true targets. Predictions are scored row by row, for paired comparison of models.

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
    matrix_classes : MatrixClasses, or None for regression
    prices : ErrorPrices or None
        Costs of wrong predictions.
    edges : float64 array
        Bin edges of the residuals; empty for classification.
    """

    rows: NDArray[Any]
    truth: NDArray[Any]
    given: NDArray[np.object_]
    classes: NDArray[Any] | None
    variance: float
    matrix_classes: MatrixClasses | None
    prices: ErrorPrices | None
    edges: NDArray[np.float64]

    @classmethod
    def prepare(cls, forest: Forest, X: Any, y: Any, error_costs: Any = None) -> EvaluationRows:
        """Validate rows, targets and error costs, and prepare them for any pruning of a forest."""
        rows = forest.prepare_rows(X, "the data")
        targets = list(y)
        if len(targets) != len(rows):
            raise InvalidInputError(f"there are {len(rows)} rows, but {len(targets)} targets.")
        n_missing = sum(map(is_missing, targets))
        if n_missing:
            raise InvalidInputError(
                f"the target of {n_missing} row(s) is missing; remove these rows, they cannot be evaluated."
            )
        given = np.empty(len(targets), dtype=object)
        given[:] = targets
        prices = None if error_costs is None else ErrorPrices.of(error_costs, forest.classes)
        if forest.classes is not None:
            truth = _class_indices(targets, forest.classes)
            shown = MatrixClasses.choose(truth, forest.classes)
            return cls(rows, truth, given, forest.classes, 1.0, shown, prices, np.empty(0))
        target = _numbers(targets)
        variance = float(target.var())
        if not variance > 0:
            raise InvalidInputError("the target is the same in all rows of the data, so R² is not defined.")
        return cls(rows, target, given, None, variance, None, prices, _edges(target - target.mean()))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def n_unknown(self) -> int:
        """Number of rows with a label unknown to the model."""
        return 0 if self.classes is None else int((self.truth < 0).sum())

    def subset(self, index: NDArray[np.intp]) -> EvaluationRows:
        """Return some of the rows."""
        return replace(self, rows=self.rows[index], truth=self.truth[index], given=self.given[index])

    def target_of(self, row: int) -> Any:
        """Return the true target or label of a row; an unknown label is returned as given."""
        if self.classes is None:
            return self.truth[row]
        return self.given[row] if self.truth[row] < 0 else self.classes[self.truth[row]]

    def best_constant(self) -> tuple[Value, float]:
        """Return the best constant prediction and its score."""
        if self.classes is None:
            return float(self.truth.mean()), 0.0
        count = np.bincount(self.truth[self.truth >= 0], minlength=self.classes.size)
        return str(self.classes[count.argmax()]), float(count.max() / len(self))

    def class_indices(self, answer: NDArray[Any]) -> NDArray[np.int64]:
        """Return the class indices of labels."""
        assert self.classes is not None
        index = np.zeros(len(answer), dtype=np.int64)
        for k, label in enumerate(self.classes):
            index[answer == label] = k
        return index

    def score(self, answer: NDArray[Any]) -> NDArray[np.float64]:
        """Return the score of each answer; its mean is the accuracy or R²."""
        if self.classes is not None:
            return np.asarray(self.class_indices(answer) == self.truth, dtype=np.float64)
        score: NDArray[np.float64] = 1 - (answer - self.truth) ** 2 / self.variance
        return score

    def error_cost(self, answer: NDArray[Any]) -> float | None:
        """Return the average cost of errors on rows with a known label; None if errors have no price."""
        if self.prices is None:
            return None
        if self.classes is None:
            return float(self.prices.of_answers(self.truth, answer).mean())
        is_known = self.truth >= 0
        cost = self.prices.of_answers(self.truth[is_known], self.class_indices(answer)[is_known])
        return float(cost.mean()) if cost.size else None

    def confusion(self, answer: NDArray[Any]) -> tuple[tuple[int, ...], ...] | None:
        """Count rows by true and predicted label; None for regression."""
        if self.matrix_classes is None:
            return None
        size, position = len(self.matrix_classes), self.matrix_classes.position
        pair = position[self.truth] * size + position[self.class_indices(answer)]
        count = np.bincount(pair, minlength=size**2).reshape(size, size)
        return tuple(map(tuple, count.tolist()))

    def residuals(self, answer: NDArray[Any]) -> tuple[int, ...] | None:
        """Count rows by residual (prediction minus truth); the outermost bins are open."""
        if self.classes is not None:
            return None
        inside = np.clip(answer - self.truth, self.edges[0], self.edges[-1])
        return tuple(np.histogram(inside, self.edges)[0].tolist())

    def mean_absolute_error(self, answer: NDArray[Any]) -> float | None:
        """Return the mean absolute error; None for classification."""
        return None if self.classes is not None else float(np.abs(answer - self.truth).mean())


def draw_sample(n_rows: int, max_rows: int, seed: int) -> NDArray[np.intp] | None:
    """Sample the rows for the other points; None means all rows."""
    if n_rows <= max_rows:
        return None
    return np.sort(np.random.default_rng(seed).choice(n_rows, max_rows, replace=False))


def _class_indices(targets: Sequence[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    """Return class indices of labels, which a file may have turned into strings."""
    known = {label: k for k, label in enumerate(classes.tolist())}
    as_text = {str(label): k for label, k in known.items()}
    index = {label: known.get(label, as_text.get(str(label), -1)) for label in set(targets)}
    if all(k < 0 for k in index.values()):
        raise InvalidInputError(
            f"the target is never one of the labels that the model knows, {join_first(map(repr, known))}; it "
            f"has {join_first(sorted(map(repr, index)))}."
        )
    return np.array([index[label] for label in targets], dtype=np.int64)


def _numbers(targets: Sequence[Any]) -> NDArray[np.float64]:
    try:
        target = np.array(targets, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"the target must be a number in every row ({error}).") from error
    if not np.isfinite(target).all():
        raise InvalidInputError("the target is infinite in some rows.")
    return target


def _edges(spread: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return edges of equal bins around 0 that cover 98 % of a constant model's residuals."""
    reach = float(np.quantile(np.abs(spread), 0.98))
    return np.linspace(-reach, reach, N_BINS + 1)
