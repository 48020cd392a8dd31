"""Order of categories by their mean target.

If the categories of a column are numbered in the order of their mean target, then for two classes, and for
regression, the best split of the categories into two sets is a threshold (Fisher 1958; Breiman et al. 1984).
For several classes, they are numbered in the order of the first principal component of their class shares,
which gives good splits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Number of rows with the mean target that are added to each category, to smooth categories with few rows.
SMOOTHING = 10.0
# A category needs this many training rows, otherwise it counts as missing: 1 in 200 of all rows, from
# 2 to 20. Unknown categories count as missing too, so the trees learn from rare ones how to route them.
FEWEST_ROWS, MOST_FEWEST_ROWS, ROWS_PER_FEWEST = 2, 20, 200


def targets_of(y: NDArray[Any], *, is_classifier: bool) -> NDArray[np.float64]:
    """Return targets as columns of numbers: one per class, or the targets themselves."""
    if not is_classifier:
        return np.asarray(y, dtype=np.float64)[:, np.newaxis]
    classes, number = np.unique(y, return_inverse=True)
    targets = np.zeros((len(y), classes.size))
    targets[np.arange(len(y)), number] = 1.0
    return targets


def order_categories(
    code: NDArray[np.integer[Any]], n_labels: int, targets: NDArray[np.float64], most: int | None = None
) -> list[int]:
    """Return the categories that have enough rows, in the order of their smoothed mean targets.

    Parameters
    ----------
    code : category of each row; -1 if it is missing
    n_labels : number of categories
    targets : of each row, as `targets_of` returns them
    most : largest number of categories; the most frequent ones are kept
    """
    fewest = int(np.clip(len(targets) // ROWS_PER_FEWEST, FEWEST_ROWS, MOST_FEWEST_ROWS))
    present = code >= 0
    n_rows = np.bincount(code[present], minlength=n_labels).astype(np.float64)
    total = np.column_stack(
        [np.bincount(code[present], weights=each[present], minlength=n_labels) for each in targets.T]
    )
    mean = targets.mean(axis=0)
    shares = (total + SMOOTHING * mean) / (n_rows + SMOOTHING)[:, np.newaxis]
    enough = np.flatnonzero(n_rows >= fewest)
    if most is not None and enough.size > most:
        enough = np.sort(enough[np.argsort(-n_rows[enough], kind="stable")[:most]])
    order: list[int] = enough[np.argsort(_positions(shares[enough], n_rows[enough]), kind="stable")].tolist()
    return order


def _positions(shares: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the position of each category along the direction in which class shares differ most."""
    if shares.shape[1] == 1 or not len(shares):
        return shares[:, 0]
    if shares.shape[1] == 2:
        return shares[:, 1]
    centred = shares - np.average(shares, axis=0, weights=weight)
    axis = np.linalg.svd(centred * np.sqrt(weight)[:, np.newaxis], full_matrices=False)[2][0]
    return np.asarray(centred @ (axis * np.sign(axis[np.argmax(np.abs(axis))])))
