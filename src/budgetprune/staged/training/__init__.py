"""Training: settings of the trees, choice of the learner, cross-fitting of the stages."""

from budgetprune.staged.training.deadline import Deadline
from budgetprune.staged.training.learner_choice import Comparison, choose_learner
from budgetprune.staged.training.plan import Plan, Way
from budgetprune.staged.training.settings import LAST, choose_settings
from budgetprune.staged.training.trainer import CrossFitted, Trainer
from budgetprune.staged.training.trials import MOST_ROWS, Division, Trials

__all__ = [
    "LAST",
    "MOST_ROWS",
    "Comparison",
    "CrossFitted",
    "Deadline",
    "Division",
    "Plan",
    "Trainer",
    "Trials",
    "Way",
    "choose_learner",
    "choose_settings",
]
