"""Leaves refitted: what the trees that are left should answer, so that their sum is right."""

from budgetprune.refit._refit import Kind, Refit, check_kind, kinds_for, refit, refit_pruning
from budgetprune.refit._sample import Sample

__all__ = ["Kind", "Refit", "Sample", "check_kind", "kinds_for", "refit", "refit_pruning"]
