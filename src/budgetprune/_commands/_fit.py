"""``budgetprune fit``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from budgetprune._commands import _options as options
from budgetprune._commands._options import ModelKind
from budgetprune._commands._talk import Talk

if TYPE_CHECKING:
    from budgetprune._commands._rows import Question
    from budgetprune.estimators._roles import LabelledRows
    from budgetprune.tables import Divided


def fit(
    data: options.Data,
    out: options.Out,
    target: options.TargetName = None,
    costs: options.Costs = None,
    budget: options.Budget = None,
    test: options.Test = None,
    model: options.Model = ModelKind.random_forest,
    trees: options.Trees = None,
    max_features: options.MaxFeatures = 1.0,
    decided: options.Decided = False,
    slack: options.Slack = 0.0,
    tolerance: options.Tolerance = None,
    task: options.Task = None,
    categorical: options.Categorical = None,
    drop: options.Drop = None,
    max_columns: options.MaxColumns = options.MOST_COLUMNS,
    validation: options.Validation = 0.3,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Train an ensemble on a table, and prune it to the best model within a budget.

    Part of the rows is kept from training, to count costs and to choose by. Columns of text are categories;
    each is one feature, and is paid for once. Values may be missing. Give test rows for a comparison that
    nothing was chosen by.

    Example: budgetprune fit patients.csv --target ill --costs costs.csv --budget 10 --out ill.budgetprune
    """
    talk = Talk(quiet=quiet, as_json=as_json, out=out)
    options.check_out(out, data, costs, test)
    options.check_budget(budget)
    if model is ModelKind.lightgbm:
        import lightgbm  # noqa: F401  (if it is absent, that is said before any work starts)
    from budgetprune._commands._finish import finish
    from budgetprune._commands._rows import read_question
    from budgetprune.model import _growing as growing
    from budgetprune.model._making import Naming, Wishes, prune
    from budgetprune.tables import divide_table

    question = read_question(
        talk,
        data,
        target=target,
        costs=costs,
        task=None if task is None else task.value,
        categorical=categorical or (),
        drop=drop or (),
        max_columns=max_columns,
    )
    columns, wanted = question.columns, question.target
    n_features, is_classifier = len(columns.names), wanted.task == "classification"
    wishes = Wishes(
        budget,
        **options.counting(decided, slack, tolerance, is_classifier=is_classifier),
        seed=seed,
        n_jobs=options.cores(jobs),
        verbose=talk.has_bars,
    )
    held_back = None if test is None else _read_test(talk, test, question, max_columns)
    with talk.stage(
        f"dividing {len(wanted.y):,} rows ({wanted.task} of {wanted.name!r}, {n_features} columns)"
    ):
        dtype = growing.precision_of(model.value)
        rows = divide_table(columns, wanted, share=validation, seed=seed, dtype=dtype)
    n_trees = growing.USUAL_TREES[model.value] if trees is None else trees
    with talk.stage(f"growing {n_trees} trees ({model.value}) on {len(rows.train):,} rows"):
        ensemble = growing.grow(
            model.value,
            rows.train.X,
            rows.train.y,
            is_classifier=is_classifier,
            n_trees=n_trees,
            max_features=max_features,
            seed=seed,
            n_jobs=jobs,
            categorical=rows.categories.columns,
        )
    with talk.stage(f"pruning, with {len(rows.validation):,} validation rows", bars=True):
        prices = question.prices.for_features(columns.names, range(n_features))
        pruned = prune(ensemble, rows.train, rows.validation, prices, wishes, is_classifier=is_classifier)
    finish(
        talk,
        out,
        pruned,
        Naming(columns.names, rows.categories.labels if rows.categories.are_any else None, rows.classes),
        rows.validation,
        None if held_back is None else _encoded(held_back, rows, dtype),
        target=wanted.name,
        model=model.value,
        n_train=len(rows.train),
    )


def _read_test(talk: Talk, test: Path, question: Question, max_columns: int) -> tuple[Any, Any]:
    """Test rows with the columns of the others, and their answers."""
    from budgetprune.tables import read_answers, read_table, rows_like

    columns, wanted = question.columns, question.target
    as_text = [name for name, is_text in zip(columns.names, columns.is_categorical, strict=True) if is_text]
    classes = np.unique(wanted.y) if wanted.task == "classification" else None
    with talk.stage(f"reading {test}"):
        table = read_table(test, as_text=[*as_text, wanted.name], max_columns=max_columns)
        return rows_like(columns, table), read_answers(table, wanted.name, classes)


def _encoded(held_back: tuple[Any, Any], rows: Divided, dtype: Any) -> LabelledRows:
    from budgetprune.estimators._roles import LabelledRows

    frame, answers = held_back
    return LabelledRows(rows.categories.encode(frame, dtype), answers)
