"""Options of a report."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from budgetprune.errors import InvalidInputError

_URL = re.compile(r"https?://|/(?!/)")
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
    model_name : str
        Name of the model file in commands.
    download : str
        URL of a server that offers the model at any budget, with ``{budget}`` in it; empty if there is none.
    error_costs : number, mapping or matrix, optional
        Costs of wrong predictions in the unit of the prices, as `BudgetClassifier` and `BudgetRegressor` take
        them. A staged model that was trained with error costs has its own.
    progress : callable
        Called with the number of models evaluated and their total number.
    """

    title: str = ""
    unit: str = ""
    n_examples: int = 5
    max_rows: int = 5000
    seed: int = 0
    model_name: str = "MODEL"
    download: str = ""
    error_costs: Any = None
    progress: Progress = no_progress

    def __post_init__(self) -> None:
        if self.n_examples < 0 or self.max_rows < 1:
            raise InvalidInputError("n_examples must be at least 0, and max_rows at least 1.")
        if self.download and not (_URL.match(self.download) and "{budget}" in self.download):
            raise InvalidInputError(
                "download must be a URL (https://..., http://... or /...) with {budget} in it, not "
                f"{self.download!r}."
            )
