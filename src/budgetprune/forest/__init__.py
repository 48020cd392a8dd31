"""Tree ensembles as flat arrays: import from a library, routing of rows, export."""

from budgetprune.forest import adapters as _adapters  # noqa: F401  (registers the libraries)
from budgetprune.forest import section as _section  # noqa: F401  (registers the section of model files)
from budgetprune.forest.forest import Forest

__all__ = ["Forest"]
