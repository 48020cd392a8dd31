"""Candidates of selection: how node errors are measured, how leaves are refitted, and the slack."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from budgetprune.forest import Forest
from budgetprune.problem import (
    BRIER,
    HELD_OUT,
    IN_BAG,
    MISCLASSIFICATION,
    OUT_OF_BAG,
    POOLED,
    ErrorEstimate,
    find_error_estimate,
)
from budgetprune.refit import Kind, kinds_for
from budgetprune.selection.options import SelectionOptions

# Ridges that are tried, from strong to weak: each refit starts from the result of the one before.
RIDGES = (256.0, 64.0, 16.0, 4.0, 1.0)
DEFAULT_RIDGE = 16.0
# The ridge has hardly any effect on least squares in probability space.
RIDGES_OF: dict[Kind, tuple[float, ...]] = {"squared": (DEFAULT_RIDGE,), "softmax": RIDGES[1:], "own": RIDGES}
# Slacks that are tried, from small to large; a larger one must have a better score to be chosen.
SLACKS = (0.1, 0.2, 0.3, 0.4)


@dataclass(frozen=True)
class Measure:
    """Measure of node errors: `error` and `loss` of a `PruningProblem`."""

    error: Any
    loss: Any = None

    @property
    def uses_labels(self) -> bool:
        """Whether errors depend on labels of validation rows."""
        return find_error_estimate(self.error).uses_cost_labels


@dataclass(frozen=True)
class RefitSpec:
    """Kind of refit (None: leaves keep their values) with its ridge, and the slack of predictions.

    The slack is that of `BudgetPredictor`, and 0 where full costs count.
    """

    kind: Kind | None = None
    ridge: float = np.nan
    slack: float = 0.0


@dataclass(frozen=True)
class Candidates:
    """Settings among which cross-fitting chooses.

    Attributes
    ----------
    measures : tuple of Measure
    fallback_measures : tuple of Measure
        Tried only if the best of `measures` leaves much of a budget unspent.
    refits : tuple of tuples of RefitSpec
        One tuple per kind of refit, from strong to weak ridges.
    slacks : tuple of float
        Tried with the best refit, in addition to its own slack.
    """

    measures: tuple[Measure, ...]
    fallback_measures: tuple[Measure, ...]
    refits: tuple[tuple[RefitSpec, ...], ...]
    slacks: tuple[float, ...]

    @classmethod
    def of(cls, forest: Forest, n_train: int | None, options: SelectionOptions) -> Candidates:
        """List the settings that the options leave open (`n_train` is None without training rows)."""
        measures, fallback = _measures(forest, n_train, options)
        return cls(
            tuple(measures),
            tuple(fallback),
            _refits(forest, options),
            SLACKS if options.slack == "auto" else (),
        )

    @property
    def default_refit(self) -> RefitSpec:
        """Refit used to compare measures: of the last kind, with a ridge that is a good guess."""
        return _with_default_ridge(self.refits[-1])

    @property
    def n_refits(self) -> int:
        """Number of refits, over all kinds."""
        return sum(map(len, self.refits))

    @property
    def n_trials(self) -> int:
        """Number of trials, without those of `fallback_measures`."""
        return (len(self.measures) if len(self.measures) > 1 else 0) + self.n_refits + len(self.slacks)

    def defaults(self) -> Candidates:
        """Keep one value of each setting, which needs no comparison."""
        refit = _with_default_ridge(self.refits[0])
        return replace(self, measures=self.measures[:1], refits=((refit,),), slacks=())


def _measures(
    forest: Forest, n_train: int | None, options: SelectionOptions
) -> tuple[list[Measure], list[Measure]]:
    """List the measures that are allowed and available, and the fallback measures."""
    if options.error != "auto":
        return [Measure(options.error, options.loss)], []

    def available(*estimates: ErrorEstimate) -> list[ErrorEstimate]:
        return [each for each in estimates if each.is_available(forest, n_train)]

    if forest.is_boosted:
        # Gains that a model recorded cannot be weighted by class.
        estimates = (HELD_OUT,) if options.class_weight is not None else (IN_BAG, HELD_OUT)
        return [Measure(each.name) for each in available(*estimates) or [estimates[0]]], []
    others = available(POOLED, OUT_OF_BAG) or [HELD_OUT]
    if not forest.is_classifier or options.loss is not None:
        return [Measure(each.name, options.loss) for each in (*available(IN_BAG), others[0])], []
    # In-bag, where most leaves are pure, both losses lead to nearly the same prunings. On other rows, the
    # Brier score tells more about a node than its label does.
    measures = [Measure(each.name, MISCLASSIFICATION.name) for each in available(IN_BAG)]
    measures.append(Measure(others[0].name, BRIER.name))
    return measures, [Measure(each.name, MISCLASSIFICATION.name) for each in others]


def _refits(forest: Forest, options: SelectionOptions) -> tuple[tuple[RefitSpec, ...], ...]:
    """List the refits that are allowed, one tuple per kind."""
    slack = options.fixed_slack
    unchanged = (RefitSpec(slack=slack),)
    if options.refit is None:
        return (unchanged,)
    kinds = kinds_for(forest) if options.refit == "auto" else (cast(Kind, options.refit),)
    refits = tuple(
        tuple(
            RefitSpec(kind, ridge, slack)
            for ridge in (RIDGES_OF[kind] if options.ridge == "auto" else (options.ridge,))
        )
        for kind in kinds
    )
    return (unchanged, *refits) if options.refit == "auto" else refits


def _with_default_ridge(refits: tuple[RefitSpec, ...]) -> RefitSpec:
    return min(refits, key=lambda refit: abs(refit.ridge - DEFAULT_RIDGE))
