"""``budgetprune fit``."""

from __future__ import annotations

from dataclasses import dataclass

from budgetprune.commands import options
from budgetprune.commands.checks import check_out
from budgetprune.commands.console import Console
from budgetprune.commands.options import ModelKind


@dataclass(frozen=True)
class FitArguments:
    """Arguments and options of ``budgetprune fit``."""

    data: options.Data
    out: options.Out
    target: options.TargetName = None
    costs: options.Costs = None
    budget: options.Budget = None
    error_cost: options.ErrorCost = None
    max_cost: options.MaxCost = None
    test: options.Test = None
    model: options.Model = ModelKind.staged
    time_limit: options.TimeLimit = None
    trees: options.Trees = None
    max_features: options.MaxFeatures = None
    decided: options.Decided = False
    slack: options.Slack = 0.0
    tolerance: options.Tolerance = None
    scoring: options.Scoring = None
    class_weight: options.ClassWeight = None
    threshold: options.Threshold = None
    qid: options.Queries = None
    unit: options.Unit = ""
    validation: options.Validation = None
    task: options.Task = None
    categorical: options.Categorical = None
    drop: options.Drop = None
    max_columns: options.MaxColumns = options.MOST_COLUMNS
    sheet: options.Sheet = None
    test_sheet: options.TestSheet = None
    seed: options.Seed = 0
    jobs: options.Jobs = None
    as_json: options.Json = False
    quiet: options.Quiet = False


def fit(arguments: FitArguments) -> None:
    """Train the best model within a budget on a table.

    Text columns are categorical; each is one feature and is paid for once. Values may be missing. A staged
    model uses all rows, by cross-fitting. For a pruned model, part of the rows is held out to measure costs
    and to select the model. Give test rows for an unbiased comparison.

    Example: budgetprune fit patients.csv --target ill --costs costs.csv --budget 10 --out ill.budgetprune
    """
    console = Console(quiet=arguments.quiet, as_json=arguments.as_json, out=arguments.out)
    check_out(arguments.out, arguments.data, arguments.costs, arguments.test)
    from budgetprune.commands.comparison import show_fitted
    from budgetprune.commands.error_costs import parse_error_costs
    from budgetprune.commands.staged_tables import show_fitted_staged
    from budgetprune.workflow import FitOptions, fit_table

    model = fit_table(
        arguments.data,
        arguments.target,
        arguments.costs,
        budget=arguments.budget,
        model=arguments.model.value,
        test=arguments.test,
        options=FitOptions(
            task=None if arguments.task is None else arguments.task.value,
            categorical=arguments.categorical or (),
            error_costs=parse_error_costs(arguments.error_cost),
            max_cost=arguments.max_cost,
            time_limit=arguments.time_limit,
            n_trees=arguments.trees,
            max_features=arguments.max_features,
            validation_fraction=arguments.validation,
            **options.common_options(arguments),
        ),
        observer=console,
    )
    with console.stage(f"writing {arguments.out}"):
        model.save(arguments.out)
    if arguments.model is ModelKind.staged:
        show_fitted_staged(console, model, arguments.out, has_error_costs=bool(arguments.error_cost))
    else:
        show_fitted(console, model, arguments.out)
