"""`FitContext`: inputs that all candidates share while a model is selected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable, FeatureCosts
from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.path import PruningPath
from budgetprune.problem import (
    PruningProblem,
    find_path_solver,
    has_path,
    path_options,
    read_class_weight,
    recompute,
)
from budgetprune.refit import Sample, check_kind
from budgetprune.selection.candidates import Measure
from budgetprune.selection.options import SelectionOptions
from budgetprune.selection.rows import Index, LabelledRows
from budgetprune.selection.scoring import PruningScorer


@dataclass(frozen=True, eq=False)
class FitContext:
    """Inputs that all candidates share: forest, costs, training and validation rows, options, scorer.

    Attributes
    ----------
    forest : Forest
    costs : FeatureCosts
    prices : CostTable
        `costs`, resolved for the features of the forest.
    train : LabelledRows or None
        Training rows T; None if the model was frozen and they were not given.
    val : LabelledRows
        Validation rows V.
    train_sample, val_sample : Sample
        T and V, routed through the forest.
    options : SelectionOptions
    scorer : PruningScorer
    class_weight : float64 array of shape (n_classes,), or None
        Weights of classes in errors and refits, in addition to those of the model.
    """

    forest: Forest
    costs: FeatureCosts
    prices: CostTable
    train: LabelledRows | None
    val: LabelledRows
    train_sample: Sample | None
    val_sample: Sample
    options: SelectionOptions
    scorer: PruningScorer
    class_weight: NDArray[np.float64] | None = None

    @classmethod
    def of(
        cls,
        forest: Forest,
        costs: Any,
        train: LabelledRows | None,
        val: LabelledRows,
        options: SelectionOptions,
        scorer: Callable[..., float],
    ) -> FitContext:
        """Check that the options are possible for the forest, and route the rows.

        `scorer` is a callable ``(estimator, X, y)``, as scikit-learn's.
        """
        if options.refit not in (None, "auto"):
            check_kind(forest, options.refit)
        if forest.is_boosted and options.loss is not None:
            raise InvalidInputError(
                f"loss={options.loss!r} is for averaged trees; boosted ones have a loss of their own: "
                "loss=None."
            )
        if not forest.weight.any():
            forest = forest.with_weights_of(val.X if train is None else train.X)
        if forest.is_boosted and forest.split_gain is None and forest.loss is not None and train is not None:
            forest = recompute(forest, train.X, train.y, train.weight)
        of_class = read_class_weight(options.class_weight, forest, val.y)
        feature_costs = FeatureCosts.of(costs)
        prices = feature_costs.resolve(forest.n_features, forest.feature_names)
        return cls(
            forest=forest,
            costs=feature_costs,
            prices=prices,
            train=train,
            val=val,
            train_sample=None
            if train is None
            else Sample.of(forest, train.X, train.y, train.weight, of_class),
            val_sample=Sample.of(forest, val.X, val.y, val.weight, of_class),
            options=options,
            scorer=PruningScorer(scorer, prices, options),
            class_weight=of_class,
        )

    def problem(self, measure: Measure, rows: LabelledRows | None = None) -> PruningProblem:
        """Pruning problem with costs counted on `rows` (None: all of V)."""
        rows = self.val if rows is None else rows
        train = self.train
        return PruningProblem(
            self.forest,
            rows.X,
            rows.y,
            costs=self.costs,
            error=measure.error,
            loss=measure.loss,
            X_train=None if train is None else train.X,
            y_train=None if train is None else train.y,
            sample_weight=rows.weight,
            sample_weight_train=None if train is None else train.weight,
            class_weight=self.class_weight,
        )

    @property
    def has_path(self) -> bool:
        """Whether the solver computes whole paths, rather than one pruning."""
        return has_path(self.options.solver)

    def solve_path(self, problem: PruningProblem, **options: Any) -> PruningPath:
        """Path of a problem, by the chosen solver if it computes paths; else by the exact one, for trials."""
        if not self.has_path:
            return problem.path(**options)
        solver = find_path_solver(self.options.solver)
        return solver.path(problem, **path_options(solver, **options))

    @cached_property
    def _paths(self) -> dict[Measure, PruningPath]:
        return {}

    def path(self, measure: Measure, verbose: bool = False) -> PruningPath:
        """All optimal prunings, with costs counted on all of V; computed once."""
        if measure not in self._paths:
            self._paths[measure] = self.solve_path(self.problem(measure), verbose=verbose)
        return self._paths[measure]

    @cached_property
    def _paths_near(self) -> dict[tuple[Measure, float], PruningPath]:
        return {}

    def path_near(self, measure: Measure, budget: float) -> PruningPath:
        """The part of the path that a budget needs."""
        if measure in self._paths:
            return self._paths[measure]
        if (measure, budget) not in self._paths_near:
            self._paths_near[measure, budget] = self.solve_path(self.problem(measure), budgets=[budget])
        return self._paths_near[measure, budget]

    @cached_property
    def refit_sample(self) -> Sample:
        """T and V: rows of the final refit."""
        return self._with_train(self.val_sample)

    def trial_sample(self, val_rows: Index) -> Sample:
        """T and some rows of V: rows of the refits that are compared."""
        return self._with_train(self.val_sample.take(val_rows))

    def _with_train(self, val: Sample) -> Sample:
        return val if self.train_sample is None else self.train_sample + val
