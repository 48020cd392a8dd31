"""Another model, compared with the one of the report on the same rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from budgetprune.costs import PricedSource
from budgetprune.report.summary.outcome import Outcome


@dataclass(frozen=True)
class RivalOutcome:
    """Results of the other model with one way to count costs.

    Attributes
    ----------
    outcome : Outcome
        The reference is the model of the report, with costs counted in the same way.
    n_only_own, n_only_other : int or None
        Rows that only the model of the report predicts rightly, and that only the other one does; None for
        regression.
    cost, score : tuples of float
        Its path or curve on these rows, from cheap to expensive.
    """

    outcome: Outcome
    n_only_own: int | None
    n_only_other: int | None
    cost: tuple[float, ...]
    score: tuple[float, ...]


@dataclass(frozen=True)
class Rival:
    """Another model on the rows of a report.

    Attributes
    ----------
    name : str
        As given by the user.
    kind : {"pruned", "staged"}
    sources : tuple of PricedSource
        All of its sources with a price.
    full : RivalOutcome or None
        None unless both models are pruned: a staged model always acquires one source after the other.
    decided : RivalOutcome
    """

    name: str
    kind: Literal["pruned", "staged"]
    sources: tuple[PricedSource, ...]
    full: RivalOutcome | None
    decided: RivalOutcome
