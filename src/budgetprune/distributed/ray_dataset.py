"""`DatasetRows`: the blocks of a Ray Dataset, which stay where they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from budgetprune.errors import InvalidInputError
from budgetprune.utils.optional_ray import import_ray

if TYPE_CHECKING:
    import pyarrow as pa


class DatasetRows:
    """Rows of a Ray Dataset, block after block.

    The dataset is executed once. Its blocks stay in the object store of their nodes, and each worker gets
    those that it reads.

    Parameters
    ----------
    dataset : ray.data.Dataset
    """

    def __init__(self, dataset: Any) -> None:
        self.blocks = tuple(dataset.to_arrow_refs())
        described = import_ray().get([_describe(block) for block in self.blocks])
        self._start = list(accumulate((n_rows for n_rows, _ in described), initial=0))
        filled = [schema for n_rows, schema in described if n_rows]
        if not filled:
            raise InvalidInputError("rows is an empty dataset.")
        self.schema: pa.Schema = filled[0]

    @property
    def n_rows(self) -> int:
        return int(self._start[-1])

    def __repr__(self) -> str:
        return f"DatasetRows({self.n_rows} rows)"

    def read(self, first: int, last: int, columns: Sequence[str], most: int) -> Iterator[tuple[str, Any]]:
        """Yield the rows from `first` to `last`, at most `most` at once."""
        ray = import_ray()
        for block, (start, stop) in zip(self.blocks, pairwise(self._start), strict=True):
            begin, end = max(first, start), min(last, stop)
            if begin >= end:
                continue
            table = ray.get(block).select(list(columns))
            for at in range(begin, end, most):
                until = min(at + most, end)
                yield f"rows {at} to {until} of the dataset", table.slice(at - start, until - at)


def _describe(block: Any) -> Any:
    ray = import_ray()
    return ray.remote(_rows_and_schema).options(num_cpus=0).remote(block)


def _rows_and_schema(table: Any) -> tuple[int, Any]:
    """Number of rows and schema of a block."""
    return table.num_rows, table.schema
