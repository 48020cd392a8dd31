"""Tree ensembles as flat arrays: import from a library, routing of rows, export."""

from budgetprune.forest import adapters as _adapters  # noqa: F401  (registers the libraries)
from budgetprune.forest.forest import Forest

__all__ = ["Forest"]
