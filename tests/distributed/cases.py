"""Problems whose rows fit in memory, so that `PruningProblem` is an oracle for distributed ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from budgetprune import FeatureCosts, Forest, PruningProblem
from budgetprune.distributed import DistributedProblem

NAMES = [f"c{k}" for k in range(8)]


@dataclass(frozen=True)
class Case:
    """A forest and a table with a target `y` and weights `w`."""

    forest: Forest
    frame: pd.DataFrame

    def in_memory(self, **options: Any) -> PruningProblem:
        """The oracle, with the same options."""
        target, weight = options.pop("target", None), options.pop("weight", None)
        y = None if target is None else self.frame[target]
        sample_weight = None if weight is None else self.frame[weight]
        X = self.frame[list(self.forest.names)]
        return PruningProblem(self.forest, X, y, sample_weight=sample_weight, **options)

    def distributed(self, workers: int = 1, **options: Any) -> DistributedProblem:
        """The same problem, with rows that are divided among workers in this process."""
        return DistributedProblem(self.forest, self.frame, workers=workers, **options)


@cache
def case(
    n_rows: int = 600,
    n_trees: int = 8,
    max_depth: int = 6,
    class_weight: str | tuple[float, ...] | None = None,
) -> Case:
    """A forest with some missing values in its rows, and rows that weigh nothing."""
    n_train = 500
    if isinstance(class_weight, tuple):
        class_weight = dict(enumerate(class_weight))
    X, y = make_classification(n_train + n_rows, len(NAMES), n_informative=6, flip_y=0.1, random_state=3)
    X[::7, 2] = np.nan
    frame = pd.DataFrame(X.astype(np.float32), columns=NAMES)
    model = RandomForestClassifier(
        n_trees, max_depth=max_depth, class_weight=class_weight, random_state=0
    ).fit(frame[:n_train], y[:n_train])
    rows = frame[n_train:].reset_index(drop=True)
    rows["y"] = y[n_train:]
    rows["w"] = np.random.default_rng(0).integers(0, 4, n_rows).astype(float)
    return Case(Forest.from_model(model), rows)


def all_kinds_of_costs() -> list[Any]:
    """Unit costs, prices of which some are 0, groups with a price, and features with several sources."""
    own = np.array([0.0, 1.0, 2.0, 0.5, 3.0, 1.0, 0.0, 2.0])
    needs = {
        name: ["p", "q"] if k % 3 == 0 else ["q"] if k % 3 == 1 else ["r"] for k, name in enumerate(NAMES)
    }
    return [
        None,
        FeatureCosts(own),
        FeatureCosts(own, groups=["a", "a", "b", None] * 2, group_costs={"a": 2.0, "b": 0.5}),
        FeatureCosts.from_sources({"p": 1.0, "q": 3.0, "r": 0.25}, needs),
    ]


def random_keep(problem: Any, rng: np.random.Generator) -> np.ndarray:
    """A random pruning."""
    parent = problem.forest.parent
    keep = problem.unpruned & (rng.random(parent.size) < 0.8)
    for h in np.flatnonzero(parent >= 0):  # parents come first
        keep[h] &= keep[parent[h]]
    return keep


def expand(problem: PruningProblem, dual: np.ndarray, lam: float) -> np.ndarray:
    """The payments that logarithms of weights stand for, one for each incidence: a slow, obvious twin."""
    weight = np.exp2(np.maximum(dual - dual.max(), -900.0))
    total = np.zeros((problem.n_sources, problem.n_examples))
    rows = []
    for k, (h, s) in enumerate(zip(problem.use_node, problem.use_source, strict=True)):
        tree = problem.forest.tree_of_node[h]
        rows.append(problem.order[tree, problem.row_start[h] : problem.row_stop[h]])
        total[s, rows[k]] += weight[k]
    beta = np.zeros(problem.n_incidences)
    for k, s in enumerate(problem.use_source):
        price = lam * problem.costs.price[s] * problem.row_weight[rows[k]]
        beta[problem.use_start[k] : problem.use_start[k + 1]] = price * weight[k] / total[s, rows[k]]
    return beta


def bits(problem: DistributedProblem, lam: float = 0.01, gap: float = 0.001) -> tuple[Any, ...]:
    """Everything that a solution consists of, to compare bit by bit."""
    pruning = problem.solve(lam, gap=gap)
    report, certificate = pruning.report, problem.certify(pruning)
    arrays = pruning.keep, pruning.dual, report.objective, report.bound, problem.error
    return *(array.tobytes() for array in arrays), pruning.error, pruning.cost, certificate
