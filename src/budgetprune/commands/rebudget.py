"""``budgetprune rebudget``."""

from __future__ import annotations

from typing import Annotated

import typer

from budgetprune.commands import options
from budgetprune.commands import staged as tables
from budgetprune.commands.console import Console
from budgetprune.errors import InvalidInputError
from budgetprune.model import BudgetModel


def rebudget(
    model: options.ModelFile,
    out: options.Out,
    budget: options.Budget = None,
    force: Annotated[
        bool, typer.Option("--force", help="Allow --out to replace the model file itself.")
    ] = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a staged model for another budget, without training.

    A staged model contains stopping rules for every budget; this command selects the best one within the new
    budget. Test results for the previous budget are dropped.

    Example: budgetprune rebudget ill.budgetprune --budget 5 --out cheaper.budgetprune
    """
    console = Console(quiet=quiet, as_json=as_json, out=out)
    if not force and out.exists() and out.samefile(model):
        raise InvalidInputError(f"--out {out} is the model itself; add --force to replace it.")
    options.check_out(out)
    options.check_amount(budget, "--budget")
    from budgetprune.staged import StagedPredictor
    from budgetprune.workflow.staging import rebudgeted, unspent

    loaded = BudgetModel.load(model)
    try:
        other = rebudgeted(loaded, budget)
    except InvalidInputError as error:
        raise InvalidInputError(f"{model}: {error}") from error
    assert isinstance(other.predictor, StagedPredictor)
    if (remark := unspent(other.predictor, budget)) is not None:
        console.note(remark)
    other.save(out)
    staged = other.predictor.model
    cost, score = (float(values[staged.point]) for values in (staged.trade_off.cost, staged.trade_off.score))
    name = "score" if other.about is None else other.about.score_name
    console.show(
        tables.stage_table(staged),
        f"Average cost {cost:.4g}, {name} {score:.4f}, on rows that had no part in training.",
        f"Written: {out}",
    )
    told = {"out": str(out), "budget": budget, "cost": cost, "score": score}
    console.result(told | {"stages": tables.stage_values(staged)})
