"""Table 1: how often examples use a feature, before and after pruning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import Forest
from budgetprune.path import PruningPath
from budgetprune.plotting.plots import INK, tidy
from budgetprune.problem import PruningProblem
from budgetprune.problem.acquisition import sources_used
from budgetprune.selection import LabelledRows
from budgetprune_experiments.experiment import Cell, Options, Record, Table, register
from budgetprune_experiments.miniboone import EntropyForestOnMiniboone, entropy_forest, miniboone_split
from budgetprune_experiments.tables import mean_with_spread
from budgetprune_experiments.usage import count_uses

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BEFORE, AFTER = "unpruned", "pruned"
# Results in the paper: not used, used 1 to 7 times, used more often (%); average cost; test error (%).
PAPER = {BEFORE: (7.3, 91.7, 1.0, 42.0, 6.6), AFTER: (68.3, 31.5, 0.2, 24.3, 6.7)}
USAGE = ("no usage", "1-7", "> 7")
MOST_FEW = 7
# Largest increase of the validation error by the chosen pruning, as in the paper.
ERROR_ADDED = 0.001
COLOURS = ("#e9ecef", "#f4a698", "#c92a2a")


class Table1(EntropyForestOnMiniboone):
    """Use of every feature before and after pruning, and the feature most similar to the paper's example."""

    name = "table1"
    title = "Table 1: how often examples use a feature, before and after pruning, MiniBooNE"
    figure_size = (9.0, 9.0)

    def run_seed(self, seed: int, options: Options) -> list[Record]:
        split = miniboone_split(seed, options)
        model = entropy_forest(options).set_params(random_state=seed).fit(split.train.X, split.train.y)
        problem = PruningProblem(Forest.from_model(model), split.val.X)
        path = problem.path()
        chosen = cheapest_as_good(path, split.val)
        return [
            {
                "method": name,
                "seed": seed,
                **split.sizes,
                "test_cost": float(
                    problem.costs.total(sources_used(forest, problem.costs, split.test.X)).mean()
                ),
                "test_score": _accuracy(forest, split.test),
                "lambda": lam,
                "usage": usage(forest, split.test.X).tolist(),
            }
            for name, forest, lam in (
                (BEFORE, path.forest, None),
                (AFTER, path[chosen].forest, float(path.lam[chosen])),
            )
        ]

    def tables(self, records: Sequence[Record], options: Options) -> list[Table]:
        shares = mean_usage(records)
        typical = nearest_to_paper(shares[BEFORE])
        return [_summary(records, typical), _features(shares, typical)]

    def draw(self, records: Sequence[Record], options: Options, figure: Figure) -> None:
        shares = mean_usage(records)
        typical = nearest_to_paper(shares[BEFORE])
        order = np.lexsort((shares[BEFORE][:, 2], -shares[BEFORE][:, 0]))
        both = figure.subplots(1, 2, sharey=True)
        for axes, (name, words) in zip(both, ((BEFORE, "before"), (AFTER, "after")), strict=True):
            left = np.zeros(order.size)
            for k, (usage_name, colour) in enumerate(zip(USAGE, COLOURS, strict=True)):
                share = 100 * shares[name][order, k]
                axes.barh(
                    np.arange(order.size), share, left=left, color=colour, height=0.85, label=usage_name
                )
                left += share
            cost = np.mean([record["test_cost"] for record in records if record["method"] == name])
            axes.set_title(f"{words} pruning: average cost {cost:.1f}", loc="left", fontsize=10, color=INK)
            axes.set_xlabel("share of test examples (%)", color=INK)
            axes.set_xlim(0, 100)
            tidy(axes)
        both[0].set_yticks(np.arange(order.size), [f"feature {k}" for k in order], fontsize=7)
        place = int(np.flatnonzero(order == typical)[0])
        both[0].get_yticklabels()[place].set(fontweight="bold", color=COLOURS[-1])
        figure.legend(
            *both[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False
        )
        figure.suptitle("Table 1: times that examples use each feature", x=0.01, ha="left", fontweight="bold")


def cheapest_as_good(path: PruningPath, val: LabelledRows) -> int:
    """Index of the cheapest pruning whose error on V exceeds the forest's by at most `ERROR_ADDED`.

    Except for noise, errors grow along the path, so a binary search finds it.
    """
    enough = _accuracy(path.forest, val) - ERROR_ADDED
    good, bad = 0, len(path)
    while bad - good > 1:
        k = (good + bad) // 2
        good, bad = (k, bad) if _accuracy(path[k].forest, val) >= enough else (good, k)
    return good


def usage(forest: Forest, X: Any) -> NDArray[np.float64]:
    """Shares of the rows that use each feature never, 1 to 7 times, or more often: (n_features, 3)."""
    uses = count_uses(forest, X)
    never, often = (uses == 0).mean(axis=0), (uses > MOST_FEW).mean(axis=0)
    return np.column_stack([never, 1 - never - often, often])


def mean_usage(records: Sequence[Record]) -> dict[str, NDArray[np.float64]]:
    """Average shares over seeds."""
    return {
        name: np.mean([record["usage"] for record in records if record["method"] == name], axis=0)
        for name in (BEFORE, AFTER)
    }


def nearest_to_paper(shares: NDArray[np.float64]) -> int:
    """Index of the feature whose use in the unpruned forest is most similar to the paper's example."""
    return int(np.abs(100 * shares - PAPER[BEFORE][:3]).sum(axis=1).argmin())


def _accuracy(forest: Forest, rows: LabelledRows) -> float:
    return float(np.mean(forest.predict(rows.X) == rows.y))


def _summary(records: Sequence[Record], typical: int) -> Table:
    rows: list[list[Cell]] = []
    for name in (BEFORE, AFTER):
        some = [record for record in records if record["method"] == name]
        shares = np.array([record["usage"][typical] for record in some])
        cost = np.array([record["test_cost"] for record in some])
        error = np.array([1 - record["test_score"] for record in some])
        figures = [*(100 * shares.T), cost, 100 * error]
        rows.append([f"{name}, here", *(mean_with_spread(values, 1) for values in figures)])
        rows.append([f"{name}, the paper", *(f"{value:.1f}" for value in PAPER[name])])
    return Table(
        f"A typical feature (here: feature {typical})",
        ["forest", *(f"{name} (%)" for name in USAGE), "cost", "error (%)"],
        rows,
        note="The pruning is the cheapest whose error on validation rows is at most 0.1 points above that of "
        "the unpruned forest, as in the paper's table. Uses are splits on the feature that a row passes, "
        "in all trees; cost is the average number of features that a test example uses at all.",
    )


def _features(shares: dict[str, NDArray[np.float64]], typical: int) -> Table:
    rows = [
        [str(k), *(f"{100 * share:.1f}" for name in (BEFORE, AFTER) for share in shares[name][k])]
        for k in range(len(shares[BEFORE]))
    ]
    return Table(
        "Share of test examples (%) by how often they use each feature",
        ["feature", *(f"{name}, {words}" for words in ("before", "after") for name in USAGE)],
        rows,
        note="Highlighted: the feature whose row before pruning is nearest to the one the paper shows.",
        highlight=frozenset({typical}),
    )


register(Table1())
