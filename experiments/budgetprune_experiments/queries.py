"""Splits by query for ranking, and drawn prices for features without any."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetprune.datasets import TEST, TRAIN, VALIDATION, Dataset
from budgetprune.errors import InvalidInputError
from budgetprune.selection import LabelledRows
from budgetprune_experiments.split import Split

# Minimum relevance of documents that count as relevant.
RELEVANT = 1
# Share of the training queries used for validation if the data set has no validation queries.
VALIDATION_SHARE = 0.3


def split_by_query(data: Dataset, seed: int) -> Split:
    """Split documents as in the data set; without validation rows, use some training queries for validation.

    Labels become 1 (relevant) or 0. No query is in two parts.
    """
    if data.qid is None or data.split is None:
        raise InvalidInputError(f"{data.name} must say which query each row belongs to, and its split.")
    role = np.array(data.split)
    if not np.any(role == VALIDATION):
        in_train = np.flatnonzero(role == TRAIN)
        role[in_train[drawn_queries(data.qid[in_train], VALIDATION_SHARE, seed)]] = VALIDATION
    check_whole(data.qid, role)
    relevant = (data.y >= RELEVANT).astype(np.int64)
    parts = (np.flatnonzero(role == part) for part in (TRAIN, VALIDATION, TEST))
    return Split(seed, *(LabelledRows(data.X[rows], relevant[rows], qid=data.qid[rows]) for rows in parts))


def drawn_queries(qid: NDArray[np.int64], share: float, seed: int) -> NDArray[np.bool_]:
    """Mark the documents of a share of the queries, drawn at random."""
    queries = np.unique(qid)
    drawn = np.random.default_rng(seed).permutation(queries)[: round(share * queries.size)]
    return np.isin(qid, drawn)


def check_whole(qid: NDArray[np.int64], role: NDArray[np.int8]) -> None:
    """Raise if some query has documents in two parts."""
    pairs = np.unique(np.stack([qid, role.astype(np.int64)]), axis=1)
    queries, parts = np.unique(pairs[0], return_counts=True)
    if np.any(parts > 1):
        raise InvalidInputError(
            f"query {queries[parts > 1][0]} has documents in several of training, validation and test rows; "
            "models would be chosen, or tested, on queries that they have seen."
        )


def drawn_prices(values: NDArray[np.float64], n_features: int, seed: int) -> NDArray[np.float64]:
    """Draw feature prices from a list, with its frequencies, in random order.

    The sorted list is read at `n_features` equally spaced positions, so only the assignment of prices to
    features is random.
    """
    places = ((np.arange(n_features) + 0.5) / n_features * values.size).astype(np.intp)
    return np.random.default_rng(seed).permutation(np.sort(values)[places])
