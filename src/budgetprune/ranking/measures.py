"""Average precision and normalised discounted cumulative gain, as means over queries."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.ranking.documents import (
    Documents,
    Empty,
    check_empty,
    check_gain,
    check_k,
    check_relevant,
)
from budgetprune.ranking.expected import sum_expected_gains, sum_expected_precisions


def average_precision_at(
    y_true: ArrayLike,
    y_score: ArrayLike,
    qid: ArrayLike,
    k: int = 5,
    *,
    relevant: float = 1,
    empty: Empty = "skip",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Measure whether the first `k` documents of each query are the relevant ones.

    "Average precision@5" is what the paper reports for Yahoo! Learning to Rank, on relevance that was made
    binary. It does not define the measure; here it is the usual AP@k: the sum, over those of the first `k`
    ranks that hold a relevant document, of the share of relevant documents up to that rank, divided by
    ``min(k, number of relevant documents of the query)``, so that the best ranking has 1. The result is the
    mean over queries, long or short.

    Parameters
    ----------
    y_true : (n_rows,) relevance of each document, in numbers
    y_score : (n_rows,) scores of the documents, the highest is ranked first; equal scores come in random
    order
    qid : (n_rows,) query of each document, as numbers or text; rows of a query need not be neighbours
    k : number of ranks that count
    relevant : least relevance that counts as relevant
    empty : value of a query without a relevant document. ``"skip"`` leaves it out, since all rankings
        of it are equally good; a number between 0 and 1 replaces its AP@k (LightGBM and XGBoost use 1, which
        is optimistic)
    sample_weight : (n_rows,) weight of each row's query, the same in all rows of a query
    """
    k, relevant, empty = check_k(k), check_relevant(relevant), check_empty(empty)
    documents = Documents.read(y_true, y_score, qid, sample_weight)
    is_relevant = documents.relevance >= relevant
    n_relevant = np.bincount(documents.query, weights=is_relevant)
    precisions = sum_expected_precisions(documents.query, documents.score, is_relevant, k)
    return documents.mean(precisions / np.clip(n_relevant, 1, k), n_relevant == 0, empty)


def ndcg_at(
    y_true: ArrayLike,
    y_score: ArrayLike,
    qid: ArrayLike,
    k: int = 10,
    *,
    gain: Literal["exponential", "linear"] = "exponential",
    empty: Empty = "skip",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Measure, for graded relevance, how close the first `k` documents of each query come to the best order.

    The discounted gain of a document at rank i is its gain divided by ``log2(1 + i)``. NDCG@k is the sum over
    the first `k` ranks, divided by that of the best order. The result is the mean over queries, long or
    short. With linear gains a query has the value that scikit-learn's ``ndcg_score`` gives it.

    Parameters
    ----------
    y_true : (n_rows,) relevance of each document, numbers that are not negative
    y_score : (n_rows,) scores of the documents, the highest is ranked first; equal scores come in random
    order
    qid : (n_rows,) query of each document, as numbers or text; rows of a query need not be neighbours
    k : number of ranks that count
    gain : ``"exponential"`` for 2**relevance - 1, as is usual for graded relevance, ``"linear"`` for the
        relevance itself
    empty : value of a query in which no document has a gain. ``"skip"`` leaves it out, since all rankings of
        it are equally good; a number between 0 and 1 replaces its NDCG@k (scikit-learn uses 0; LightGBM
        and XGBoost use 1, which is optimistic)
    sample_weight : (n_rows,) weight of each row's query, the same in all rows of a query
    """
    k, gain, empty = check_k(k), check_gain(gain), check_empty(empty)
    documents = Documents.read(y_true, y_score, qid, sample_weight)
    gains = _gains(documents.relevance, gain)
    best = sum_expected_gains(documents.query, gains, gains, k)
    earned = sum_expected_gains(documents.query, documents.score, gains, k)
    # Rounding may give a little more than the best.
    quality = np.minimum(earned / np.where(best > 0, best, 1), 1)
    return documents.mean(quality, best == 0, empty)


def _gains(relevance: NDArray[np.float64], gain: str) -> NDArray[np.float64]:
    negative = np.flatnonzero(relevance < 0)
    if negative.size:
        raise InvalidInputError(
            f"y_true is {relevance[negative[0]]} in row {negative[0]}, but NDCG needs 0 or more; "
            "shift it, or clip it at 0."
        )
    with np.errstate(over="ignore"):
        gains = np.exp2(relevance) - 1 if gain == "exponential" else relevance
        if not np.isfinite(gains.sum()):
            raise InvalidInputError(
                f"y_true is up to {relevance.max()}, and {gain} gains of that are too large to add up; "
                "use gain='linear', or relevance on a smaller scale."
            )
    return gains
