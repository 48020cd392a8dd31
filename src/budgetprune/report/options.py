"""Options of a report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from budgetprune.errors import InvalidInputError

# Called with the number of models evaluated and their total number.
Progress = Callable[[int, int], None]


def no_progress(done: int, total: int) -> None:
    """Ignore the progress."""


@dataclass(frozen=True)
class ReportOptions:
    """Options of a report.

    Attributes
    ----------
    title : str
        Title of the page. Empty: a title that names the target.
    unit : str
        Unit of cost.
    n_examples : int
        Number of example rows shown with their values, at most 5.
    max_rows : int
        Maximum number of rows for the other points of the path or curve. A larger data set is sampled. The
        delivered model and its reference are always evaluated on all rows.
    seed : int
        Random seed of that sample.
    progress : callable
        Called with the number of models evaluated and their total number.
    """

    title: str = ""
    unit: str = ""
    n_examples: int = 5
    max_rows: int = 5000
    seed: int = 0
    progress: Progress = no_progress

    def __post_init__(self) -> None:
        if self.n_examples < 0 or self.max_rows < 1:
            raise InvalidInputError("n_examples must be at least 0, and max_rows at least 1.")
