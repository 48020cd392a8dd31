"""Baselines: other methods for prediction on a budget, as scikit-learn estimators with feature costs."""

from budgetprune.baselines.budget_rf import BudgetRF
from budgetprune.baselines.cascade import Cascade
from budgetprune.baselines.ccp import CCP, ccp_curve
from budgetprune.baselines.cegb import CEGBClassifier, CEGBRegressor
from budgetprune.baselines.cost_weighted_l1 import CostWeightedL1
from budgetprune.baselines.curve import PruningCurve
from budgetprune.baselines.feature_subsets import FeatureSubsets
from budgetprune.baselines.greedy_miser import GreedyMiser, GreedyMiserRegressor
from budgetprune.baselines.greedy_prune import GreedyPrune, greedy_curve
from budgetprune.baselines.plain import PlainForest, depth_curve

__all__ = [
    "CCP",
    "BudgetRF",
    "CEGBClassifier",
    "CEGBRegressor",
    "Cascade",
    "CostWeightedL1",
    "FeatureSubsets",
    "GreedyMiser",
    "GreedyMiserRegressor",
    "GreedyPrune",
    "PlainForest",
    "PruningCurve",
    "ccp_curve",
    "depth_curve",
    "greedy_curve",
]
