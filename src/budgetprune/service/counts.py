"""Numbers that several processes count, in memory that they share."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

BYTES = 8  # of a number

# The first columns of every row; see `Counts`.
SERVING, CONNECTIONS, REPLACED, STREAMS = range(4)
N_STATES = 4


class Counts:
    """Table of 64-bit floats with one row per worker. A worker writes its own row and reads all rows.

    A total never decreases, because rows outlive their workers: the replacement of a worker that has died
    continues its row. No locks are needed, because every number has one writer, and processors write aligned
    numbers of this size at once. Floats are exact up to 2**53.

    The first columns describe the worker: whether it serves (0 or 1), its open connections, how often it was
    replaced, and its open streams. The supervisor writes them while no worker owns the row.

    Parameters
    ----------
    n_rows, n_columns : int
    descriptor : int, optional
        File descriptor of the shared memory, of at least `size_of(n_rows, n_columns)` bytes. None: memory of
        this process.
    """

    def __init__(self, n_rows: int, n_columns: int, descriptor: int | None = None) -> None:
        size = self.size_of(n_rows, n_columns)
        memory: Any = bytearray(size) if descriptor is None else mmap.mmap(descriptor, size)
        self._table: NDArray[np.float64] = np.frombuffer(memory, np.float64).reshape(n_rows, n_columns)
        # Single numbers of a memoryview are read and written several times faster than those of an array.
        numbers = memoryview(memory).cast("d")
        self.rows = [numbers[n_columns * k : n_columns * (k + 1)] for k in range(n_rows)]

    @staticmethod
    def size_of(n_rows: int, n_columns: int) -> int:
        """Bytes of a table."""
        return BYTES * n_rows * n_columns

    def total(self) -> NDArray[np.float64]:
        """Sum of the rows."""
        total: NDArray[np.float64] = self._table.sum(axis=0)
        return total


class OwnRow:
    """A worker's row of `Counts`, beside the rows of the others.

    Parameters
    ----------
    counts : Counts
    index : int
        Number of the row.
    """

    def __init__(self, counts: Counts, index: int = 0) -> None:
        self.counts, self.numbers = counts, counts.rows[index]
        self._others = [row for k, row in enumerate(counts.rows) if k != index]

    def note_serving(self, is_serving: bool) -> None:
        """Record whether this worker accepts connections."""
        self.numbers[SERVING] = float(is_serving)

    def note_connections(self, n: int) -> None:
        """Record the number of open connections."""
        self.numbers[CONNECTIONS] = float(n)

    def begin_stream(self, most: int) -> bool:
        """Count a stream, unless all workers have `most` of them; return whether it may begin."""
        if sum(row[STREAMS] for row in self.counts.rows) >= most:
            return False
        self.numbers[STREAMS] += 1.0
        return True

    def end_stream(self) -> None:
        """Note the end of a stream."""
        self.numbers[STREAMS] -= 1.0

    def is_busier(self, n: int) -> bool:
        """Whether another worker that serves has fewer than `n` connections."""
        return any(row[SERVING] and row[CONNECTIONS] < n for row in self._others)
