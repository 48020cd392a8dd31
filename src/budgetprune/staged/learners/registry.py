"""Learners by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

from budgetprune.staged.learners.forest import ForestLearner
from budgetprune.staged.learners.hist import HistLearner
from budgetprune.staged.learners.learner import Learner
from budgetprune.staged.learners.lightgbm import LightGBMLearner


@dataclass(frozen=True)
class LearnerCandidates:
    """Learners that may grow the stages.

    Attributes
    ----------
    boosted : Learner
        Also used to order the sources.
    forest : Learner, or None
        Alternative to `boosted`.
    is_forest_required : bool
        Whether `forest` is used without a comparison.
    """

    boosted: Learner
    forest: Learner | None = None
    is_forest_required: bool = False


def has_lightgbm() -> bool:
    """Whether LightGBM is installed."""
    return find_spec("lightgbm") is not None


def _boosted_or_forest(*, is_forest_required: bool) -> LearnerCandidates:
    """Return LightGBM if it is installed, else HistGradientBoosting, and a forest."""
    boosted = LightGBMLearner() if has_lightgbm() else HistLearner()
    return LearnerCandidates(boosted, ForestLearner(boosted), is_forest_required)


LEARNERS: dict[str, Callable[[], LearnerCandidates]] = {
    "auto": lambda: _boosted_or_forest(is_forest_required=False),
    "lightgbm": lambda: LearnerCandidates(LightGBMLearner()),
    "hist": lambda: LearnerCandidates(HistLearner()),
    "forest": lambda: _boosted_or_forest(is_forest_required=True),
}
