"""Training data: columns, rows with labels, and folds."""

from budgetprune.staged.data.columns import FeatureSchema, columns_of
from budgetprune.staged.data.folds import (
    Fold,
    among,
    checked_folds,
    enough_folds,
    even_folds,
    folds_of_some,
    in_new_order,
)
from budgetprune.staged.data.rows import TrainingRows, queries_of, unit_weights
from budgetprune.staged.data.sample import Kind, LearningSample, Scores

__all__ = [
    "FeatureSchema",
    "Fold",
    "Kind",
    "LearningSample",
    "Scores",
    "TrainingRows",
    "among",
    "checked_folds",
    "columns_of",
    "enough_folds",
    "even_folds",
    "folds_of_some",
    "in_new_order",
    "queries_of",
    "unit_weights",
]
