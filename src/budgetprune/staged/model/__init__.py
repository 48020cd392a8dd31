"""`StagedModel` and its parts: chains of stages, objective, trade-off curve."""

from budgetprune.staged.model.chain import Chain, Stage
from budgetprune.staged.model.error_costs import LARGEST_PRICE, check_error_costs, read_error_costs
from budgetprune.staged.model.join import join_forests, take_trees
from budgetprune.staged.model.links import link_of, log_shares, probabilities
from budgetprune.staged.model.objective import ErrorCosts, LogLoss, Objective, SquaredError
from budgetprune.staged.model.staged_model import StagedModel, StageShares
from budgetprune.staged.model.tradeoff import StagedTradeOff

__all__ = [
    "LARGEST_PRICE",
    "Chain",
    "ErrorCosts",
    "LogLoss",
    "Objective",
    "SquaredError",
    "Stage",
    "StageShares",
    "StagedModel",
    "StagedTradeOff",
    "check_error_costs",
    "join_forests",
    "link_of",
    "log_shares",
    "probabilities",
    "read_error_costs",
    "take_trees",
]
