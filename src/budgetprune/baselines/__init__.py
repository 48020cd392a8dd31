"""Rivals: other ways to predict on a budget, each a scikit-learn estimator that knows its prices."""

from budgetprune.baselines._budget_rf import BudgetRF
from budgetprune.baselines._cascade import Cascade
from budgetprune.baselines._ccp import CCP, ccp_curve
from budgetprune.baselines._cegb import CEGBClassifier, CEGBRegressor
from budgetprune.baselines._cost_weighted_l1 import CostWeightedL1
from budgetprune.baselines._curve import PruningCurve
from budgetprune.baselines._feature_subsets import FeatureSubsets
from budgetprune.baselines._greedy_miser import GreedyMiser, GreedyMiserRegressor
from budgetprune.baselines._greedy_prune import GreedyPrune, greedy_curve
from budgetprune.baselines._plain import PlainForest, depth_curve

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
