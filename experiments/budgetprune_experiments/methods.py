"""Methods compared, and their line styles in figures."""

from __future__ import annotations

from functools import partial

from budgetprune_experiments import boosting_methods as boosting
from budgetprune_experiments import figures
from budgetprune_experiments import forest_methods as forests
from budgetprune_experiments import linear_methods as linear
from budgetprune_experiments import our_methods as ours
from budgetprune_experiments import staged_method as stages
from budgetprune_experiments import subset_methods as subsets
from budgetprune_experiments.figures import LineStyle
from budgetprune_experiments.task import Method

UNPRUNED = "unpruned forest"
OURS_PAPER = "BudgetPrune (the paper)"
SUBSETS, CASCADE = "feature subsets + LightGBM", "cascade"
STAGED = "ours: staged"

_ALL = (
    Method(UNPRUNED, forests.unpruned),
    Method("limited depth", forests.limited_depth),
    Method("CCP", forests.cost_complexity),
    Method("GreedyPrune", forests.greedy),
    Method("BudgetRF", forests.budget_rf),
    Method("GreedyMiser", boosting.greedy_miser),
    Method("cost-weighted L1", linear.cost_weighted_l1),
    Method("CEGB, lazy", partial(boosting.cegb, penalty="lazy")),
    Method("CEGB, coupled", partial(boosting.cegb, penalty="coupled")),
    Method(SUBSETS, subsets.feature_subsets),
    Method(CASCADE, subsets.cascade),
    Method(OURS_PAPER, forests.paper_pruning, is_ours=True),
    Method("ours: refitted", ours.refitted, is_ours=True),
    Method("ours: decided early", ours.decided, is_ours=True),
    Method("ours: decided early, slack", ours.decided_with_slack, is_ours=True),
    Method("ours on CEGB, decided early", boosting.decided_booster, is_ours=True),
    Method(STAGED, stages.staged, is_ours=True),
)
METHODS = {method.name: method for method in _ALL}

# Styles of the curves, in drawing order: later curves are on top.
LINE_STYLES = {
    UNPRUNED: LineStyle(figures.BLACK, "*"),
    "cost-weighted L1": LineStyle(figures.BROWN, "v", ":"),
    "limited depth": LineStyle(figures.GREY, "s", "--"),
    "CCP": LineStyle(figures.GREEN, "^"),
    "GreedyPrune": LineStyle(figures.TEAL, "D"),
    "BudgetRF": LineStyle(figures.VIOLET, "P"),
    "GreedyMiser": LineStyle(figures.BLUE, "X"),
    "CEGB, coupled": LineStyle(figures.SKY, "v", "--"),
    "CEGB, lazy": LineStyle(figures.NAVY, "s"),
    SUBSETS: LineStyle(figures.LIME, "^"),
    CASCADE: LineStyle(figures.INDIGO, "D"),
    OURS_PAPER: LineStyle(figures.PAPER_RED, "o", width=2.2),
    "ours: refitted": LineStyle(figures.DARK_RED, "^", width=1.8),
    "ours: decided early": LineStyle(figures.ORANGE_RED, "D", width=1.8),
    "ours: decided early, slack": LineStyle(figures.ROSE, "P", width=1.8),
    "ours on CEGB, decided early": LineStyle(figures.CRIMSON, "X", width=2.2),
    STAGED: figures.STAGED_STYLE,
}
# The two panels of a figure.
PAPER = (
    UNPRUNED,
    "cost-weighted L1",
    "limited depth",
    "CCP",
    "GreedyPrune",
    "BudgetRF",
    "GreedyMiser",
    OURS_PAPER,
)
BEYOND = (
    UNPRUNED,
    "CEGB, coupled",
    "CEGB, lazy",
    SUBSETS,
    CASCADE,
    OURS_PAPER,
    "ours: refitted",
    "ours: decided early",
    "ours: decided early, slack",
    "ours on CEGB, decided early",
    STAGED,
)
