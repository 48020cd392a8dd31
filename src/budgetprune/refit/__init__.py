"""Joint refit of the leaf values of a pruned forest."""

from budgetprune.refit.refitting import Kind, Refit, check_kind, kinds_for, refit, refit_pruning
from budgetprune.refit.sample import Sample

__all__ = ["Kind", "Refit", "Sample", "check_kind", "kinds_for", "refit", "refit_pruning"]
