"""Figure 1 (c): learning to rank, with very different feature prices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from budgetprune.baselines import BudgetRF
from budgetprune.costs import FeatureCosts
from budgetprune.datasets import YAHOO_PRICES, Dataset, load_mq2008, load_yahoo_costs, load_yahoo_ltr
from budgetprune.datasets.yahoo import yahoo_folders
from budgetprune.errors import DatasetError
from budgetprune.ranking import ap_scorer
from budgetprune.selection import LabelledRows
from budgetprune.utils.feature_names import default_names
from budgetprune_experiments import ranking_methods as ranking
from budgetprune_experiments.comparison import Comparison
from budgetprune_experiments.experiment import Cell, Options, Record, Table, register
from budgetprune_experiments.grids import BoostingGrid, Grids
from budgetprune_experiments.methods import OURS_PAPER
from budgetprune_experiments.queries import RELEVANT, VALIDATION_SHARE, drawn_prices, split_by_query
from budgetprune_experiments.records import least_cost_for
from budgetprune_experiments.split import Split
from budgetprune_experiments.task import Task

# Of 519 features, 400 may split a node.
FEATURE_SHARE = 400 / 519
# Minimum documents per leaf, for small data: the paper gives none, and fully grown trees overfit the
# training queries.
LEAF_SIZES = (1, 5, 20, 50, 100)
# Seed of the prices: with others for each repetition, costs would not be comparable.
DEAL = 0
CLAIM = 0.3
MISER = "GreedyMiser"
_ROUNDS = (3, 5, 10, 25, 50, 100)
MQ2008_GRIDS = Grids(
    miser=BoostingGrid((0.0, 1e-4, 3e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1), (4, 3, 2), _ROUNDS),
    lazy=BoostingGrid((1e-3, 3e-3, 0.01, 0.03, 0.05, 0.1, 0.2, 0.5, 1.0), (31, 15), _ROUNDS),
    coupled=BoostingGrid((1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3), (31, 15), _ROUNDS),
)


@lru_cache(maxsize=1)
def load(data_dir: Path | None) -> Dataset:
    """Load Yahoo! LTR if its files exist, else MQ2008."""
    place = next((folder for folder in yahoo_folders(data_dir) if folder.is_dir()), None)
    return load_mq2008(data_dir) if place is None else load_yahoo_ltr(place)


class Figure1c(Comparison):
    """All methods for ranking: AP@5 against the average cost of a document.

    The base forest has 140 trees, grown with cost-weighted entropy as in BudgetRF (a split is worth its
    decrease of entropy per unit of cost), on a random subset of the features at each split. The size of its
    leaves is chosen on V, for all methods that prune it.
    """

    name = "figure1c"
    title = "Figure 1 (c): ranking"
    seconds = 30.0
    costs_shown = (2.0, 3.0, 5.0, 8.0, 12.0)
    by_ratio = True
    error_every = 5
    score_name = "AP@5"
    cost_name = "average feature cost of a document"
    scoring = ap_scorer(ranking.K)
    methods = ranking.METHODS
    method_names = tuple(ranking.METHODS)
    line_styles = ranking.LINE_STYLES
    panels = ranking.PANELS

    def substitute(self, options: Options) -> str | None:
        if options.quick:
            return "made documents and prices for Yahoo! LTR"
        if not self._is_substitute(options):
            return None
        data = load(options.data_dir)
        return (
            f"{data.name} ({len(data.y):,} documents, {data.X.shape[1]} features) for Yahoo! LTR (473,134 "
            f"documents, 519 features), which may not be passed on. {VALIDATION_SHARE:.0%} of its training "
            f"queries are for validation; documents of relevance {RELEVANT} or more are relevant; features "
            f"have prices {_prices(options.data_dir)[1]}, dealt out once for all seeds. Leaves have at least "
            f"{LEAF_SIZES[0]} to {LEAF_SIZES[-1]} documents: what is best for the forest on validation rows."
        )

    def datasets(self, options: Options) -> tuple[Dataset, ...]:
        return () if options.quick else (load(options.data_dir),)

    def split(self, seed: int, options: Options) -> Split:
        return split_by_query(made_documents(seed) if options.quick else load(options.data_dir), seed)

    def forest(self, options: Options) -> Any:
        return BudgetRF(
            6 if options.quick else 140,
            impurity="entropy",
            rule="expected",
            max_features=FEATURE_SHARE,
            n_jobs=options.jobs,
        )

    def grids(self, options: Options) -> Grids:
        # A few thousand documents are overfitted after some dozen rounds.
        return MQ2008_GRIDS if self._is_substitute(options) else super().grids(options)

    def measure(self, model: Any, rows: LabelledRows) -> float:
        return ranking.measure(model, rows)

    def _task(self, seed: int, options: Options) -> Task:
        task = super()._task(seed, options)
        if task.base.costs is None:
            task.costs = self._prices(task.split, options)
            task.base.set_params(costs=task.costs)
            if self._is_substitute(options):
                task.base.set_params(min_samples_leaf=best_leaf_size(task))
        return task

    def _run(self, name: str, seed: int, options: Options) -> list[Record]:
        records = super()._run(name, seed, options)
        leaf_size = self._task(seed, options).base.min_samples_leaf
        return [record | {"min_samples_leaf": leaf_size} for record in records]

    def settings(self, options: Options) -> Record:
        settings = super().settings(options) | {"leaf_sizes": list(LEAF_SIZES), "deal": DEAL}
        if self._is_substitute(options):
            settings["prices"] = sorted(_prices(options.data_dir)[0].tolist())
        return settings

    def _is_substitute(self, options: Options) -> bool:
        return not options.quick and load(options.data_dir).costs is None

    def _prices(self, split: Split, options: Options) -> FeatureCosts:
        n_features = split.train.X.shape[1]
        if options.quick:
            return FeatureCosts(drawn_prices(np.array(YAHOO_PRICES, dtype=np.float64), n_features, DEAL))
        known = load(options.data_dir).costs
        if known is not None:
            return known
        return FeatureCosts(drawn_prices(_prices(options.data_dir)[0], n_features, DEAL))

    def tables(self, records: Sequence[Record], options: Options) -> list[Table]:
        curves = self.mean_curves(records)
        miser = curves[MISER]
        rows: list[list[Cell]] = []
        for name, curve in curves.items():
            if name == OURS_PAPER or name.startswith("ours"):
                for score in _levels(curve.score, miser.score):
                    theirs, cost = least_cost_for(miser, score), least_cost_for(curve, score)
                    if theirs and cost:
                        rows.append([name, f"{score:.3f}", cost, theirs, f"{cost / theirs:.0%}"])
        claim = Table(
            "Cost for the same AP@5 as GreedyMiser",
            ["method", "AP@5", "its cost", "cost of GreedyMiser", "share"],
            rows,
            note=f"The paper: similar ranking accuracy as GreedyMiser with only {CLAIM:.0%} of its cost. "
            "Levels are what both mean curves reach.",
        )
        return [*super().tables(records, options), claim]


def best_leaf_size(task: Task) -> int:
    """Choose the minimum documents per leaf by the ranking of V by a small forest."""
    train, val = task.split.train, task.split.val
    n_trees = min(40, task.base.n_estimators)

    def quality(size: int) -> float:
        forest = clone(task.base).set_params(min_samples_leaf=size, n_estimators=n_trees)
        return task.measure(forest.fit(train.X, train.y), val)

    return max(LEAF_SIZES, key=quality)


def _levels(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> list[float]:
    """Score levels reached by two curves, up to the best that both reach."""
    least, best = max(one.min(), other.min()), min(one.max(), other.max())
    return sorted({float(level) for level in np.linspace(least, best, 3)}) if least <= best else []


def _prices(data_dir: Path | None) -> tuple[np.ndarray[Any, np.dtype[np.float64]], str]:
    """Yahoo!'s prices and their description; with the frequencies of its list, if available."""
    try:
        return load_yahoo_costs(data_dir), "from Yahoo!'s list, in the same proportions"
    except DatasetError:
        values = np.array(YAHOO_PRICES, dtype=np.float64)
        return values, "that Yahoo! has, all equally often because its list is not at hand"


def made_documents(seed: int) -> Dataset:
    """Generate queries with a dozen documents each; some features are informative, others noise."""
    random = np.random.default_rng(seed)
    n_queries, n_documents = 60, 12
    X = random.normal(size=(n_queries * n_documents, 8)).astype(np.float32)
    noise = random.normal(size=len(X))
    qid = np.repeat(np.arange(n_queries), n_documents)
    return Dataset(
        name="made documents",
        X=X,
        y=(X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * noise > 1).astype(np.int64),
        feature_names=default_names(X.shape[1]),
        qid=qid,
        split=np.where(qid < 40, 0, 2).astype(np.int8),
    )


register(Figure1c())
