"""Names of arguments in messages."""

from __future__ import annotations

import inspect

from budgetprune import FitOptions, PruneOptions
from budgetprune.commands.fit import FitArguments
from budgetprune.commands.prune import PruneArguments
from budgetprune.workflow.tables import argument, flag, setting


def test_both_names():
    assert argument("max_cost") == "max_cost (--max-cost)"
    assert argument("error_costs") == "error_costs (--error-cost)"
    assert setting("drop", ["age"]) == "drop=['age'] (--drop age)"
    assert setting("max_columns", 3) == "max_columns=3 (--max-columns 3)"
    assert setting("trust", True) == "trust=True (--trust)"
    assert setting("counting", "decided") == "counting='decided' (--decided)"


def test_all_options_of_the_commands_have_these_names():
    for options, arguments in ((FitOptions, FitArguments), (PruneOptions, PruneArguments)):
        names = inspect.signature(options).parameters
        known = {name.replace("_", "-") for name in inspect.signature(arguments).parameters}
        assert {flag(name).removeprefix("--") for name in names} <= known
