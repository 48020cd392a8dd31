"""Options of a report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

# Called with the number of models done and the total.
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Wishes:
    """Options of a report; see `budgetprune.report.summarise`."""

    title: str
    unit: str
    n_stories: int
    max_rows: int
    seed: int
    progress: Progress
