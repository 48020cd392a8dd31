"""The paper's experiments and further ones, each run by ``budgetprune reproduce NAME``."""

from __future__ import annotations

from importlib import import_module

from budgetprune.errors import InvalidInputError
from budgetprune_experiments.experiment import Experiment, Options, Part, Record, Table, register, registered

# Names in the order of the paper. The module of the same name (with _ for -) registers the experiment. It is
# imported only when the experiment is requested, because some experiments need additional packages.
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
    """Return the experiment with a name."""
    if name not in NAMES:
        raise InvalidInputError(f"There is no experiment {name!r}; the names are {', '.join(NAMES)}.")
    import_module(f"{__name__}.{name.replace('-', '_')}")
    return registered(name)
