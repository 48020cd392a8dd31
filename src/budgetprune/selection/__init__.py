"""Model selection inside `fit`: row splits, candidates, cross-fitting, choice of a point on the path."""

from budgetprune.selection.choice import Choices
from budgetprune.selection.parameters import between_zero_and_one, check_budget_parameter, one_of
from budgetprune.selection.rows import Index, LabelledRows, halves, split_rows
from budgetprune.selection.tradeoff import TradeOff, evenly_spaced
from budgetprune.selection.training import set_open_parameters, supported_model, train, with_names

__all__ = [
    "Choices",
    "Index",
    "LabelledRows",
    "TradeOff",
    "between_zero_and_one",
    "check_budget_parameter",
    "evenly_spaced",
    "halves",
    "one_of",
    "set_open_parameters",
    "split_rows",
    "supported_model",
    "train",
    "with_names",
]
