"""Small models with their paths, test rows for them, and their summaries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor

from budgetprune import BudgetPredictor, FeatureCosts, Forest, PruningProblem
from budgetprune.demo import MINUTES
from budgetprune.model import About, BudgetModel
from budgetprune.refit import refit
from budgetprune.report import StagedSummary, Summary, summarise
from budgetprune.report.summary.pruned import OperatingPoint
from budgetprune.workflow import rebudget_model

from .staged_cases import STAGED_CASES
from .staged_cases import hostile as staged_hostile

# A name that is markup unless it is escaped.
HOSTILE = "</script><b onclick=alert(1)>&amp;\u2028 {{ 7 * 7 }}"


@dataclass(frozen=True)
class Case:
    """A model, and test rows."""

    model: BudgetModel
    X: pd.DataFrame
    y: Any

    @property
    def predictor(self) -> BudgetPredictor:
        return self.model.predictor


# Cases whose pages compare them with another model, and its name.
COMPARED, OTHER = ("biopsy", "two classes"), "other.budgetprune"

PRUNED_NAMES = ("cancer", "wine", "diabetes", "boosted")


@cache
def case(name: str) -> Case:
    return CASES[name]()


@cache
def other_model(name: str) -> Case:
    """A model to compare a case with: its own at another budget."""
    found = case(name)
    budget = None if found.model.path is None else found.model.path.cost[1]
    return replace(found, model=rebudget_model(found.model, budget))


@cache
def summary_of(name: str) -> Summary | StagedSummary:
    """Summary of a case with the default options."""
    found = case(name)
    return summarise(found.model, found.X, found.y)


def predictor_of(name: str, point: OperatingPoint) -> BudgetPredictor:
    """The predictor of a point, made anew."""
    found = case(name)
    if point.kind == "delivered":
        return found.predictor
    path = found.model.path
    forest = path.forest if point.kind == "unpruned" else path.at(lam=point.lam).forest
    return BudgetPredictor(forest, found.predictor.costs)


def models_of(name: str, summary: Summary) -> Iterator[tuple[OperatingPoint, BudgetPredictor]]:
    """Points of a summary with their predictors."""
    return ((point, predictor_of(name, point)) for point in summary.points)


def _cancer() -> Case:
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, np.array(["malignant", "benign"])[data.target]
    needs = {column: next(source for source in MINUTES if source in column) for column in X}
    ensemble = RandomForestClassifier(12, random_state=0)
    return _case(ensemble, X, y, FeatureCosts.from_sources(MINUTES, needs), budget=6.0, target="diagnosis")


def _biopsy() -> Case:
    """Measurements with a price of their own, after a biopsy that all of them share; one comes with it."""
    data = load_breast_cancer(as_frame=True)
    X, y = data.data.iloc[:, :10], np.array(["malignant", "benign"])[data.target]
    own = {column: 0.51 + 20.17 * (k % 2) for k, column in enumerate(X.columns[1:])}
    needs = {column: ("biopsy", column) for column in own} | {X.columns[0]: ("biopsy",)}
    costs = FeatureCosts.from_sources({"biopsy": 2.1, **own}, needs)
    ensemble = RandomForestClassifier(10, max_depth=4, random_state=0)
    return _case(ensemble, X, y, costs, budget=30.0, target="diagnosis")


def wine(unit: float = 1.0) -> Case:
    """Prices in any unit."""
    data = load_wine(as_frame=True)
    y = np.array(["Barolo", "Grignolino", "Barbera"])[data.target]
    costs = FeatureCosts({column: unit * (1 + k % 3) for k, column in enumerate(data.data)})
    return _case(
        RandomForestClassifier(8, random_state=0), data.data, y, costs, budget=5.0 * unit, target="cultivar"
    )


def _diabetes() -> Case:
    data = load_diabetes(as_frame=True, scaled=False)
    prices = dict.fromkeys(data.data, 5.0) | {"age": 0.0, "sex": 0.0, "bmi": 2.0, "bp": 2.0}
    ensemble = RandomForestRegressor(8, min_samples_leaf=8, random_state=0)
    y = data.target.to_numpy()
    return _case(ensemble, data.data, y, FeatureCosts(prices), budget=12.0, target="progression")


def _boosted() -> Case:
    X, y = make_classification(600, 8, n_informative=5, n_classes=3, random_state=0)
    X = pd.DataFrame(X, columns=[f"f{k}" for k in range(8)])
    ensemble = HistGradientBoostingClassifier(max_iter=4, max_leaf_nodes=6, random_state=0)
    return _case(ensemble, X, y, None, budget=4.0, target="kind", about=False)


def _categories() -> Case:
    """A column of categories, numbered within, and values that are missing."""
    rng = np.random.default_rng(1)
    n_rows = 400
    colour = rng.choice(["red", "green", "blue", "black"], n_rows)
    size, weight = rng.normal(size=n_rows), rng.normal(size=n_rows)
    y = np.where((colour == "blue") | (size > 0.8), "keep", "sell")
    size[rng.random(n_rows) < 0.1] = np.nan
    known = ("black", "blue", "green", "red")
    numbers = pd.DataFrame({"colour": np.searchsorted(known, colour), "size": size, "weight": weight})
    found = _case(
        RandomForestClassifier(6, random_state=0),
        numbers.astype(float),
        y,
        FeatureCosts({"colour": 1.0, "size": 2.0, "weight": 4.0}),
        budget=3.0,
        target="verdict",
    )
    forests = [found.model.path.forest, found.predictor.forest]
    whole, pruned = (replace(forest, categories=(known, None, None)) for forest in forests)
    path = found.model.path
    path = replace(path, forest=whole, unpruned=replace(path.unpruned, unpruned=whole))
    X = found.X.assign(colour=np.array(known)[found.X["colour"].astype(int)])
    return Case(
        BudgetModel(BudgetPredictor(pruned, found.predictor.costs), path, found.model.about), X, found.y
    )


def _hostile() -> Case:
    """Names of features, classes and the target that try to be markup."""
    found = wine()
    old = found.X.columns[0]
    names = tuple(HOSTILE if name == old else name for name in found.X.columns)
    classes = np.array(["Barbera", HOSTILE, "<img src=x>"])
    forests = [found.model.path.forest, found.predictor.forest]
    whole, pruned = (replace(forest, feature_names=names, classes=classes) for forest in forests)
    path = found.model.path
    unpruned = replace(path.unpruned, unpruned=whole)
    sources = tuple(HOSTILE if name == old else name for name in path.source_names)
    path = replace(path, forest=whole, unpruned=unpruned, source_names=sources)
    costs = replace(found.predictor.costs, source_names=sources)
    about = replace(found.model.about, target=HOSTILE, choices=HOSTILE)
    y = classes[np.searchsorted(np.unique(found.y), found.y)]
    X = found.X.set_axis(list(names), axis=1)
    return Case(BudgetModel(BudgetPredictor(pruned, costs), path, about), X, y)


def _wide() -> Case:
    """Many labels and many features, all with long names that cannot be broken."""
    X, y = make_classification(1500, 40, n_informative=20, n_classes=12, random_state=0)
    X = pd.DataFrame(X, columns=[f"measurement_of_something_without_any_spaces_{k}" for k in range(40)])
    labels = np.array([f"Label_that_is_far_too_long_{k}" for k in range(12)])[y]
    ensemble = RandomForestClassifier(6, max_depth=6, random_state=0)
    return _case(ensemble, X, labels, None, budget=22.0, target="a_target_with_a_very_long_name_" * 3)


def _case(
    ensemble: Any, X: pd.DataFrame, y: Any, costs: Any, *, budget: float, target: str, about: bool = True
) -> Case:
    """Train on half of the rows, count costs on a quarter, test on a quarter."""
    order = np.random.default_rng(0).permutation(len(y))
    train, val, test = np.split(order, [len(y) // 2, 3 * len(y) // 4])
    ensemble.fit(X.iloc[train], y[train])
    path = PruningProblem(Forest.from_model(ensemble), X.iloc[val], costs=costs).path()
    pruning = path.at(budget=budget)
    forest = pruning.forest
    if not forest.is_boosted:
        forest = refit(forest, X.iloc[train], y[train], kind="squared", ridge=1.0).forest
    predictor = BudgetPredictor(forest, costs)
    score = np.linspace(0.95, 0.6, len(path))
    about_model = About(
        target=target,
        task="classification" if forest.is_classifier else "regression",
        score_name="accuracy" if forest.is_classifier else "R²",
        budget=budget,
        counting="decided" if target == "diagnosis" else "full",
        lam=float(pruning.lam),
        n_train=train.size,
        n_validation=val.size,
        created="2026-01-31",
        versions={"scikit-learn": "1.8"},
        choices="errors in-bag",
        tradeoff={
            "full_cost": path.cost.tolist(),
            "cost": (0.7 * path.cost).tolist(),
            "score": score.tolist(),
        },
    )
    return Case(BudgetModel(predictor, path, about_model if about else None), X.iloc[test], y[test])


CASES = {
    "cancer": _cancer,
    "biopsy": _biopsy,
    "wine": wine,
    "diabetes": _diabetes,
    "boosted": _boosted,
    "categories": _categories,
    "hostile": _hostile,
    "wide": _wide,
    **STAGED_CASES,
    "staged, hostile": lambda: staged_hostile(HOSTILE),
}
