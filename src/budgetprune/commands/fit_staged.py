"""``budgetprune fit --model staged``: train, compare, write and show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from budgetprune.commands import staged as tables
from budgetprune.commands.console import Console
from budgetprune.commands.rows import Question
from budgetprune.model import BudgetModel, Compared
from budgetprune.selection import LabelledRows
from budgetprune.staged import StagedPredictor
from budgetprune.staged.learners import has_lightgbm
from budgetprune.workflow import staging
from budgetprune.workflow.growing import precision_of
from budgetprune.workflow.tables import Categories, learn_categories

# Limit of HistGradientBoosting.
MOST_CATEGORIES = 255


def fit_staged(
    console: Console,
    out: Path,
    question: Question,
    wishes: staging.StagedWishes,
    held_back: tuple[Any, Any] | None,
) -> None:
    """Train a staged model on all rows, write it to a file, and print its tables.

    Parameters
    ----------
    console : Console
    out : the model file
    question : rows, target and prices
    wishes : options of training
    held_back : test rows as a table, and their class numbers or targets; None without test rows
    """
    columns, wanted = question.columns, question.target
    n_features, is_classifier = len(columns.names), wanted.task == "classification"
    categories = learn_categories(
        columns,
        wanted.y,
        is_classifier=is_classifier,
        most=None if has_lightgbm() else MOST_CATEGORIES,
    )
    learner = "LightGBM" if has_lightgbm() else "HistGradientBoosting"
    frame = categories.restrict(columns.frame)
    with console.stage(
        f"training stages with {learner} on {len(wanted.y):,} rows ({wanted.task} of {wanted.name!r}, "
        f"{n_features} columns)",
        bars=True,
    ):
        predictor = staging.train(
            frame,
            wanted.y,
            question.prices.for_features(columns.names),
            wishes,
            is_classifier=is_classifier,
        )
    if staging.is_constant(predictor, frame):
        console.note(
            "with these costs of errors, no column is worth its price: the model buys nothing, and gives one "
            "answer to all rows."
        )
    elif (remark := staging.unspent(predictor, wishes.budget)) is not None:
        console.note(remark)
    compared = None
    if held_back is not None:
        with console.stage(f"comparing with a plain model ({staging.plain_kind()}) on all columns"):
            compared = _compared(question, predictor, categories, wishes, held_back)
    prices = "" if wishes.error_costs is None else f", errors cost {_in_words(wishes.error_costs)}"
    limit = "" if wishes.max_cost is None else f", at most {wishes.max_cost:g} for a row"
    model = staging.keep(
        predictor,
        compared,
        target=wanted.name,
        budget=wishes.budget,
        n_train=len(wanted.y),
        choices=f"stages trained with {learner}{prices}{limit}",
    )
    with console.stage(f"writing {out}"):
        model.save(out)
    _show(console, model, out, has_error_costs=wishes.error_costs is not None)


def _compared(
    question: Question,
    predictor: StagedPredictor,
    categories: Categories,
    wishes: staging.StagedWishes,
    held_back: tuple[Any, Any],
) -> Compared:
    frame, truth = held_back
    y, is_classifier = question.target.y, question.target.task == "classification"
    if is_classifier:
        y = np.unique(y, return_inverse=True)[1]
    dtype = precision_of(staging.plain_kind())
    rows = LabelledRows(categories.encode(question.columns.frame, dtype), y)
    return staging.compare(
        predictor,
        LabelledRows(frame, truth),
        staging.grow_plain(rows, categories.columns, wishes, is_classifier=is_classifier),
        categories.encode(frame, dtype),
        has_error_costs=wishes.error_costs is not None,
    )


def _in_words(error_costs: Any) -> str:
    if not isinstance(error_costs, dict):
        return f"{error_costs:g}"
    return ", ".join(f"{label}: {price:g}" for label, price in error_costs.items())


def _show(console: Console, model: BudgetModel, out: Path, *, has_error_costs: bool) -> None:
    about, predictor = model.about, model.predictor
    assert about is not None
    assert isinstance(predictor, StagedPredictor)
    staged = predictor.model
    console.show(
        tables.curve_table(staged, about.score_name, has_error_costs=has_error_costs),
        tables.stage_table(staged),
    )
    if about.compared is not None:
        console.show(tables.compared_table(model))
    else:
        console.show("Give rows of their own (--test) for a comparison with a plain model on all columns.")
    console.show(
        f"Other budgets need no training: budgetprune rebudget {out} --budget ... --out ...",
        f"Written: {out}",
    )
    told = {"out": str(out), "n_features": predictor.forest.n_features, **about.to_json()}
    console.result(told | {"curve": tables.curve_values(staged), "stages": tables.stage_values(staged)})
