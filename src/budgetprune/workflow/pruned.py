"""Pruning of a trained ensemble to a budget: prune, compare, build the model."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator

from budgetprune.costs import FeatureCosts
from budgetprune.errors import BudgetWarning, InvalidInputError
from budgetprune.estimators import BudgetPruneClassifier, BudgetPruneRegressor
from budgetprune.forest import Forest
from budgetprune.model import BudgetModel, Compared, Figures, Quality
from budgetprune.path import PruningPath
from budgetprune.predictor import BudgetPredictor
from budgetprune.preprocessing import PricedPreprocessing
from budgetprune.problem import sources_used
from budgetprune.selection import LabelledRows
from budgetprune.utils.threads import available_cores
from budgetprune.workflow.comparison import WELL_SPENT, figures, rounded_up
from budgetprune.workflow.metadata import new_metadata
from budgetprune.workflow.observer import Observer
from budgetprune.workflow.options import CommonOptions
from budgetprune.workflow.scores import Answers, Score, quality_of

# If a budget buys nothing useful, the most expensive columns are left out so many times, all of one price at
# once: columns that are affordable alone may be too expensive together.
MOST_LEFT_OUT = 3
# If a budget is too small, so many larger ones are tried.
MOST_TRIED = 8

PrunedEstimator = BudgetPruneClassifier | BudgetPruneRegressor

# Number of rows that are simulated to estimate the average decided cost, to about one percent.
ENOUGH_ROWS = 2000


@dataclass(frozen=True, eq=False)
class Schema:
    """Names of features, categories and classes in the user's table.

    Ensembles are trained on numbers. `categories` and `classes` of None keep those of the forest.
    """

    features: tuple[str, ...]
    categories: tuple[tuple[Any, ...] | None, ...] | None = None
    classes: NDArray[Any] | None = None

    def apply(self, forest: Forest) -> Forest:
        """Return the same forest with these names."""
        return replace(
            forest,
            feature_names=self.features,
            categories=forest.categories if self.categories is None else self.categories,
            classes=forest.classes if self.classes is None else self.classes,
        )


@dataclass(frozen=True, eq=False)
class TrainedEnsemble:
    """An ensemble to prune, with the rows, costs and names that pruning needs.

    Attributes
    ----------
    model : fitted model
    kind : str
        ``"random-forest"`` and the like, or the class name of an existing model.
    is_classifier : bool
    train : LabelledRows or None
        Rows that the model was trained on, if they are known.
    validation : LabelledRows
        Rows to measure costs and to select the model.
    test : LabelledRows or None
        Test set for the comparison.
    costs : FeatureCosts
    schema : Schema
    target : str
        Name of the target column.
    score : Score
        Score that chooses the model.
    class_weight : "balanced" or mapping, optional
        Weights of classes that the model was not trained with.
    priced : PricedPreprocessing or None
        Preprocessing before the model; the rows are encoded.
    """

    model: Any
    kind: str
    is_classifier: bool
    train: LabelledRows | None
    validation: LabelledRows
    test: LabelledRows | None
    costs: FeatureCosts
    schema: Schema
    target: str
    score: Score
    class_weight: Any = None
    priced: PricedPreprocessing | None = None


@dataclass(frozen=True, eq=False)
class OtherBudgets:
    """Ensembles for other budgets, and the prices of single columns.

    Attributes
    ----------
    ensembles : function from a budget to the ensembles to prune for it
        The first one is on all columns, the second one, if any, on those within the budget.
    prices : a budget of one of them makes another column affordable
    """

    ensembles: Callable[[float], Sequence[TrainedEnsemble]]
    prices: tuple[float, ...] = ()

    def lower_limits(self, budget: float) -> list[float]:
        """Prices below the most expensive ones within a budget, the largest first."""
        within = sorted({price for price in self.prices if 0 < price <= budget}, reverse=True)
        return within[1 : 1 + MOST_LEFT_OUT]


def prune_ensemble(
    ensemble: TrainedEnsemble, budget: float | None, options: CommonOptions, *, verbose: bool = False
) -> PrunedEstimator:
    """Prune an ensemble for a budget; the result may acquire nothing if the budget is too small.

    Parameters
    ----------
    ensemble : TrainedEnsemble
    budget : limit of the average cost of a prediction
    options : CommonOptions
    verbose : whether to show progress bars
    """
    settings: dict[str, Any] = {
        "costs": ensemble.costs,
        "budget": budget,
        "counting": options.counting,
        "slack": options.slack,
        "scoring": ensemble.score.scorer,
        "random_state": options.random_state,
        "n_jobs": available_cores() if options.n_jobs is None else options.n_jobs,
        "verbose": int(verbose),
    }
    estimator: PrunedEstimator
    if ensemble.is_classifier:
        estimator = BudgetPruneClassifier(
            FrozenEstimator(ensemble.model),
            threshold=options.threshold,
            error_weight=ensemble.class_weight,
            **settings,
        )
    else:
        estimator = BudgetPruneRegressor(
            FrozenEstimator(ensemble.model), tolerance=options.tolerance, **settings
        )
    train, validation = ensemble.train, ensemble.validation
    with warnings.catch_warnings():
        # Here, a budget that is too small is an error, raised once the cheapest useful cost is known.
        warnings.filterwarnings("ignore", "a budget of .* buys nothing", BudgetWarning)
        warnings.filterwarnings("ignore", "this .* was trained to rank", BudgetWarning)  # a note says so
        if train is None:
            estimator.fit(validation.X, validation.y, qid=validation.qid)
        else:
            estimator.fit(
                train.X,
                train.y,
                X_val=validation.X,
                y_val=validation.y,
                qid=train.qid,
                qid_val=validation.qid,
            )
    return estimator


def best_pruned(
    ensembles: Sequence[TrainedEnsemble],
    budget: float | None,
    options: CommonOptions,
    *,
    verbose: bool = False,
    others: OtherBudgets | None = None,
) -> tuple[PrunedEstimator, TrainedEnsemble]:
    """Prune ensembles for a budget; return the result with the best cross-fitted score, and its ensemble.

    If none of them gives a useful model, ensembles without the most expensive columns within the budget are
    tried; raise if they do not, either. `others` has the ensembles for other budgets; None: the same.
    """
    pruned = [prune_ensemble(each, budget, options, verbose=verbose) for each in ensembles]
    useful = [k for k, each in enumerate(pruned) if not _is_useless(each)]
    if not useful and others is not None and budget is not None:
        for limit in others.lower_limits(budget):
            for cheaper in others.ensembles(limit)[1:]:
                estimator = prune_ensemble(cheaper, budget, options, verbose=verbose)
                if not _is_useless(estimator):
                    return estimator, cheaper
    if not useful:
        others = others or OtherBudgets(lambda _: ensembles)
        _refuse(
            pruned,
            others.prices,
            lambda larger: (
                not all(
                    _is_useless(prune_ensemble(each, larger, options)) for each in others.ensembles(larger)
                )
            ),
        )

    def score(k: int) -> float:
        found = _cross_fitted_score(pruned[k])
        return -np.inf if found is None else found

    best = max(useful, key=score)
    return pruned[best], ensembles[best]


def _is_useless(estimator: PrunedEstimator) -> bool:
    """Whether a model acquires nothing that is not free, although some column is useful."""
    path, budget = estimator.path_, estimator.budget
    useful, is_free = path.cheapest_useful, bool(path.n_splits[-1])
    if useful is None:
        return not is_free
    if budget is None or is_free:  # the last point keeps free features, which may be useful
        return False
    is_certain = estimator.counting == "decided" and estimator.cost_ <= 0
    return bool(estimator.lambda_ >= path.lam[useful + 1]) or is_certain


def _refuse(
    pruned: Sequence[PrunedEstimator], prices: Iterable[float], is_enough: Callable[[float], bool]
) -> NoReturn:
    """Raise, and name a larger budget that is enough.

    Settings, and the columns that ensembles are trained on, depend on the budget. So what a useful point of a
    path costs is not always enough as a budget: it is tried.

    Parameters
    ----------
    pruned : results that are all useless
    prices : of single columns
    is_enough : tries a budget
    """
    budget, counting = pruned[0].budget, pruned[0].counting
    paths = [each.path_ for each in pruned if each.path_.cheapest_useful is not None]
    if budget is None or not paths:
        raise _no_column_helps()
    costs = [*prices, *(float(path.cost[0]) for path in paths)]
    costs += [cost for each in pruned for cost in each._useful_costs()]
    amounts = np.unique([float(rounded_up(cost)) for cost in costs if budget < cost < np.inf])
    tried = amounts[np.unique(np.linspace(0, amounts.size - 1, min(amounts.size, MOST_TRIED)).astype(int))]
    needed = next(filter(is_enough, tried.tolist()), None)
    if needed is None:
        raise _no_column_helps()
    raise InvalidInputError(
        f"a budget of {budget:g} buys nothing useful. A budget of {needed:g} does ({counting} cost of a "
        "prediction, on average); give that, or prune an ensemble that was trained without the most "
        "expensive columns."
    )


def _no_column_helps() -> InvalidInputError:
    return InvalidInputError(
        "no column helps to predict the target: on these rows, no split is worth any cost. More rows may "
        "help."
    )


def build_model(
    estimator: PrunedEstimator,
    ensemble: TrainedEnsemble,
    options: CommonOptions,
    observer: Observer,
    whole: Forest | None = None,
) -> BudgetModel:
    """Return the pruned ensemble with its path, its metadata and a comparison with the full ensemble.

    `whole` is the full ensemble, if it is not the one that was pruned.
    """
    if (note := _unused_budget_note(estimator)) is not None:
        observer.note(note)
    with observer.stage("comparing with the full forest"):
        compared = _compare(estimator, ensemble, whole or estimator.path_.forest)
    chosen, schema = estimator.predictor(), ensemble.schema
    priced = ensemble.priced
    predictor = BudgetPredictor(
        schema.apply(chosen.forest),
        chosen.costs if priced is None else priced.raw_costs,
        slack=chosen.slack,
        threshold=chosen.threshold,
        tolerance=chosen.tolerance,
        preprocessing=None if priced is None else priced.preprocessing,
        residuals=chosen.residuals,
    )
    about = new_metadata(
        target=ensemble.target,
        is_classifier=chosen.forest.is_classifier,
        score_name=ensemble.score.name,
        unit=options.unit,
        budget=estimator.budget,
        counting="decided" if estimator.counting == "decided" else "full",
        lam=estimator.lambda_,
        n_train=0 if ensemble.train is None else len(ensemble.train),
        n_validation=len(ensemble.validation),
        choices=_describe_choices(estimator),
        tradeoff=_tradeoff(estimator),
        model=ensemble.kind,
        compared=compared,
    )
    return BudgetModel(predictor, _named_path(estimator.path_, schema), about)


def _unused_budget_note(estimator: PrunedEstimator) -> str | None:
    """Return a note if much of the budget is left because no pruning between is optimal."""
    budget, curve = estimator.budget, estimator.tradeoff_
    if budget is None or estimator.cost_ >= WELL_SPENT * budget or not (curve.cost > budget).any():
        return None
    next_cost = float(curve.cost[curve.cost > budget].min())
    return (
        f"the model costs {estimator.cost_:.4g}, and much of the budget of {budget:g} is left: the next "
        f"point of the path costs {rounded_up(next_cost)}, and no pruning between them is optimal. With "
        "another ensemble, or with more trees, there may be one."
    )


# --- Comparison with the full ensemble ----------------------------------------------------------------------


def _compare(estimator: PrunedEstimator, ensemble: TrainedEnsemble, forest: Forest) -> Compared:
    """Compare the chosen model with the full ensemble, on test rows if there are any.

    Without test rows, the score of the chosen model is cross-fitted: its leaves were refitted on the
    validation rows.
    """
    rows, score = ensemble.validation if ensemble.test is None else ensemble.test, ensemble.score
    chosen = estimator.predictor()
    whole = BudgetPredictor(forest, chosen.costs, threshold=chosen.threshold)
    of_whole = _answers(whole, rows)
    if ensemble.test is None:
        return Compared(
            rows="validation",
            n_rows=len(rows),
            whole=_figures(whole, rows, score(of_whole), None),
            chosen=_figures(chosen, rows, _cross_fitted_score(estimator), None),
        )
    of_chosen, names = _answers(chosen, rows), ensemble.schema.classes
    return Compared(
        rows="test",
        n_rows=len(rows),
        whole=_figures(whole, rows, score(of_whole), quality_of(of_whole, score.classes, names)),
        chosen=_figures(chosen, rows, score(of_chosen), quality_of(of_chosen, score.classes, names)),
    )


def _answers(predictor: BudgetPredictor, rows: LabelledRows) -> Answers:
    """Return predictions with early stopping, if that changes them."""
    # Without slack and tolerance, early stopping does not change predictions.
    is_classifier = predictor.forest.is_classifier
    if predictor.slack > 0 or bool(predictor.tolerance):
        found = predictor.simulate(rows.X)
        return Answers(found.label, found.probabilities, rows.y, rows.qid)
    shares = predictor.predict_proba(rows.X) if is_classifier else None
    return Answers(predictor.predict(rows.X), shares, rows.y, rows.qid)


def _cross_fitted_score(estimator: PrunedEstimator) -> float | None:
    curve = estimator.tradeoff_
    point = estimator.path_.at(lam=estimator.lambda_).cost
    score = float(np.interp(point, curve.full_cost[::-1], curve.score[::-1]))
    return score if np.isfinite(score) else None


def _figures(
    predictor: BudgetPredictor, rows: LabelledRows, score: float | None, quality: Quality | None
) -> Figures:
    sample = rows.X[:: -(-len(rows) // ENOUGH_ROWS)]
    used = sources_used(predictor.forest, predictor.costs, rows.X)
    return figures(
        predictor.forest,
        predictor.costs.total(used),
        score,
        decided_cost=float(np.mean(predictor.simulate(sample).cost)),
        quality=quality,
    )


# --- Parts of the model -------------------------------------------------------------------------------------


def _named_path(path: PruningPath, schema: Schema) -> PruningPath:
    forest = schema.apply(path.forest)
    return replace(path, forest=forest, unpruned=replace(path.unpruned, unpruned=forest))


def _describe_choices(estimator: PrunedEstimator) -> str:
    choices = estimator.choices_
    measured = f"errors {choices.error}" + (f" ({choices.loss})" if choices.loss else "")
    leaves = (
        "leaves as grown"
        if choices.refit is None
        else f"leaves refitted ({choices.refit}, ridge {choices.ridge:g})"
    )
    slack = f", slack {choices.slack:g}" if choices.slack else ""
    return f"{measured}, {leaves}{slack}"


def _tradeoff(estimator: PrunedEstimator) -> dict[str, list[float]] | None:
    curve = estimator.tradeoff_
    if not np.isfinite(curve.score).all():
        return None
    return {name: getattr(curve, name).tolist() for name in ("full_cost", "cost", "score")}
