"""Staged models written by hand, and test rows for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from budgetprune import StagedPredictor
from budgetprune.model import BudgetModel
from budgetprune.staged.model.chain import Chain
from budgetprune.staged.model.objective import SquaredErrorObjective
from budgetprune.staged.model.staged_model import StagedModel
from budgetprune.workflow.staged import build_model

from ..golden.staged_models import CATEGORIES, NAMES, staged, staged_binary, staged_regression

INF = np.inf


@dataclass(frozen=True)
class StagedCase:
    """A staged model, and test rows."""

    model: BudgetModel
    X: Any
    y: Any

    @property
    def predictor(self) -> StagedPredictor:
        return self.model.predictor

    @property
    def staged(self) -> StagedModel:
        return self.predictor.model


def three_classes() -> StagedCase:
    """Two chains, categories, missing values, a shared source, error costs, a limit for each row."""
    return _case(staged(), patients(), "diagnosis", budget=5.0)


def two_classes() -> StagedCase:
    """Errors of one price, no names, a stage that costs nothing."""
    predictor = staged_binary()
    answer = predictor.model.answer
    curve = replace(
        predictor.model.trade_off,
        thresholds=(np.full(4, INF), np.array([0.31, INF, INF, INF]), np.array([0.3, 0.12, 0.2, INF])),
    )
    model = replace(predictor.model, objective=answer, trade_off=curve)
    return _case(StagedPredictor(model), _plain_rows(), "ill", budget=1.6)


def log_loss() -> StagedCase:
    """The same, but stopping by the entropy."""
    return _case(staged_binary(), _plain_rows(), "ill", budget=None)


def numbers() -> StagedCase:
    """Targets, and squared errors without a price."""
    predictor = staged_regression()
    curve = predictor.model.trade_off
    thresholds = tuple(each / 2.5 for each in curve.thresholds)
    model = replace(
        predictor.model,
        objective=SquaredErrorObjective(1.0),
        trade_off=replace(curve, thresholds=thresholds),
        point=2,
    )
    return _case(StagedPredictor(model), patients(), "stay", budget=8.0)


def priced_numbers() -> StagedCase:
    """Targets, and a price of the squared error."""
    return _case(staged_regression(), patients(), "stay", budget=1.0)


def hostile(text: str) -> StagedCase:
    """Names of features, sources, classes and the target that try to be markup."""
    found = three_classes()
    names = tuple(text if name == "town" else name for name in NAMES)
    classes = np.array([text, "unsure", "<img src=x>"])
    model = found.staged

    def renamed(chain: Chain) -> Chain:
        stages = tuple(
            replace(stage, forest=replace(stage.forest, feature_names=names, classes=classes))
            for stage in chain.stages
        )
        return replace(chain, stages=stages)

    sources = tuple(text if name == "town" else name for name in model.costs.source_names)
    changed = replace(
        model,
        chains=tuple(map(renamed, model.chains)),
        classes=classes,
        costs=replace(model.costs, source_names=sources),
    )
    predictor = StagedPredictor(changed, max_cost=found.predictor.max_cost)
    about = replace(found.model.about, target=text, choices=text)
    y = classes[np.searchsorted(model.classes, found.y)]
    return StagedCase(BudgetModel(predictor, None, about), found.X.set_axis(list(names), axis=1), y)


def patients(n_rows: int = 240, seed: int = 0) -> pd.DataFrame:
    """Rows for the models of the golden files, with missing values."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(42, 12, n_rows).round(1),
            "TSH": rng.normal(2, 2, n_rows).round(2),
            "T3": rng.normal(2, 12, n_rows).round(2),
            "Größe": rng.normal(0.8, 0.8, n_rows).round(2),
            "town": rng.choice([town for town in CATEGORIES[4][:8] if town], n_rows),
        }
    )
    return frame.mask(rng.random(frame.shape) < 0.05)


def _plain_rows() -> np.ndarray:
    return np.random.default_rng(1).normal(1, 2, (200, 3)).round(2)


def _case(predictor: StagedPredictor, X: Any, target: str, budget: float | None) -> StagedCase:
    """Use the answers of the last stage as targets, with some noise."""
    rng = np.random.default_rng(2)
    y = predictor.predict(X)
    if predictor.model.classes is None:
        y = (y + rng.normal(0, 0.5, len(y))).round(3)
    else:
        is_other = rng.random(len(y)) < 0.15
        y = np.where(is_other, rng.choice(predictor.model.classes, len(y)), y)
    return StagedCase(build_model(predictor, target=target, budget=budget, n_train=500, choices="x"), X, y)


def predictors_of(found: StagedCase) -> Iterator[StagedPredictor]:
    """One predictor for each point of the curve; short curves are shown as a whole."""
    for point in range(len(found.staged.trade_off)):
        yield StagedPredictor(found.staged.at(point), max_cost=found.predictor.max_cost)


def score_of(found: StagedCase, answer: np.ndarray, rows: Any) -> float:
    """Score of some rows; R² with the variance of all."""
    y = found.y
    if found.staged.classes is not None:
        return float(np.mean(answer[rows] == y[rows]))
    return float(1 - np.mean((answer[rows] - y[rows]) ** 2) / y.var())


STAGED_CASES = {
    "three classes": three_classes,
    "two classes": two_classes,
    "log loss": log_loss,
    "numbers": numbers,
    "priced numbers": priced_numbers,
}
