"""Validation of rows that belong to queries, and the mean over queries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.utils.row_values import as_numbers, as_weights, one_per_row

Empty = Literal["skip"] | float


@dataclass(frozen=True)
class Documents:
    """Validated rows; queries are numbered in the order of their ids."""

    query: NDArray[np.intp]
    relevance: NDArray[np.float64]
    score: NDArray[np.float64]
    query_weight: NDArray[np.float64]

    @classmethod
    def read(cls, y_true: Any, y_score: Any, qid: Any, sample_weight: Any) -> Self:
        check_qid_given(qid)
        n_rows = len(np.atleast_1d(y_true))
        if n_rows == 0:
            raise InvalidInputError("y_true has no rows.")
        relevance = as_numbers(y_true, n_rows, "y_true")
        score = as_numbers(y_score, n_rows, "y_score")
        ids = one_per_row(qid, n_rows, "qid")
        query = _number_queries(ids)
        weight = as_weights(sample_weight, n_rows, "sample_weight")
        query_weight = np.empty(query.max() + 1)
        query_weight[query] = weight
        differing = np.flatnonzero(query_weight[query] != weight)
        if differing.size:
            raise InvalidInputError(
                f"sample_weight differs between rows of query {ids[differing[0]]!s}, one of them row "
                f"{differing[0]}; a query counts as a whole, so give all its rows the same weight."
            )
        return cls(query, relevance, score, query_weight)

    def mean(self, quality: NDArray[np.float64], is_empty: NDArray[np.bool_], empty: Empty) -> float:
        """Average over queries; where all rankings are equally good, leave out or count as `empty`."""
        weight = self.query_weight
        if empty == "skip":
            weight = np.where(is_empty, 0, weight)
            if not weight.any():
                raise InvalidInputError(
                    "no query has a relevant document, so there is nothing to average; check y_true and what "
                    "counts as relevant, or pass empty=0 to count such queries as 0."
                )
        else:
            quality = np.where(is_empty, empty, quality)
        return float(np.average(quality, weights=weight))


def check_qid_given(qid: Any) -> None:
    """Raise InvalidInputError if the query ids are missing."""
    if qid is None:
        raise InvalidInputError(
            "documents are ranked within queries: pass qid=..., the query id of each row (in GridSearchCV "
            "and its like, this needs sklearn.set_config(enable_metadata_routing=True))."
        )


def check_k(k: Any) -> int:
    """Return the number of ranks that count."""
    if not isinstance(k, Integral) or isinstance(k, bool) or int(k) < 1:
        raise InvalidInputError(f"k must be a whole number of ranks, at least 1, not {k!r}.")
    return int(k)


def check_relevant(relevant: Any) -> float:
    """Return the least relevance that counts as relevant."""
    if not isinstance(relevant, Real) or not math.isfinite(relevant):
        raise InvalidInputError(
            f"relevant must be a finite number, the least relevance that counts, not {relevant!r}."
        )
    return float(relevant)


def check_gain(gain: Any) -> Literal["exponential", "linear"]:
    """Return the name of the gains."""
    if isinstance(gain, str) and gain in ("exponential", "linear"):
        return gain  # type: ignore[return-value]
    raise InvalidInputError(f"gain={gain!r} is unknown; use 'exponential' or 'linear'.")


def check_empty(empty: Any) -> Empty:
    """Return the value of queries whose rankings are all equally good."""
    if isinstance(empty, str) and empty == "skip":
        return "skip"
    if isinstance(empty, Real) and 0 <= float(empty) <= 1:
        return float(empty)
    raise InvalidInputError(f"empty must be 'skip' or a number between 0 and 1, not {empty!r}.")


def _number_queries(ids: NDArray[Any]) -> NDArray[np.intp]:
    try:
        distinct, query = np.unique(ids, return_inverse=True)
    except TypeError as error:
        raise InvalidInputError(
            f"qid mixes ids of different kinds, or misses some ({error}); give every row an id of one kind."
        ) from error
    if np.any(distinct != distinct):
        raise InvalidInputError("qid is missing in some rows; give every row the id of its query.")
    return query
