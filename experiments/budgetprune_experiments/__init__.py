"""The paper's experiments and further ones, each run by ``budgetprune reproduce NAME``."""

from __future__ import annotations

from importlib import import_module

from budgetprune.errors import InvalidInputError
from budgetprune_experiments.experiment import Experiment, Options, Part, Record, Table, register, registered

# In the order of the paper. Each is registered by the module of its name (with _ for -), which is imported
# only when it is asked for: some of them need packages that others do not.
NAMES = (
    "table1",
    "figure1a",
    "figure1b",
    "figure1c",
    "figure1d",
    "nonuniform",
    "pairs",
    "subset-size",
    "voting",
    "solvers",
    "medical",
)

__all__ = ["NAMES", "Experiment", "Options", "Part", "Record", "Table", "find_experiment", "register"]


def find_experiment(name: str) -> Experiment:
    """Return the experiment of a name."""
    if name not in NAMES:
        raise InvalidInputError(f"There is no experiment {name!r}; the names are {', '.join(NAMES)}.")
    import_module(f"{__name__}.{name.replace('-', '_')}")
    return registered(name)
