"""`prune_model`: prune a fitted model to the best one within a budget."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from budgetprune.costs import FeatureCosts
from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest, is_ranking_model, original_names
from budgetprune.model import BudgetModel
from budgetprune.preprocessing import PricedPreprocessing, split_pipeline
from budgetprune.selection import LabelledRows
from budgetprune.workflow.column_costs import column_costs, with_keys
from budgetprune.workflow.library_files import load_library_file
from budgetprune.workflow.observer import Observer, SilentObserver
from budgetprune.workflow.options import PruneOptions, check_arguments
from budgetprune.workflow.pipelines import TablePreprocessing, first_inputs, match_table
from budgetprune.workflow.pruned import Schema, TrainedEnsemble, best_pruned, build_model
from budgetprune.workflow.scores import Score, resolve_class_weight
from budgetprune.workflow.tables import (
    Table,
    argument,
    check_varied,
    encode_target,
    read_queries,
    read_table_for,
    rows_for,
    setting,
    table_name,
    target_name,
)


def prune_model(
    model: Any,
    table: Any,
    target: str | None = None,
    costs: Any = None,
    *,
    budget: float | None = None,
    test: Any = None,
    options: PruneOptions | None = None,
    observer: Observer | None = None,
) -> BudgetModel:
    """Prune a fitted model to the best one within a budget.

    The command ``budgetprune prune`` calls this function. Columns are matched to the training columns by
    name, or by position if the model has no feature names.

    Parameters
    ----------
    model : fitted model or path
        Model of scikit-learn, LightGBM or XGBoost, or a file that such a library wrote. It may be a Pipeline
        that ends with such a model; costs are then those of raw columns.
    table : path, DataFrame of pandas or polars, Arrow table, or relation of DuckDB
        Rows to measure costs and to select the pruning. They should not be the model's training rows.
    target : str
        Column to predict; for svmlight files, ``label`` by default.
    costs, budget, test, observer
        See `fit_table`.
    options : PruneOptions, optional
        Further options.

    Returns
    -------
    BudgetModel

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from budgetprune.workflow import prune_model
    >>> table = load_iris(as_frame=True).frame.sample(frac=1, random_state=0)
    >>> X, y = table.drop(columns="target"), table["target"]
    >>> forest = RandomForestClassifier(5, random_state=0).fit(X[:75], y[:75])
    >>> pruned = prune_model(forest, table[75:], "target", budget=1.5)
    >>> pruned.about.model, pruned.about.n_validation
    ('RandomForestClassifier', 75)
    """
    options, observer = PruneOptions() if options is None else options, observer or SilentObserver()
    check_arguments(target, budget, options, PruneOptions)
    if isinstance(model, str | os.PathLike):
        with observer.stage(f"loading {model}"):
            transformer, model = split_pipeline(load_library_file(Path(model), trust=options.trust))
            forest = Forest.from_model(model)
    else:
        transformer, model = split_pipeline(model)
        forest = Forest.from_model(model)
    inputs = forest if transformer is None else first_inputs(transformer, forest, options.needs)
    options.check_counting(is_classifier=forest.is_classifier)
    options.check_test(test)
    options.check_classes(forest.classes)
    if options.qid is None and options.scoring is None and is_ranking_model(model):
        observer.note(
            "this is a ranking model. Its scores order the rows of a query, so R² says nothing about it, nor "
            f"about the pruned one. For NDCG, name the column of queries: {setting('qid', 'COLUMN')}."
        )
    with observer.stage(f"reading {table_name(table)}"):
        opened = read_table_for(
            inputs, table, target, options.qid, max_columns=options.max_columns, sheet=options.sheet
        )
        opened.check_columns(options.drop, argument("drop"))
        name = target_name(opened, target)
        queries = read_queries(opened, options.qid)
    left_out = (*options.drop, *(() if options.qid is None else (options.qid,)))
    matched = None
    if transformer is None:
        named = _with_column_names(forest, opened, name, left_out)
        names = named.names
        named = named.with_categories_of(opened.frame.reindex(columns=list(names)))
    else:
        matched = match_table(transformer, forest, options.needs, opened, without=(name, *left_out))
        names = matched.preprocessing.raw_names
        named = replace(forest, feature_names=matched.preprocessing.feature_names)
    prices = column_costs(costs, names, target=name, dropped=left_out, others=tuple(opened.frame.columns))
    check_varied(opened, name)
    with observer.stage("checking its rows"):
        validation = _labelled_rows(named, opened, name, matched, all_known=True).with_queries(queries)
        classes = forest.classes
        weights = None if classes is None else resolve_class_weight(options.class_weight, classes)
        score = Score.of(options.scoring, classes, class_weight=weights, has_queries=options.qid is not None)
        score.check(validation.y, validation.qid)
    held_out = None
    if test is not None:
        with observer.stage(f"reading {table_name(test, 'the test table')}"):
            others = read_table_for(
                named if matched is None else matched.inputs,
                test,
                name,
                options.qid,
                max_columns=options.max_columns,
                sheet=options.test_sheet,
                sheet_option="test_sheet",
            )
            other_queries = read_queries(others, options.qid)
            held_out = _labelled_rows(named, others, name, matched, all_known=False)
            held_out = held_out.with_queries(other_queries)
    keys = forest.feature_names or range(forest.n_features)
    priced = None if matched is None else PricedPreprocessing.of(matched.preprocessing, prices)
    ensemble = TrainedEnsemble(
        model=model,
        kind=type(model).__name__,
        is_classifier=forest.is_classifier,
        train=None,
        validation=validation,
        test=held_out,
        costs=with_keys(prices, names, keys)
        if priced is None
        else FeatureCosts.from_table(priced.costs, keys),
        schema=Schema(named.names, named.categories),
        target=name,
        score=score,
        class_weight=weights,
        priced=priced,
    )
    with observer.stage(f"pruning {forest.n_trees} trees, with {len(validation):,} rows", bars=True):
        pruned, _ = best_pruned([ensemble], budget, options, verbose=observer.has_bars)
    return build_model(pruned, ensemble, options, observer)


def _with_column_names(forest: Forest, table: Table, target: str, drop: Sequence[str]) -> Forest:
    """Return the forest with the column names of a table."""
    columns = [name for name in table.frame.columns if name != target and name not in drop]
    if forest.feature_names is None:
        if len(columns) != forest.n_features:
            raise InvalidInputError(
                f"the model has {forest.n_features} features and no names for them, but {table.file} has "
                f"{len(columns)} columns beside the target; give it the columns of training, in their order."
            )
        return replace(forest, feature_names=tuple(columns))
    return replace(forest, feature_names=original_names(forest.feature_names, columns))


def _labelled_rows(
    forest: Forest, table: Table, target: str, matched: TablePreprocessing | None, *, all_known: bool
) -> LabelledRows:
    """Return encoded rows, and targets as labels of the model.

    An unknown label becomes None, or raises if `all_known`.
    """
    answers = encode_target(table, target, forest.classes)
    if forest.classes is not None:
        is_unknown = answers < 0
        if all_known and is_unknown.any():
            raise InvalidInputError(
                f"the target {target!r} has a label that the model does not know in "
                f"{table.places(np.flatnonzero(is_unknown).tolist())}; leave such rows out."
            )
        answers = forest.classes[answers]
        if is_unknown.any():
            answers = answers.astype(object)
            answers[is_unknown] = None
    rows = rows_for(forest, table) if matched is None else matched.encode(table)
    return LabelledRows(forest.prepare_rows(rows, f"{table.file}"), answers)
