"""Majority vote of the trees of a forest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest


def count_votes(forest: Forest, X: Any) -> NDArray[np.int64]:
    """Count the trees that vote for each class: the most probable class of the leaf that the row reaches.

    A tree that finds two classes equally probable votes for the first of them.

    Parameters
    ----------
    forest : Forest
        A classifier whose trees each answer with probabilities.
    X : rows, of any form that `Forest.prepare_rows` takes

    Returns
    -------
    votes : int64 array of shape (n_rows, n_classes)
    """
    if forest.classes is None or forest.is_boosted or forest.value.shape[1] != forest.classes.size:
        raise InvalidInputError(
            "only trees that each answer with a probability for every class can vote; boosted trees, and "
            "those of a regressor, add up to a score."
        )
    choice = np.argmax(forest.value, axis=1)[forest.apply(X)]
    votes = np.zeros((len(choice), forest.classes.size), dtype=np.int64)
    every_row = np.arange(len(choice))
    for of_tree in choice.T:
        votes[every_row, of_tree] += 1
    return votes


def majority(forest: Forest, votes: NDArray[np.int64]) -> NDArray[Any]:
    """Label with the most votes for each row; on ties, the first class, as in `Forest.answers`."""
    assert forest.classes is not None
    labels: NDArray[Any] = forest.classes[np.argmax(votes, axis=1)]
    return labels


def are_tied(votes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mark the rows for which two classes or more have the most votes."""
    tied: NDArray[np.bool_] = np.count_nonzero(votes == votes.max(axis=1, keepdims=True), axis=1) > 1
    return tied
