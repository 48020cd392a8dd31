"""GreedyPrune, the paper's baseline: greedy removal of sources, with the subtrees below their splits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_features

from budgetprune.baselines.curve import PruningCurve
from budgetprune.baselines.grower_parameters import whole_number
from budgetprune.baselines.grown import GrownForest
from budgetprune.baselines.kernels import cost_saved, gains_below, sources_on_path
from budgetprune.errors import InvalidInputError
from budgetprune.path import check_budget, first_within
from budgetprune.problem import PruningProblem, UsesBySource, sort_uses_by_source

# Errors that differ by less than this fraction of the largest one count as equal (rounding).
_ROUNDING = 1e-12

_BITS = 64  # sources per bit mask


def greedy_curve(problem: PruningProblem, max_steps: int | None = None) -> PruningCurve:
    """Remove sources from a forest one by one: each time the one that saves most per error added.

    A step makes a leaf of every split that needs the source, in all trees. That adds the error of the new
    leaves. It saves the cost of the source, and of others that rows needed only below it. Sources whose
    removal adds no error, or lowers it, are removed first, in order of the cost saved.

    Parameters
    ----------
    problem : PruningProblem
        Its costs, on its rows, are saved; its node errors are added. The paper's are ``error="in-bag"``.
    max_steps : int, optional
        By default, until all remaining splits are free.

    Returns
    -------
    curve : PruningCurve
        Its parameter is the number of steps; `removed` has the name of the source removed in each.

    Notes
    -----
    All sources are tried in one pass over the first uses: a step takes time in proportion to the
    incidences left, once for every 64 sources.
    """
    if not isinstance(problem, PruningProblem):
        raise InvalidInputError(
            f"problem must be a PruningProblem, not {type(problem).__name__}; use PruningProblem(forest, X)."
        )
    n_steps = problem.n_sources if max_steps is None else whole_number("max_steps", max_steps, 0)
    forest, uses = problem.forest, sort_uses_by_source(problem)
    costs, n_words = problem.costs, -(-problem.n_sources // _BITS)
    paths = sources_on_path(forest.parent, forest.feature, costs.needs_start, costs.needs, n_words)
    rounding = _ROUNDING * max(problem.scale, np.finfo(np.float64).tiny)
    keep = forest.is_split.copy()
    until = keep.astype(np.int64)
    removed: list[str] = []
    while len(removed) < n_steps:
        alive = keep[problem.use_node]
        if not alive.any():
            break
        saved = _cost_saved(problem, uses, alive, paths)
        added = _error_added(problem, keep, alive)
        s = _best_source(saved, added, problem.use_source[alive], rounding)
        is_needed = (paths[s // _BITS] >> np.uint64(s % _BITS)) & np.uint64(1)
        keep &= is_needed == 0
        until += keep
        removed.append(costs.source_names[s])
    return PruningCurve(forest, np.arange(len(removed) + 1.0), until, tuple(removed))


class GreedyPrune(GrownForest):
    """Prune a forest greedily, source by source: each time the one that saves most per error added.

    Parameters
    ----------
    estimator : estimator, optional
        Ensemble to grow and prune, as in `budgetprune.BudgetPruneClassifier`; frozen, it is only pruned.
        None means ``RandomForestClassifier()``.
    max_steps : int, optional
        Maximum number of sources removed.
    budget : float, optional
        Steps end once the average (full) cost of a row is within it. Without `max_steps` and `budget`, they
        end before the first one after which the training error is above that of the whole forest.
    costs : FeatureCosts, or anything that `FeatureCosts.of` takes
        None means 1 per feature.
    random_state, n_jobs : optional
        For the estimator, if its own values are None.

    Attributes
    ----------
    estimator_ : the fitted estimator, not pruned
    curve_ : PruningCurve
        All steps (up to `max_steps`), including those not taken.
    n_steps_ : int
        Number of steps taken.
    forest_ : Forest
    classes_ : array of shape (n_classes,), for classifiers
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        max_steps: int | None = None,
        budget: float | None = None,
        costs: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(estimator, costs=costs, random_state=random_state, n_jobs=n_jobs)
        self.max_steps = max_steps
        self.budget = budget

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, X_cost: Any = None) -> GreedyPrune:
        """Grow the ensemble, unless it is frozen, and prune it.

        Parameters
        ----------
        X, y : array-like
            Training rows, used to grow the trees and count errors. (A frozen estimator has its errors.)
        sample_weight : array-like, optional
        X_cost : array-like, optional
            Rows on which costs are measured; by default the training rows.
        """
        if self.max_steps is not None:
            whole_number("max_steps", self.max_steps, 0)
        budget = None if self.budget is None else check_budget(self.budget)
        if X_cost is not None and _num_features(X_cost) != _num_features(X):
            raise InvalidInputError(
                f"X_cost has {_num_features(X_cost)} features, but X has {_num_features(X)}."
            )
        rows, forest = self._grow(X, y, sample_weight)
        problem = PruningProblem(
            forest,
            rows if X_cost is None else X_cost,
            costs=self.costs,
            X_train=rows,
            y_train=y,
            sample_weight_train=sample_weight,
        )
        self.curve_ = greedy_curve(problem, self.max_steps)
        error, cost = self.curve_.trade_off(problem)
        if budget is not None:
            self.n_steps_ = first_within(cost, budget)
        elif self.max_steps is not None:
            self.n_steps_ = len(self.curve_) - 1
        else:
            adds = error > error[0] + _ROUNDING * problem.scale
            self.n_steps_ = int(np.argmax(adds)) - 1 if adds.any() else len(self.curve_) - 1
        self._store(self.curve_.forest(self.n_steps_))
        return self


# --- One step -----------------------------------------------------------------------------------------------


def _best_source(
    saved: NDArray[np.float64], added: NDArray[np.float64], sources: NDArray[np.int32], rounding: float
) -> int:
    """Select the best of the sources left; the first one on ties."""
    left = np.unique(sources)
    free = left[added[left] <= rounding]
    if free.size:
        return int(free[np.argmax(saved[free])])
    return int(left[np.argmax(saved[left] / added[left])])


def _error_added(
    problem: PruningProblem, keep: NDArray[np.bool_], alive: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Error added by each source's removal: the gains of the splits at and below its first uses."""
    forest = problem.forest
    gain = gains_below(forest.right, keep, problem.lost_gain) / problem.denominator[forest.tree_of_node]
    gained, source = gain[problem.use_node[alive]], problem.use_source[alive]
    return np.asarray(np.bincount(source, weights=gained, minlength=problem.n_sources), dtype=np.float64)


def _cost_saved(
    problem: PruningProblem, uses: UsesBySource, alive: NDArray[np.bool_], paths: NDArray[np.uint64]
) -> NDArray[np.float64]:
    """Average cost saved by each source's removal."""
    price, weight = problem.costs.price, problem.row_weight
    per_word = [cost_saved(uses, alive, path, price, weight, _BITS * w) for w, path in enumerate(paths)]
    return np.concatenate(per_word)[: problem.n_sources]
