"""Selection inside `fit`: roles of rows, candidates, cross-fitting, choices, the final model.

=====================  =================================================================================
`rows`                 T and V; halves of V for cross-fitting
`candidates`           settings to choose from: measures of node errors, refits, slacks
`context`              inputs that all candidates share
`fold`                 cross-fitting at full cost
`decided_fold`         cross-fitting at decided cost
`choice`               choice of the settings by their scores
`tradeoff`             cost and score of every budget
`final_model`          the chosen point, refitted on T and V
`select`               all of these in order
=====================  =================================================================================
"""

from budgetprune.selection.choice import Choices
from budgetprune.selection.context import FitContext
from budgetprune.selection.decided_counting import DecidedCounting
from budgetprune.selection.final_model import FinalModel, FinalModelBuilder
from budgetprune.selection.options import SelectionOptions
from budgetprune.selection.pruned_model import PrunedClassifier, PrunedModel, PrunedRegressor
from budgetprune.selection.rows import Index, LabelledRows, halves, split_rows
from budgetprune.selection.scored_model import NO_PROBABILITIES
from budgetprune.selection.select import SelectedPruning, select_pruning
from budgetprune.selection.tradeoff import TradeOff, evenly_spaced
from budgetprune.selection.training import set_open_parameters, supported_model, train, with_names

__all__ = [
    "NO_PROBABILITIES",
    "Choices",
    "DecidedCounting",
    "FinalModel",
    "FinalModelBuilder",
    "FitContext",
    "Index",
    "LabelledRows",
    "PrunedClassifier",
    "PrunedModel",
    "PrunedRegressor",
    "SelectedPruning",
    "SelectionOptions",
    "TradeOff",
    "evenly_spaced",
    "halves",
    "select_pruning",
    "set_open_parameters",
    "split_rows",
    "supported_model",
    "train",
    "with_names",
]
