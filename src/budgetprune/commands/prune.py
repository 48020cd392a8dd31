"""``budgetprune prune``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from budgetprune.commands import options
from budgetprune.commands.console import Console
from budgetprune.errors import InvalidInputError

if TYPE_CHECKING:
    from budgetprune.forest import Forest
    from budgetprune.selection import LabelledRows
    from budgetprune.workflow.tables import Table


def prune(
    model: Annotated[
        Path,
        typer.Argument(
            exists=True,
            dir_okay=False,
            metavar="MODEL",
            show_default=False,
            help="A fitted model: .skops, .joblib or .pkl (scikit-learn), .txt (LightGBM), .json or .ubj "
            "(XGBoost).",
        ),
    ],
    data: options.DataOption,
    out: options.Out,
    target: options.TargetName = None,
    costs: options.Costs = None,
    budget: options.Budget = None,
    test: options.Test = None,
    trust: Annotated[
        bool,
        typer.Option(
            "--trust",
            help="Load .joblib and .pkl files. Loading a pickle can run arbitrary code with your "
            "permissions, so use this only for files whose author you trust; .skops files do not need it. "
            "Other files are loaded without the check in a process with limited time and memory.",
        ),
    ] = False,
    decided: options.Decided = False,
    slack: options.Slack = 0.0,
    tolerance: options.Tolerance = None,
    drop: options.Drop = None,
    max_columns: options.MaxColumns = options.MOST_COLUMNS,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Prune a fitted model to the best one within a budget.

    The rows of --data measure costs and select the model, so they should not be its training rows. Columns
    are matched to the training columns by name, or by position if the model has no feature names.

    Example: budgetprune prune forest.skops --data held_out.csv --target ill --costs costs.csv --budget 10
    --out ill.budgetprune
    """
    console = Console(quiet=quiet, as_json=as_json, out=out)
    options.check_out(out, model, data, costs, test)
    options.check_amount(budget, "--budget")
    from budgetprune.commands.finish import finish
    from budgetprune.commands.rows import read_prices, target_name
    from budgetprune.forest import Forest
    from budgetprune.workflow import making
    from budgetprune.workflow.library_files import load_library_file
    from budgetprune.workflow.tables import check_varied, names_of, read_table_for

    with console.stage(f"loading {model}"):
        ensemble = load_library_file(model, trust=trust)
        forest = Forest.from_model(ensemble)
    wishes = making.Wishes(
        budget,
        **options.counting(decided, slack, tolerance, is_classifier=forest.is_classifier),
        seed=seed,
        n_jobs=options.cores(jobs),
        verbose=console.has_bars,
    )
    with console.stage(f"reading {data}"):
        table = read_table_for(forest, data, target, max_columns=max_columns)
        table.check_columns(drop or (), "--drop")
        name = target_name(data, table, target)
    named = _named(forest, table, name, drop or ())
    prices = read_prices(costs, names_of(named), name, drop or ())
    check_varied(table, name)
    with console.stage("looking at its rows"):
        rows = _rows(named, table, name, all_known=True)
    held_back = None
    if test is not None:
        with console.stage(f"reading {test}"):
            others = read_table_for(named, test, name, max_columns=max_columns)
            held_back = _rows(named, others, name, all_known=False)
    with console.stage(f"pruning {forest.n_trees} trees, with {len(rows):,} rows", bars=True):
        keys = forest.feature_names or range(forest.n_features)
        own = prices.for_features(names_of(named), keys)
        pruned = making.prune(ensemble, None, rows, own, wishes, is_classifier=forest.is_classifier)
    finish(
        console,
        out,
        pruned,
        making.Naming(names_of(named)),
        rows,
        held_back,
        target=name,
        model=type(ensemble).__name__,
        n_train=0,
    )


def _named(forest: Forest, table: Table, target: str, drop: Sequence[str]) -> Forest:
    """Return the forest with the column names of a table."""
    from budgetprune.forest.names import original_names

    columns = [name for name in table.frame.columns if name != target and name not in drop]
    if forest.feature_names is None:
        if len(columns) != forest.n_features:
            raise InvalidInputError(
                f"the model has {forest.n_features} features and no names for them, but {table.file} has "
                f"{len(columns)} columns beside the target; give it the columns of training, in their order."
            )
        return replace(forest, feature_names=tuple(columns))
    return replace(forest, feature_names=original_names(forest.feature_names, columns))


def _rows(forest: Forest, table: Table, target: str, *, all_known: bool) -> LabelledRows:
    """Return encoded rows, and targets as labels of the model.

    An unknown label becomes None, or raises if `all_known`.
    """
    from budgetprune.selection import LabelledRows
    from budgetprune.workflow.tables import read_answers, rows_for

    answers = read_answers(table, target, forest.classes)
    if forest.classes is not None:
        is_unknown = answers < 0
        if all_known and is_unknown.any():
            raise InvalidInputError(
                f"the target {target!r} has a label that the model does not know in "
                f"{table.place(int(np.argmax(is_unknown)))}; leave such rows out."
            )
        answers = forest.classes[answers]
        if is_unknown.any():
            answers = answers.astype(object)
            answers[is_unknown] = None
    return LabelledRows(forest.prepare_rows(rows_for(forest, table), f"{table.file}"), answers)
