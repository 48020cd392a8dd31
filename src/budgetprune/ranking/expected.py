"""Expected values over all orders of equal scores, for all queries at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray


def sum_expected_precisions(
    query: NDArray[np.intp], score: NDArray[np.float64], is_relevant: NDArray[np.bool_], k: int
) -> NDArray[np.float64]:
    """Sum, for each query, the expected precision at ranks up to `k` that hold a relevant document.

    Of a block of n documents, r of them relevant, each place holds a relevant one with probability r / n;
    if it does, each place before it in the block holds one of the r - 1 others with probability
    (r - 1) / (n - 1). What comes before the block is certain.
    """
    order = _Order.by_score(query, score, is_relevant)
    relevant_in_block = np.add.reduceat(is_relevant[order.row], order.block_start, dtype=np.int64)
    relevant_in_query = np.add.reduceat(is_relevant[order.row], order.query_start, dtype=np.int64)
    before_block = np.cumsum(relevant_in_block) - relevant_in_block
    before_query = np.cumsum(relevant_in_query) - relevant_in_query

    n, r = order.spread_blocks(order.block_size), order.spread_blocks(relevant_in_block)
    certain = order.spread_blocks(before_block) - order.spread_queries(before_query)
    places_before = np.arange(n.size) - order.spread_blocks(order.block_start)
    expected = r / n * (certain + 1 + places_before * (r - 1) / np.maximum(n - 1, 1)) / order.rank
    return order.sum_up_to_rank(k, expected)


def sum_expected_gains(
    query: NDArray[np.intp], score: NDArray[np.float64], gains: NDArray[np.float64], k: int
) -> NDArray[np.float64]:
    """Sum, for each query, the expected gains at ranks up to `k`, discounted by log2(1 + rank)."""
    order = _Order.by_score(query, score, gains)
    mean_gain = np.add.reduceat(gains[order.row], order.block_start) / order.block_size
    return order.sum_up_to_rank(k, order.spread_blocks(mean_gain) / np.log2(1 + order.rank))


@dataclass(frozen=True)
class _Order:
    """Documents by query, then falling score; equal scores of a query are a block."""

    row: NDArray[np.intp]
    query_start: NDArray[np.intp]
    block_start: NDArray[np.intp]

    @classmethod
    def by_score(cls, query: NDArray[np.intp], score: NDArray[np.float64], value: NDArray[Any]) -> Self:
        """Order the documents, in blocks by `value`, so that sums do not depend on the order of the rows."""
        row = np.lexsort((value, -score, query))
        is_query_start, is_block_start = np.ones((2, row.size), dtype=np.bool_)
        is_query_start[1:] = query[row[1:]] != query[row[:-1]]
        is_block_start[1:] = is_query_start[1:] | (score[row[1:]] != score[row[:-1]])
        return cls(row, np.flatnonzero(is_query_start), np.flatnonzero(is_block_start))

    @property
    def block_size(self) -> NDArray[np.intp]:
        return np.diff(self.block_start, append=self.row.size)

    @property
    def rank(self) -> NDArray[np.intp]:
        """Rank of each document in its query, from 1."""
        first: NDArray[np.intp] = self.spread_queries(self.query_start)
        return np.arange(1, self.row.size + 1) - first

    def spread_blocks(self, values: NDArray[Any]) -> NDArray[Any]:
        """Give each document the value of its block."""
        return np.repeat(values, self.block_size)

    def spread_queries(self, values: NDArray[Any]) -> NDArray[Any]:
        """Give each document the value of its query."""
        return np.repeat(values, np.diff(self.query_start, append=self.row.size))

    def sum_up_to_rank(self, k: int, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum the values of each query's first `k` ranks."""
        sums: NDArray[np.float64] = np.add.reduceat(np.where(self.rank <= k, values, 0), self.query_start)
        return sums
