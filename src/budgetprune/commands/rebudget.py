"""``budgetprune rebudget``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from budgetprune.commands import options
from budgetprune.commands import staged_tables as tables
from budgetprune.commands.checks import check_out
from budgetprune.commands.console import Console
from budgetprune.errors import InvalidInputError

if TYPE_CHECKING:
    from budgetprune.model import BudgetModel


@dataclass(frozen=True)
class RebudgetArguments:
    """Arguments and options of ``budgetprune rebudget``."""

    model: options.ModelFile
    out: options.Out
    budget: options.Budget = None
    force: Annotated[bool, typer.Option("--force", help="Allow --out to replace the model file itself.")] = (
        False
    )
    as_json: options.Json = False
    quiet: options.Quiet = False


def rebudget(arguments: RebudgetArguments) -> None:
    """Write a model for another budget, without training.

    A staged model contains stopping rules for every budget; this command selects the best one within the new
    budget. A pruned model contains its path; this command selects the best point, with leaf values as grown
    (fit or prune again to refit them). Test results for the previous budget are dropped.

    Example: budgetprune rebudget ill.budgetprune --budget 5 --out cheaper.budgetprune
    """
    from budgetprune.model import BudgetModel

    out, budget = arguments.out, arguments.budget
    console = Console(quiet=arguments.quiet, as_json=arguments.as_json, out=out)
    if not arguments.force and out.exists() and out.samefile(arguments.model):
        raise InvalidInputError(f"--out {out} is the model itself; add --force to replace it.")
    check_out(out)
    from budgetprune.staged import StagedPredictor
    from budgetprune.workflow import check_limit, rebudget_model, unused_budget_note

    check_limit(budget, "--budget")
    loaded = BudgetModel.load(arguments.model)
    try:
        model = rebudget_model(loaded, budget)
    except InvalidInputError as error:
        raise InvalidInputError(f"{arguments.model}: {error}") from error
    if isinstance(model.predictor, StagedPredictor):
        if (note := unused_budget_note(model.predictor, budget)) is not None:
            console.note(note)
        model.save(out)
        _show_staged(console, model, arguments)
    else:
        model.save(out)
        _show_pruned(console, model, arguments)


def _show_staged(console: Console, model: BudgetModel, arguments: RebudgetArguments) -> None:
    from budgetprune.staged import StagedPredictor

    assert isinstance(model.predictor, StagedPredictor)
    staged = model.predictor.model
    cost, score = (float(values[staged.point]) for values in (staged.trade_off.cost, staged.trade_off.score))
    name = "score" if model.about is None else model.about.score_name
    console.show(
        tables.stage_table(staged),
        f"Average cost {cost:.4g}, {name} {score:.4f}, on rows that had no part in training.",
        f"Written: {arguments.out}",
    )
    result = {"out": str(arguments.out), "budget": arguments.budget, "cost": cost, "score": score}
    console.result(result | {"stages": tables.stage_values(staged)})


def _show_pruned(console: Console, model: BudgetModel, arguments: RebudgetArguments) -> None:
    path, forest = model.path, model.predictor.forest
    assert path is not None
    pruning = path[path.n_splits.tolist().index(forest.n_splits)]
    n_features = forest.used_features.size
    console.show(
        f"Average full cost {pruning.cost:.4g}, {forest.n_splits:,} splits on {n_features} features.",
        f"Written: {arguments.out}",
    )
    console.result(
        {
            "out": str(arguments.out),
            "budget": arguments.budget,
            "full_cost": float(pruning.cost),
            "n_splits": forest.n_splits,
        }
    )
