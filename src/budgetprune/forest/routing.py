"""Route rows through trees, and sum the trees' outputs, on several threads."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest.packed import PackedTrees
from budgetprune.utils.threads import in_threads, kernel_thread_count

# Most rows that a thread routes together: many share a node, and some columns fit in the cache.
CHUNK = 20480
# The same where all rows go through a tree of many nodes: more of them share a node.
LARGE_CHUNK = 32768
# With fewer rows, starting threads takes longer than it saves.
FEWEST_ROWS_OF_THREADS = 256


def chunk_bounds(n_rows: int, largest: int) -> list[int]:
    """Divide rows evenly into chunks, the same number for each thread; few rows are one chunk."""
    n_threads = kernel_thread_count() if n_rows >= FEWEST_ROWS_OF_THREADS else 1
    n_chunks = min(n_rows, n_threads * (1 + (n_rows - 1) // (n_threads * largest)))
    return [c * n_rows // n_chunks for c in range(n_chunks + 1)]


def in_chunks(work: Callable[[slice], None], n_rows: int, largest: int) -> None:
    """Call a function for each chunk of the rows (`largest`: at most so many), on several threads."""
    if n_rows > 0:
        in_threads(work, [slice(*ends) for ends in pairwise(chunk_bounds(n_rows, largest))])


def find_leaves(X: NDArray[Any], trees: PackedTrees) -> NDArray[np.int32]:
    """Find the leaf of every row in every tree."""
    leaves = np.empty((X.shape[0], trees.n_trees), dtype=np.int32)
    in_chunks(lambda chunk: trees.find_leaves(X[chunk], leaves[chunk]), X.shape[0], CHUNK)
    return leaves


def leaves_by_tree(X: NDArray[Any], trees: PackedTrees) -> NDArray[np.int32]:
    """Find the leaf of every row in every tree, of shape (n_trees, n_rows)."""
    leaves = np.empty((trees.n_trees, X.shape[0]), dtype=np.int32)
    in_chunks(lambda chunk: trees.find_leaves(X[chunk], leaves[:, chunk].T), X.shape[0], LARGE_CHUNK)
    return leaves


def sum_values(
    X: NDArray[Any],
    trees: PackedTrees,
    value: NDArray[np.float64],
    tree_output: NDArray[np.int32],
    base: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Add the trees' outputs to the base score in tree order, so that rounding is reproducible."""
    scores = np.empty((X.shape[0], base.size))
    in_chunks(
        lambda chunk: trees.sum_values(X[chunk], value, tree_output, base, scores[chunk]),
        X.shape[0],
        CHUNK,
    )
    return scores
