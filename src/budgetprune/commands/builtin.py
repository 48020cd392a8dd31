"""Registration of the commands of this package, in the order of the help."""

from __future__ import annotations

from budgetprune.commands.costs import init
from budgetprune.commands.demo import demo
from budgetprune.commands.fit import fit
from budgetprune.commands.inspect import inspect
from budgetprune.commands.path import path
from budgetprune.commands.predict import predict
from budgetprune.commands.prune import prune
from budgetprune.commands.rebudget import rebudget
from budgetprune.commands.registry import register_command, register_group
from budgetprune.commands.report import report
from budgetprune.commands.reproduce import reproduce
from budgetprune.commands.serve import serve

for function in (fit, rebudget, prune, predict, path, inspect, report, serve, demo, reproduce):
    register_command(function)
register_group("costs", "Price lists: the cost of each column.")
register_command(init, group="costs")
