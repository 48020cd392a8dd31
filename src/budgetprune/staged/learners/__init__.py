"""Learners that grow the trees of a stage: LightGBM, HistGradientBoosting, random forests."""

from budgetprune.staged.learners.calibration import best_scale, calibrated_loss
from budgetprune.staged.learners.learner import Learner
from budgetprune.staged.learners.losses import mean_loss, row_losses
from budgetprune.staged.learners.registry import LEARNERS, LearnerCandidates, has_lightgbm
from budgetprune.staged.learners.task import GrowTask, TreeSettings, ValidationRows
from budgetprune.staged.learners.trees import GrownTrees

__all__ = [
    "LEARNERS",
    "GrowTask",
    "GrownTrees",
    "Learner",
    "LearnerCandidates",
    "TreeSettings",
    "ValidationRows",
    "best_scale",
    "calibrated_loss",
    "has_lightgbm",
    "mean_loss",
    "row_losses",
]
