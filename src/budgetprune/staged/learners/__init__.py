"""Learners that grow the trees of a stage: LightGBM, HistGradientBoosting, random forests."""

from budgetprune.staged.learners.calibration import best_scale, calibrated_loss
from budgetprune.staged.learners.learner import Learner
from budgetprune.staged.learners.losses import mean_loss, row_losses
from budgetprune.staged.learners.registry import LEARNERS, Candidates, has_lightgbm
from budgetprune.staged.learners.task import Settings, Task, Validation
from budgetprune.staged.learners.trees import Grown

__all__ = [
    "LEARNERS",
    "Candidates",
    "Grown",
    "Learner",
    "Settings",
    "Task",
    "Validation",
    "best_scale",
    "calibrated_loss",
    "has_lightgbm",
    "mean_loss",
    "row_losses",
]
