"""`Wishes`: what a report should be like."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

# Called with how many models are done, and how many there are.
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Wishes:
    """What a report should be like; see `budgetprune.report.summarise`."""

    title: str
    unit: str
    n_stories: int
    max_rows: int
    seed: int
    progress: Progress
