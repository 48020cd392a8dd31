"""Training: settings of the trees, choice of the learner, cross-fitting of the stages."""

from budgetprune.staged.training.deadline import Deadline
from budgetprune.staged.training.learner_choice import LearnerComparison, choose_learner
from budgetprune.staged.training.plan import StagePlan, StageSpec
from budgetprune.staged.training.settings import LAST_STAGE_FACTOR, choose_settings
from budgetprune.staged.training.trainer import CrossFitted, StageTrainer
from budgetprune.staged.training.trials import MOST_ROWS, TrialSplit, TrialTrainer

__all__ = [
    "LAST_STAGE_FACTOR",
    "MOST_ROWS",
    "CrossFitted",
    "Deadline",
    "LearnerComparison",
    "StagePlan",
    "StageSpec",
    "StageTrainer",
    "TrialSplit",
    "TrialTrainer",
    "choose_learner",
    "choose_settings",
]
