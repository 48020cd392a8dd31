"""GreedyPrune, the paper's baseline: greedy removal of sources, with the subtrees below their splits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_features

from budgetprune.baselines.curve import PruningCurve
from budgetprune.baselines.grower_parameters import whole_number
from budgetprune.baselines.grown import GrownForest
from budgetprune.errors import InvalidInputError
from budgetprune.path import check_budget, first_within
from budgetprune.problem import PruningProblem, UsesBySource, rows_of_use, sort_uses_by_source, uses_of_source
from budgetprune.utils.jit import njit

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
    per_word = [
        cost_saved(uses, alive, paths[word], price, weight, _BITS * word) for word in range(len(paths))
    ]
    return np.concatenate(per_word)[: problem.n_sources]


@njit(cache=True)
def sources_on_path(
    parent: NDArray[np.int32],
    feature: NDArray[np.int32],
    needs_start: NDArray[np.int64],
    needs: NDArray[np.int32],
    n_words: int,
) -> NDArray[np.uint64]:
    """Collect the sources needed to pass each node, as bits, of shape (n_words, n_nodes)."""
    paths = np.zeros((n_words, parent.size), dtype=np.uint64)
    for h in range(parent.size):
        if parent[h] >= 0:
            paths[:, h] = paths[:, parent[h]]
        if feature[h] >= 0:
            for s in needs[needs_start[feature[h]] : needs_start[feature[h] + 1]]:
                paths[s // _BITS, h] |= np.uint64(1) << np.uint64(s % _BITS)
    return paths


@njit(cache=True)
def gains_below(
    right: NDArray[np.int32], keep: NDArray[np.bool_], gain: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Sum the gains of the splits left at and below each node."""
    total = np.zeros(gain.size)
    for h in range(gain.size - 1, -1, -1):
        if keep[h]:
            total[h] = gain[h] + total[h + 1] + total[right[h]]
    return total


@njit(cache=True)
def cost_saved(
    uses: UsesBySource,
    alive: NDArray[np.bool_],
    path: NDArray[np.uint64],
    price: NDArray[np.float64],
    row_weight: NDArray[np.float64],
    first: int,
) -> NDArray[np.float64]:
    """Cost saved by the removal of each of 64 sources, from `first` on."""
    saved = np.zeros(_BITS)
    for s in range(price.size):
        cost_of_source_saved(saved, uses, alive, path, price[s], row_weight, s, first)
    return saved


@njit(cache=True)
def cost_of_source_saved(
    saved: NDArray[np.float64],
    uses: UsesBySource,
    alive: NDArray[np.bool_],
    path: NDArray[np.uint64],
    price: float,
    row_weight: NDArray[np.float64],
    s: int,
    first: int,
) -> None:
    """Add the cost of source `s` that each removal saves.

    A row no longer pays for `s` if the removed source is on the path to every first use of `s` that the
    row reaches, in any tree. These sources are the intersection of all these paths.
    """
    n_rows = row_weight.size
    common = np.full(n_rows, ~np.uint64(0))
    pays = np.zeros(n_rows, dtype=np.bool_)
    for k in uses_of_source(uses, s):
        if alive[k]:
            sources = path[uses.use_node[k]]
            for i in rows_of_use(uses, k):
                common[i] &= sources
                pays[i] = True
    # Nearly always `s` itself is the only common source, so it is handled before the loop over bits.
    own = np.uint64(1) << np.uint64(s - first) if first <= s < first + _BITS else np.uint64(0)
    for i in range(n_rows):
        if not pays[i]:
            continue
        amount = price * row_weight[i]
        if common[i] & own:
            saved[s - first] += amount
        others, b = common[i] & ~own, 0
        while others:
            if others & np.uint64(1):
                saved[b] += amount
            others >>= np.uint64(1)
            b += 1
