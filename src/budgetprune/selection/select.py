"""`select_pruning`: choose the settings, compute the path, choose its point, and build the final model."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from budgetprune.errors import BudgetWarning
from budgetprune.path import PruningPath, check_budget, first_within
from budgetprune.predictor import Residuals
from budgetprune.problem import sources_used
from budgetprune.refit import Sample
from budgetprune.selection.candidates import Candidates, Measure, RefitSpec
from budgetprune.selection.choice import Choices, Trials, choose_refit, rank_measures
from budgetprune.selection.context import FitContext
from budgetprune.selection.decided_counting import DecidedCounting
from budgetprune.selection.decided_fold import DecidedFold
from budgetprune.selection.final_model import FinalModel, FinalModelBuilder
from budgetprune.selection.fold import Fold
from budgetprune.selection.rows import Index, halves
from budgetprune.selection.tradeoff import TradeOff, trade_off

# With fewer validation rows, scores of halves are too noisy to compare candidates.
MIN_ROWS = 20
# Number of rows that are enough to estimate an average decided cost within one or two percent. The cost of
# the final model is measured on all rows.
TRIAL_ROWS = 1000
# Shares of the whole cost at which candidates are compared if no budget is given.
SHARES = (0.2, 0.4, 0.7)


@dataclass(frozen=True, eq=False)
class SelectedPruning:
    """Result of selection: path, trade-off, choices, the final model, and what another budget needs.

    `refit_sample` holds the rows of the refit; `counting` is None if full costs count. `useful_costs` are
    those of the cheapest useful points of the paths that were tried, in no order. `residuals` of cross-fitted
    predictions are for prediction intervals; None for classes, for queries, and for few rows.
    """

    path: PruningPath
    tradeoff: TradeOff
    choices: Choices
    final: FinalModel
    refit_sample: Sample
    counting: DecidedCounting | None
    useful_costs: tuple[float, ...]
    residuals: Residuals | None


@dataclass(frozen=True, eq=False)
class _MeasureChoice:
    """A measure of node errors, its refit, its path on all of V, and the trade-off of that path."""

    measure: Measure
    refit: RefitSpec
    path: PruningPath
    tradeoff: TradeOff

    def suits(self, budget: float) -> bool:
        """Whether the path has a point within a budget that buys something and does not lower the score."""
        k = first_within(self.tradeoff.cost, check_budget(budget))
        return bool(self._is_useful[k])

    @property
    def useful_cost(self) -> float:
        """Cost of the cheapest point that buys something and does not lower the score, NaN if none does."""
        useful = self.tradeoff.cost[self._is_useful]
        return float(useful.min()) if useful.size else np.nan

    @property
    def _is_useful(self) -> NDArray[np.bool_]:
        curve = self.tradeoff
        found: NDArray[np.bool_] = (curve.cost > curve.cost[-1]) & ~(curve.score < curve.score[-1])
        return found


def select_pruning(context: FitContext, random: np.random.RandomState) -> SelectedPruning:
    """Choose settings inside V, compute the path on all of V, and refit the chosen point on T and V."""
    options = context.options
    n_train = None if context.train is None else len(context.train)
    candidates = Candidates.of(context.forest, n_train, options)
    if len(candidates.measures) == 1 and context.has_path:
        context.path(candidates.measures[0], options.verbose)  # the final path; trials can use it too
    counting = _decided_counting(context, random)
    folds = _folds(context, counting, random)
    if not folds:
        candidates = candidates.defaults()
        _warn_of_few_rows(context)
    with tqdm(total=candidates.n_trials, desc="choosing", disable=not options.verbose) as bar:

        def advance(n: int = 1) -> None:
            bar.total = max(bar.total or 0, bar.n + n)  # fallback measures were not counted
            bar.update(n)

        trials = Trials(folds, advance)
        budgets = _trial_budgets(context)
        ranked = rank_measures(trials, candidates, budgets)

        def choose_for(measure: Measure) -> _MeasureChoice:
            refit = candidates.refits[0][0]
            if candidates.n_refits + len(candidates.slacks) > 1:
                budget = budgets[len(budgets) // 2]
                if options.lam is not None:
                    budget = _cost_at(options.lam, context.path(measure), counting, options.fixed_slack)
                refit = choose_refit(trials, candidates, measure, budget)
            path = _final_path(context, measure)
            return _MeasureChoice(
                measure, refit, path, trade_off(path, folds, measure, refit, counting, options.verbose)
            )

        chosen = choose_for(ranked[0])
        tried = [chosen]
        if options.budget is not None and len(candidates.measures) > 1 and not chosen.suits(options.budget):
            # The path of another measure may have a useful point within the budget.
            for measure in dict.fromkeys([*ranked[1:], *candidates.fallback_measures]):
                other = choose_for(measure)
                tried.append(other)
                if other.suits(options.budget):
                    chosen = other
                    break
        bar.total = bar.n  # some trials may not have been needed
    path, tradeoff, refit = chosen.path, chosen.tradeoff, chosen.refit
    choices = Choices.of(chosen.measure, refit, trials)
    builder = FinalModelBuilder(path, tradeoff, refit, context.refit_sample, counting)
    final = builder.build(budget=options.budget, lam=options.lam)
    useful_costs = tuple(each.useful_cost for each in tried)
    residuals = _residuals(context, folds, chosen, final)
    sample = context.refit_sample
    return SelectedPruning(path, tradeoff, choices, final, sample, counting, useful_costs, residuals)


def _residuals(
    context: FitContext, folds: Sequence[Fold], chosen: _MeasureChoice, final: FinalModel
) -> Residuals | None:
    """Residuals of both halves of V, each predicted by what was learnt from the other half."""
    if context.forest.is_classifier or context.val.qid is not None or not folds or not context.has_path:
        return None
    found = [fold.residuals(chosen.measure, chosen.refit, final.pruning) for fold in folds]
    return Residuals.of(np.concatenate(found)[np.newaxis])


def _decided_counting(context: FitContext, random: np.random.RandomState) -> DecidedCounting | None:
    options, val = context.options, context.val
    if options.counting == "full":
        return None
    trial_rows = val.take(_draw_trial_rows(len(val), random))
    return DecidedCounting(context.prices, options.threshold, options.tolerance, val, trial_rows)


def _folds(
    context: FitContext, counting: DecidedCounting | None, random: np.random.RandomState
) -> Sequence[Fold]:
    if len(context.val) < MIN_ROWS:
        return []
    parts = halves(context.val, random, by_class=context.forest.is_classifier)
    if counting is None:
        return [Fold(context, fitting, scoring) for fitting, scoring in parts]
    return [
        DecidedFold(context, fitting, scoring, _draw_trial_rows(scoring.size, random), counting)
        for fitting, scoring in parts
    ]


def _draw_trial_rows(n_rows: int, random: np.random.RandomState) -> Index:
    """Draw the indices of enough rows to estimate an average cost."""
    return np.arange(n_rows) if n_rows <= TRIAL_ROWS else np.sort(random.permutation(n_rows)[:TRIAL_ROWS])


def _cost_at(lam: float, path: PruningPath, counting: DecidedCounting | None, slack: float) -> float:
    """Cost of the point of a path for a lam: full cost, or decided cost with `counting`."""
    if counting is None:
        return path.at(lam=lam).cost
    point = int(np.searchsorted(path.lam, lam, side="right")) - 1
    return counting.path_costs(path, slack)[point]


def _final_path(context: FitContext, measure: Measure) -> PruningPath:
    """Compute all points, or only the one for `lam` if the solver computes no paths."""
    options = context.options
    if context.has_path:
        return context.path(measure, options.verbose)
    assert options.lam is not None
    problem = context.problem(measure)
    keep = problem.solve(options.lam, solver=options.solver).keep
    critical = np.where(keep, np.nextafter(options.lam, np.inf), 0.0)
    return PruningPath.of(problem, critical, lams=[options.lam], complete=False)


def _trial_budgets(context: FitContext) -> list[float]:
    """Costs at which candidates are compared: the budget, or shares of the cost of the full forest."""
    budget = context.options.budget
    if budget is not None and np.isfinite(budget):
        return [budget]
    used = sources_used(context.forest, context.prices, context.val.X)
    whole = float(np.average(context.prices.total(used), weights=context.val.weight))
    return [whole] if budget is not None else [share * whole for share in SHARES]


def _warn_of_few_rows(context: FitContext) -> None:
    if context.options.leaves_choices:
        warnings.warn(
            f"{len(context.val)} validation rows are too few to choose settings (at least {MIN_ROWS} "
            "different rows, or two queries, are needed). Automatic settings have their defaults: the first "
            "error estimate, no refit, the usual ridge and no slack. Scores are unknown. Pass more rows.",
            BudgetWarning,
            stacklevel=4,
        )
