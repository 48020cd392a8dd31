"""`StagedPredictor`: prediction with a staged model that acquires its sources step by step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.persistence import StoredSections
from budgetprune.predictor import (
    NO_RESIDUALS,
    RESIDUALS,
    BudgetPredictor,
    Restorer,
    Simulation,
    check_max_cost,
)
from budgetprune.preprocessing import PricedPreprocessing
from budgetprune.staged.model.staged_model import StagedModel
from budgetprune.staged.prediction.engine import StagedEngine
from budgetprune.staged.section import NAME, trees_of


class StagedPredictor(BudgetPredictor):
    """Predict stage by stage, and stop when the next stage is not expected to be worth its price.

    It has the methods of `BudgetPredictor`. The reason of a `Decision` is ``"stopped"`` if the expected
    saving from the next stage is less than its price, and ``"complete"`` after the last stage. A staged model
    has no bounds of the prediction from all features, so `lower` and `upper` are trivial: 0 and 1, or
    infinite.

    Parameters
    ----------
    model : StagedModel
        Attribute `model_` of a fitted `BudgetClassifier` or `BudgetRegressor`; their method `predictor()`
        returns a predictor.
    max_cost : float, optional
        Limit of the cost of each example.
    threshold : float, optional
        Two classes only: predict the second if its probability is at least this. Rows stop at the same
        stages. None: the rule of the model.
    preprocessing : PricedPreprocessing, optional
        Computes the features of the model from raw columns.
    """

    def __init__(
        self,
        model: StagedModel,
        *,
        max_cost: float | None = None,
        threshold: float | None = None,
        preprocessing: PricedPreprocessing | None = None,
    ) -> None:
        self.model = model = model if threshold is None else model.with_threshold(threshold)
        self.costs, self.residuals = model.costs, model.residuals
        self.max_cost = check_max_cost(max_cost)
        self.slack, self.threshold, self.tolerance = 0.0, model.threshold, None
        self._priced = preprocessing
        # At this budget, features that only unreachable stages test are not needed.
        self.forest = model.trees(model.n_reachable)
        self._engine = self._encoded(self._make_engine())

    def _make_engine(self) -> StagedEngine:  # type: ignore[override]
        return StagedEngine(self.model)

    def __getstate__(self) -> dict[str, Any]:
        # The forest is derived from the model, like the engine.
        return {name: part for name, part in super().__getstate__().items() if name != "forest"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        model = state["model"]
        self.forest = model.trees(model.n_reachable)
        super().__setstate__(state)
        if self._priced is None:
            self.forest = self._engine.forest

    def __repr__(self) -> str:
        chain, curve = self.model.chain, self.model.trade_off
        limit = "" if self.max_cost is None else f", max_cost={self.max_cost!r}"
        return (
            f"StagedPredictor({len(chain)} stages, {self.costs.n_sources} sources, "
            f"cost {curve.cost[self.model.point]:.4g}{limit})"
        )

    def _settings(self) -> dict[str, Any]:
        return {"max_cost": self.max_cost}

    def with_budget(self, budget: float | None) -> StagedPredictor:
        """Return the same model at another budget: average cost of a prediction; None: no limit."""
        return StagedPredictor(self.model.within(budget), max_cost=self.max_cost, preprocessing=self._priced)

    def with_threshold(self, threshold: float) -> StagedPredictor:
        """Return the same predictor with a threshold for its labels; rows stop at the same stages."""
        return StagedPredictor(
            self.model, max_cost=self.max_cost, threshold=threshold, preprocessing=self._priced
        )

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the label or target of each row at the last stage, from all its sources."""
        return self.model.answers(self._at_last_stage(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Estimate class probabilities at the last stage, of shape (n_rows, n_classes)."""
        return self._at_last_stage(X)

    def _at_last_stage(self, X: Any) -> NDArray[np.float64]:
        model = self.model
        # All stages are evaluated, those included that no row reaches at this budget.
        forest = self.forest if self.preprocessing is None else model.trees()
        rows = forest.prepare_rows(self.encode_for(forest, X))
        never_stop = np.full(len(model.chain), -np.inf)
        return model.chain.follow(rows, never_stop, model.objective)[1]

    def _half_width(self, simulation: Simulation | None, level: float) -> Any:
        if self.residuals is None:
            raise InvalidInputError(NO_RESIDUALS)
        quantile = self.residuals.quantile(level, self.model.point)
        expected = None if simulation is None else simulation.expected_error
        return None if expected is None else quantile * np.sqrt(expected)

    def sections(self) -> dict[str, Any]:
        """Return the contents of a model file, by section."""
        trees, options = trees_of(self.model), {"max_cost": self.max_cost}
        found = {"forest": trees, "costs": self.costs, "options": options, NAME: self.model}
        return found | self._further_sections()

    @classmethod
    def from_sections(cls, stored: StoredSections) -> StagedPredictor:
        """Create a predictor from the sections of a model file; raise unless it holds a staged model."""
        stored.need("forest", "costs", "options")
        if NAME not in stored:
            raise InvalidInputError("it holds a pruned model; load it with BudgetPredictor.load.")
        return _restore(stored)


def _restore(stored: StoredSections) -> StagedPredictor:
    options = stored["options"]
    if options.keys() != {"max_cost"}:
        raise InvalidInputError("a staged model has one option, max_cost.")
    model, residuals = stored[NAME], stored.get(RESIDUALS)
    if residuals is not None:
        if model.classes is not None or len(residuals.size) != len(model.trade_off):
            raise InvalidInputError("its residuals must be those of a regression, one row for each point.")
        model = replace(model, residuals=residuals)
    return StagedPredictor(model, max_cost=options["max_cost"], preprocessing=stored.get("preprocessing"))


RESTORERS = (Restorer(NAME, _restore),)
