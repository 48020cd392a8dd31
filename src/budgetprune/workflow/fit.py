"""`fit_table`: train the best model within a budget on a table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from budgetprune.costs import ROUNDING
from budgetprune.forest import Forest
from budgetprune.model import BudgetModel
from budgetprune.selection import LabelledRows
from budgetprune.workflow import ensembles
from budgetprune.workflow.column_costs import with_keys
from budgetprune.workflow.error_costs import resolve_error_costs
from budgetprune.workflow.observer import Observer, SilentObserver
from budgetprune.workflow.options import FitOptions, ModelKind, check_arguments, check_fit_options
from budgetprune.workflow.pruned import OtherBudgets, Schema, TrainedEnsemble, best_pruned, build_model
from budgetprune.workflow.scores import Score, resolve_class_weight
from budgetprune.workflow.staged import StagedTraining, fit_staged
from budgetprune.workflow.tables import split_table
from budgetprune.workflow.training_data import HeldOutData, TrainingData, read_test_data, read_training_data

DEFAULT_VALIDATION = 0.3


def fit_table(
    table: Any,
    target: str | None = None,
    costs: Any = None,
    *,
    budget: float | None = None,
    model: ModelKind = "staged",
    test: Any = None,
    options: FitOptions | None = None,
    observer: Observer | None = None,
) -> BudgetModel:
    """Train the best model within a budget on a table.

    The command ``budgetprune fit`` calls this function. Text columns are categorical; each is one feature and
    is paid for once. Values may be missing. A staged model uses all rows, by cross-fitting. For a pruned
    model, part of the rows is held out to measure costs and to select the model.

    Parameters
    ----------
    table : path, DataFrame of pandas or polars, Arrow table, or relation of DuckDB
        Training rows; files are .csv, .tsv, .parquet, .svm (svmlight), .xlsx (Excel) or .duckdb.
    target : str
        Column to predict; for svmlight files, ``label`` by default.
    costs : path, DataFrame, mapping or FeatureCosts, optional
        Price list with the columns ``feature``, ``cost`` and, for shared prices, ``source``, as a file or a
        DataFrame; or the price of each column. By default, every column costs 1.
    budget : float, optional
        Largest average cost of a prediction. Without it, the best model is taken at any cost.
    model : {"staged", "random-forest", "extra-trees", "lightgbm"}
        A staged model acquires columns by stage, stops each row when more are not worth their price, and
        serves every budget. The others are ensembles, pruned to one budget; columns that cost more than the
        budget are left out if the model is better without them.
    test : path or table like `table`, optional
        Held-out test set for the comparison in the model's metadata.
    options : FitOptions, optional
        Further options.
    observer : Observer, optional
        Receives progress messages and notes; silent by default.

    Returns
    -------
    BudgetModel
        Predict with ``model.predictor``; write it to a file with ``model.save``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from budgetprune.workflow import FitOptions, fit_table
    >>> table = load_iris(as_frame=True).frame
    >>> prices = dict.fromkeys(table.columns.drop("target"), 1.0) | {"petal width (cm)": 0.5}
    >>> options = FitOptions(n_trees=5)
    >>> model = fit_table(table, "target", prices, budget=2.0, model="random-forest", options=options)
    >>> model.about.task, model.about.budget
    ('classification', 2.0)
    >>> model.predictor.feature_names[:2]
    ('sepal length (cm)', 'sepal width (cm)')
    """
    options, observer = FitOptions() if options is None else options, observer or SilentObserver()
    check_arguments(target, budget, options, FitOptions)
    check_fit_options(model, options)
    options.check_test(test)
    if model == "lightgbm":
        import lightgbm  # noqa: F401  (fails before any work starts if absent)
    data = read_training_data(table, target, costs, options, observer)
    options.check_classes(data.classes)
    if model == "staged":
        error_costs = resolve_error_costs(options.error_costs, data.target)
        held_out = None if test is None else read_test_data(test, data, options, observer)
        return fit_staged(StagedTraining(data, held_out, budget, error_costs, options), observer)
    options.check_counting(is_classifier=data.is_classifier)
    score = _score_of_numbers(data, options)
    held_out = None if test is None else read_test_data(test, data, options, observer)
    trained = _train_ensembles(model, data, held_out, score, budget, options, observer)
    rows = f"{len(trained[0].validation):,} validation rows"
    with observer.stage(f"pruning, with {rows}", bars=True):
        names = data.columns.names
        others = OtherBudgets(
            lambda larger: _train_ensembles(model, data, held_out, score, larger, options, SilentObserver()),
            tuple(data.costs.resolve(len(names), names).price_alone.tolist()),
        )
        pruned, ensemble = best_pruned(trained, budget, options, verbose=observer.has_bars, others=others)
    if ensemble is trained[0]:
        return build_model(pruned, ensemble, options, observer)
    observer.note(
        f"a forest without the most expensive columns is better within the budget of {budget:g}; it was "
        "pruned."
    )
    return build_model(pruned, ensemble, options, observer, Forest.from_model(trained[0].model))


def _weights_of_numbers(data: TrainingData, options: FitOptions) -> Any:
    """Return the class weights of an ensemble, whose classes are numbers."""
    if data.classes is None:
        return None
    weights = resolve_class_weight(options.class_weight, data.classes)
    return dict(enumerate(weights.values())) if isinstance(weights, dict) else weights


def _score_of_numbers(data: TrainingData, options: FitOptions) -> Score:
    """Return the score of a pruned model, whose classes are numbers, after a check that it suits the rows."""
    y, classes = data.target.y, data.classes
    if classes is not None:
        y, classes = np.searchsorted(classes, y), np.arange(classes.size)
    weights = _weights_of_numbers(data, options)
    score = Score.of(options.scoring, classes, class_weight=weights, has_queries=data.qid is not None)
    score.check(y, data.qid)
    return score


def _train_ensembles(
    kind: str,
    data: TrainingData,
    test: HeldOutData | None,
    score: Score,
    budget: float | None,
    options: FitOptions,
    observer: Observer,
) -> list[TrainedEnsemble]:
    """Hold out validation rows, and train an ensemble on the others.

    If some columns cost more than the budget, a second ensemble is trained without them. When an informative
    column is that expensive, most trees begin with it, and a small budget buys nothing of them.
    """
    spec = ensembles.EnsembleSpec(
        kind,
        n_trees=options.n_trees,
        max_features=1.0 if options.max_features is None else float(options.max_features),
        random_state=options.random_state,
        n_jobs=options.n_jobs,
        class_weight=_weights_of_numbers(data, options),
    )
    share = DEFAULT_VALIDATION if options.validation_fraction is None else options.validation_fraction
    with observer.stage(f"dividing {data.description}"):
        rows = split_table(
            data.columns, data.target, data.qid, share=share, seed=options.random_state, dtype=spec.dtype
        )
    names, categories = data.columns.names, rows.categories
    encoded = (
        None
        if test is None
        else LabelledRows(categories.encode(test.frame, spec.dtype), test.y, qid=test.qid)
    )
    alone = data.costs.resolve(len(names), names).price_alone
    is_within = np.ones(len(names), dtype=np.bool_) if budget is None else alone <= budget * ROUNDING
    trained: list[TrainedEnsemble] = []
    for is_used in (np.ones(len(names), dtype=np.bool_), is_within):
        if trained and (is_used.all() or not is_used.any()):
            break
        which = f", {np.count_nonzero(is_used)} columns within the budget" if trained else ""
        with observer.stage(f"growing {spec.n_estimators} trees ({kind}) on {len(rows.train):,} rows{which}"):
            # No tree splits on a constant column.
            train = replace(rows.train, X=np.where(is_used, rows.train.X, spec.dtype(0)))
            model = ensembles.train_ensemble(
                spec, train, is_classifier=data.is_classifier, categorical=categories.columns
            )
        trained.append(
            TrainedEnsemble(
                model=model,
                kind=kind,
                is_classifier=data.is_classifier,
                train=train,
                validation=rows.validation,
                test=encoded,
                costs=with_keys(data.costs, names, range(len(names))),
                schema=Schema(names, categories.labels if categories.has_any else None, rows.classes),
                target=data.target.name,
                score=score,
            )
        )
    return trained
