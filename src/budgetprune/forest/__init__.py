"""From a fitted model to flat arrays, and back: the noun that everything downstream is built on."""

from budgetprune.forest import _sklearn as _sklearn  # importing an importer's module registers it
from budgetprune.forest._forest import Forest

__all__ = ["Forest"]
