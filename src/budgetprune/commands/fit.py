"""``budgetprune fit``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from budgetprune.commands import options
from budgetprune.commands.console import Console
from budgetprune.commands.options import ModelKind

if TYPE_CHECKING:
    from budgetprune.commands.rows import Question
    from budgetprune.selection import LabelledRows
    from budgetprune.workflow.making import Wishes
    from budgetprune.workflow.tables import Divided


def fit(
    data: options.Data,
    out: options.Out,
    target: options.TargetName = None,
    costs: options.Costs = None,
    budget: options.Budget = None,
    error_cost: options.ErrorCost = None,
    max_cost: options.MaxCost = None,
    test: options.Test = None,
    model: options.Model = ModelKind.staged,
    time_limit: options.TimeLimit = None,
    trees: options.Trees = None,
    max_features: options.MaxFeatures = None,
    decided: options.Decided = False,
    slack: options.Slack = 0.0,
    tolerance: options.Tolerance = None,
    validation: options.Validation = None,
    task: options.Task = None,
    categorical: options.Categorical = None,
    drop: options.Drop = None,
    max_columns: options.MaxColumns = options.MOST_COLUMNS,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Train the best model within a budget on a table.

    Text columns are categorical; each is one feature and is paid for once. Values may be missing. A staged
    model uses all rows, by cross-fitting. For a pruned model, part of the rows is held out to measure costs
    and to select the model. Give test rows for an unbiased comparison.

    Example: budgetprune fit patients.csv --target ill --costs costs.csv --budget 10 --out ill.budgetprune
    """
    console = Console(quiet=quiet, as_json=as_json, out=out)
    options.check_out(out, data, costs, test)
    options.check_amount(budget, "--budget")
    options.check_amount(max_cost, "--max-cost")
    options.check_amount(time_limit, "--time-limit")
    for_staged = {"--error-cost": error_cost, "--max-cost": max_cost, "--time-limit": time_limit}
    for_pruned = {
        "--trees": trees,
        "--max-features": max_features,
        "--decided": decided,
        "--slack": slack,
        "--tolerance": tolerance,
        "--validation": validation,
    }
    options.refuse_unused(model, for_pruned if model is ModelKind.staged else for_staged)
    if model is ModelKind.lightgbm:
        import lightgbm  # noqa: F401  (fails before any work starts if absent)
    from budgetprune.commands.rows import read_question

    question = read_question(
        console,
        data,
        target=target,
        costs=costs,
        task=None if task is None else task.value,
        categorical=categorical or (),
        drop=drop or (),
        max_columns=max_columns,
    )
    if model is ModelKind.staged:
        from budgetprune.commands.error_costs import error_costs
        from budgetprune.commands.fit_staged import fit_staged
        from budgetprune.workflow.staging import StagedWishes

        staged = StagedWishes(
            budget,
            error_costs=error_costs(error_cost, question.target),
            max_cost=max_cost,
            time_limit=time_limit,
            seed=seed,
            n_jobs=jobs,
            verbose=console.has_bars,
        )
        held_back = None if test is None else _read_test(console, test, question, max_columns)
        fit_staged(console, out, question, staged, held_back)
        return
    from budgetprune.workflow.making import Wishes

    is_classifier = question.target.task == "classification"
    wishes = Wishes(
        budget,
        **options.counting(decided, slack, tolerance, is_classifier=is_classifier),
        seed=seed,
        n_jobs=options.cores(jobs),
        verbose=console.has_bars,
    )
    held_back = None if test is None else _read_test(console, test, question, max_columns)
    growth = Growth(model.value, trees, 1.0 if max_features is None else max_features, jobs)
    share = 0.3 if validation is None else validation
    _fit_pruned(console, out, question, wishes, growth, held_back, share=share)


@dataclass(frozen=True)
class Growth:
    """Parameters of the ensemble to prune; see `budgetprune.workflow.growing.grow`."""

    kind: str
    n_trees: int | None
    max_features: float
    n_jobs: int | None


def _fit_pruned(
    console: Console,
    out: Path,
    question: Question,
    wishes: Wishes,
    growth: Growth,
    held_back: tuple[Any, Any] | None,
    *,
    share: float,
) -> None:
    """Grow an ensemble and prune it."""
    from budgetprune.commands.finish import finish
    from budgetprune.workflow import growing
    from budgetprune.workflow.making import Naming, prune
    from budgetprune.workflow.tables import divide_table

    columns, wanted = question.columns, question.target
    n_features, is_classifier = len(columns.names), wanted.task == "classification"
    with console.stage(
        f"dividing {len(wanted.y):,} rows ({wanted.task} of {wanted.name!r}, {n_features} columns)"
    ):
        dtype = growing.precision_of(growth.kind)
        rows = divide_table(columns, wanted, share=share, seed=wishes.seed, dtype=dtype)
    n_trees = growing.USUAL_TREES[growth.kind] if growth.n_trees is None else growth.n_trees
    with console.stage(f"growing {n_trees} trees ({growth.kind}) on {len(rows.train):,} rows"):
        ensemble = growing.grow(
            growth.kind,
            rows.train.X,
            rows.train.y,
            is_classifier=is_classifier,
            n_trees=n_trees,
            max_features=growth.max_features,
            seed=wishes.seed,
            n_jobs=growth.n_jobs,
            categorical=rows.categories.columns,
        )
    with console.stage(f"pruning, with {len(rows.validation):,} validation rows", bars=True):
        prices = question.prices.for_features(columns.names, range(n_features))
        pruned = prune(ensemble, rows.train, rows.validation, prices, wishes, is_classifier=is_classifier)
    finish(
        console,
        out,
        pruned,
        Naming(columns.names, rows.categories.labels if rows.categories.are_any else None, rows.classes),
        rows.validation,
        None if held_back is None else _encoded(held_back, rows, dtype),
        target=wanted.name,
        model=growth.kind,
        n_train=len(rows.train),
    )


def _read_test(console: Console, test: Path, question: Question, max_columns: int) -> tuple[Any, Any]:
    """Read test rows with the training columns, and their targets."""
    from budgetprune.workflow.tables import read_answers, read_table, rows_like

    columns, wanted = question.columns, question.target
    as_text = [name for name, is_text in zip(columns.names, columns.is_categorical, strict=True) if is_text]
    classes = np.unique(wanted.y) if wanted.task == "classification" else None
    with console.stage(f"reading {test}"):
        table = read_table(test, as_text=[*as_text, wanted.name], max_columns=max_columns)
        return rows_like(columns, table), read_answers(table, wanted.name, classes)


def _encoded(held_back: tuple[Any, Any], rows: Divided, dtype: Any) -> LabelledRows:
    from budgetprune.selection import LabelledRows

    frame, answers = held_back
    return LabelledRows(rows.categories.encode(frame, dtype), answers)
