"""`Residuals`: residuals of rows that a model was not trained on, for prediction intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.persistence import Content, Section

RESIDUALS = "residuals"
_ARRAY = "residuals.size"
# Most residuals that are kept. A level is then rounded up to a multiple of 1 / 200.
MOST_KEPT = 200


@dataclass(frozen=True, eq=False)
class Residuals:
    """Absolute residuals of cross-fitted predictions, for intervals by split-conformal prediction.

    The half-width of an interval with a level is the residual with the rank ``ceil(level * (n + 1))``. If new
    rows come from the same distribution, that share of their targets is covered, on average over all rows
    (not for each row, or kind of row). Cross-fitted residuals are those of models that were trained on a part
    of the rows, so they are rather too large than too small.

    Attributes
    ----------
    size : float64 array of shape (n_points, n_kept)
        Ascending residuals of evenly spaced ranks, the last one included; a row for each point of a curve.
        For staged models they are divided by the root of the expected squared error of each row.
    n_rows : int
        Number of rows that they were measured on.
    """

    size: NDArray[np.float64]
    n_rows: int

    @classmethod
    def of(cls, residuals: NDArray[np.float64]) -> Residuals:
        """Keep some of the residuals of shape (n_points, n_rows)."""
        ordered = np.sort(np.abs(residuals), axis=1)
        n_rows = ordered.shape[1]
        n_kept = min(n_rows, MOST_KEPT)
        ranks = -(-np.arange(1, n_kept + 1) * n_rows // n_kept)
        return cls(ordered[:, ranks - 1], n_rows)

    def take(self, points: NDArray[np.intp]) -> Residuals:
        """Return the residuals of some points."""
        return Residuals(self.size[points], self.n_rows)

    def quantile(self, level: float, point: int = 0) -> float:
        """Return the residual that a share `level` of new rows is not expected to exceed.

        Of the kept residuals, it is the smallest one with the wanted rank or a higher one.
        """
        check_level(level)
        # Without rounding errors: 0.9 * 10 is 9, not a little more.
        rank = math.ceil(level * (self.n_rows + 1) - 1e-9)
        if rank > self.n_rows:
            raise InvalidInputError(
                f"an interval of {level:g} needs at least {math.ceil(level / (1 - level) - 1e-9)} rows with "
                f"residuals, but the model has {self.n_rows}; give a smaller level."
            )
        return float(self.size[point, -(-rank * self.size.shape[1] // self.n_rows) - 1])


def check_level(level: Any) -> None:
    """Raise unless the level of an interval is above 0 and below 1."""
    is_number = isinstance(level, int | float | np.floating) and not isinstance(level, bool)
    if not is_number or not 0 < level < 1:
        raise InvalidInputError(
            f"the level of an interval must be above 0 and below 1 (0.9, say), not {level!r}."
        )


def _write(residuals: Residuals, others: Mapping[str, Any]) -> Content:
    return Content({RESIDUALS: {"n_rows": residuals.n_rows}}, {_ARRAY: residuals.size})


def _read(content: Content, others: Mapping[str, Any]) -> Residuals:
    header, size = content.header.get(RESIDUALS), content.arrays.get(_ARRAY)
    n_rows = header.get("n_rows") if isinstance(header, dict) and len(header) == 1 else None
    if (
        size is None
        or size.ndim != 2
        or type(n_rows) is not int
        or not 1 <= size.shape[1] <= min(n_rows, MOST_KEPT)
        or not len(size)
        or not np.all((size >= 0) & (size < np.inf))
        or np.any(np.diff(size, axis=1) < 0)
    ):
        raise InvalidInputError(
            "its residuals are invalid: each point must have ascending, finite residuals of its rows."
        )
    return Residuals(size, n_rows)


SECTIONS = (
    Section(
        name=RESIDUALS, since=5, keys=(RESIDUALS,), dtypes={_ARRAY: np.float64}, write=_write, read=_read
    ),
)
