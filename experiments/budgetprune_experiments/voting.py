"""`voting`: summed probabilities against majority vote after pruning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from budgetprune.costs import FeatureCosts
from budgetprune.forest import Forest
from budgetprune.path import PruningPath
from budgetprune.plotting.plots import tidy
from budgetprune.problem import PruningProblem
from budgetprune.problem.acquisition import sources_used
from budgetprune.selection import LabelledRows
from budgetprune_experiments.experiment import Options, Record, Table, register
from budgetprune_experiments.figures import BLUE, PAPER_RED, LineStyle
from budgetprune_experiments.miniboone import EntropyForestOnMiniboone, entropy_forest, miniboone_split
from budgetprune_experiments.tables import mean_with_spread
from budgetprune_experiments.votes import are_tied, count_votes, majority

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUM, VOTE = "summed probabilities", "majority vote"
LINE_STYLES = {VOTE: LineStyle(BLUE, "X"), SUM: LineStyle(PAPER_RED, "o", width=2.2)}
# Costs at which the rules are compared, as shares of the unpruned forest's cost.
SHARES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 0.95)
UNPRUNED = "unpruned"


class Voting(EntropyForestOnMiniboone):
    """Section 3: summing "consistently gives lower prediction error than majority voting with pruned trees".

    The forest and the pruning are those of Figure 1a. Both rules use the same pruned forest, so their costs
    are equal: the price of every feature on a row's paths through all trees.
    """

    name = "voting"
    title = "Summed probabilities against majority vote after pruning, MiniBooNE"

    def settings(self, options: Options) -> Record:
        return {"shares": list(SHARES)} | super().settings(options)

    def run_seed(self, seed: int, options: Options) -> list[Record]:
        split = miniboone_split(seed, options)
        model = entropy_forest(options).set_params(random_state=seed).fit(split.train.X, split.train.y)
        path = PruningProblem(Forest.from_model(model), split.val.X).path()
        records = []
        for setting, forest in points(path):
            found = {"seed": seed, "setting": setting, "n_splits": forest.n_splits, **split.sizes}
            val, test = (answer(forest, rows) for rows in (split.val, split.test))
            records += [
                found
                | {"method": rule, "val_cost": val["cost"], "val_score": val[rule]}
                | {"test_cost": test["cost"], "test_score": test[rule], "tied": test["tied"]}
                for rule in (SUM, VOTE)
            ]
        return records

    def tables(self, records: Sequence[Record], options: Options) -> list[Table]:
        rows = [_row(setting, records) for setting in dict.fromkeys(r["setting"] for r in records)]
        pruned = [pair for pair in _pairs(records) if pair[0]["setting"] != UNPRUNED]
        wins = sum(by_sum["test_score"] > by_vote["test_score"] for by_sum, by_vote in pruned)
        return [
            Table(
                "Accuracy on test rows",
                ["share of the cost", "cost", SUM, VOTE, "points won by summing", "ties of the vote"],
                rows,
                note=f"Summing is more accurate in {wins} of {len(pruned)} cases (pruned forests of all "
                "seeds). A tied vote goes to the first class; the last column is the share of such rows.",
            )
        ]

    def draw(self, records: Sequence[Record], options: Options, figure: Figure) -> None:
        axes = figure.subplots()
        for rule, style in LINE_STYLES.items():
            cost, score, spread = [], [], []
            for setting in dict.fromkeys(record["setting"] for record in records):
                some = [r for r in records if (r["method"], r["setting"]) == (rule, setting)]
                errors = [100 * (1 - record["test_score"]) for record in some]
                cost.append(np.mean([record["test_cost"] for record in some]))
                score.append(np.mean(errors))
                spread.append(np.std(errors, ddof=1) if len(errors) > 1 else 0.0)
            axes.errorbar(
                cost,
                score,
                spread,
                color=style.colour,
                marker=style.marker,
                linewidth=style.width,
                capsize=2,
                label=rule,
            )
        axes.set(xlabel="average feature cost", ylabel="test error (%)", xlim=(0, None))
        axes.set_title(self.title, loc="left", fontsize=10, fontweight="bold")
        axes.legend(frameon=False)
        axes.grid(color="#e9ecef", linewidth=0.8)
        tidy(axes)


def points(path: PruningPath) -> Iterable[tuple[str, Forest]]:
    """Prunings whose costs are nearest to the shares, without duplicates, and the unpruned forest.

    A forest that is pruned to its roots is left out: both rules predict the same label for all rows.
    """
    nearest = [int(np.argmin(np.abs(path.cost - share * path.unpruned.cost))) for share in SHARES]
    for share, k in zip(SHARES, nearest, strict=True):
        if nearest.index(k) == SHARES.index(share) and path.n_splits[k]:
            yield f"{share:.0%}", path[k].forest
    yield UNPRUNED, path.forest


def answer(forest: Forest, rows: LabelledRows) -> dict[str, float]:
    """Average cost of the rows, accuracy of both rules, and share of tied votes."""
    prices = FeatureCosts().resolve(forest.n_features, forest.feature_names)
    votes = count_votes(forest, rows.X)
    return {
        "cost": float(prices.total(sources_used(forest, prices, rows.X)).mean()),
        "tied": float(are_tied(votes).mean()),
        SUM: float(np.mean(forest.predict(rows.X) == rows.y)),
        VOTE: float(np.mean(majority(forest, votes) == rows.y)),
    }


def _pairs(records: Sequence[Record]) -> list[tuple[Record, Record]]:
    """Records of the two rules for the same forest."""
    votes = {(r["seed"], r["setting"]): r for r in records if r["method"] == VOTE}
    return [(r, votes[r["seed"], r["setting"]]) for r in records if r["method"] == SUM]


def _row(setting: str, records: Sequence[Record]) -> list[str | float]:
    pairs = [pair for pair in _pairs(records) if pair[0]["setting"] == setting]
    scores = np.array([[record["test_score"] for record in pair] for pair in pairs])
    lead = 100 * (scores[:, 0] - scores[:, 1])

    return [
        setting,
        float(np.mean([by_sum["test_cost"] for by_sum, _ in pairs])),
        mean_with_spread(scores[:, 0], 4),
        mean_with_spread(scores[:, 1], 4),
        mean_with_spread(lead, 2),
        f"{np.mean([by_vote['tied'] for _, by_vote in pairs]):.1%}",
    ]


register(Voting())
