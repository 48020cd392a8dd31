"""Staged models that are spelled out by hand, for golden files of version 3; see `tests.golden.write`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from budgetprune import StagedPredictor, StagedTradeOff
from budgetprune.costs import CostTable, FeatureCosts
from budgetprune.forest import Forest
from budgetprune.staged.model.chain import Chain, Stage
from budgetprune.staged.model.objective import ErrorCostObjective, LogLossObjective, SquaredErrorObjective
from budgetprune.staged.model.staged_model import StagedModel

from .planting import plant, rows

INF = float("inf")
NAMES = ("age", "TSH", "T3", "Größe", "town")
CATEGORIES = (None, None, None, None, ("Aix", "Bonn", "", "Ypres", *map(str, range(37))))
LOSSES = {"logistic": "logistic", "softmax": "softmax", "identity": "squared", "exp": "gamma"}


def patients() -> CostTable:
    """Two tests of one blood draw, which is paid for once."""
    costs = FeatureCosts(
        {"age": 0, "TSH": 4, "T3": 3.5, "Größe": 0.25, "town": 1},
        groups={"TSH": "blood", "T3": "blood"},
        group_costs={"blood": 10},
    )
    return costs.resolve(5, NAMES)


def boosted(
    trees: list[Any], outputs: list[int], base: list[float], link: str, width: int = 1, **others: Any
) -> Forest:
    """Build a forest of trees that feed one output each, a round for each of them."""
    fields: dict[str, Any] = {
        "tree_output": outputs,
        "loss": LOSSES[link],
        "class_weight": None,
        "variance": None,
        "divisor": 1.0,
        "label_rule": "likeliest" if link == "logistic" else "argmax",
        "classes": None,
        "n_features": 5,
        "feature_names": NAMES,
        "input_dtype": np.dtype(np.float64),
        "missing": "nan",
        "origin": None,
        "categories": CATEGORIES,
    }
    return Forest(
        **plant(trees, width),
        **(fields | others),
        tree_round=np.arange(len(trees)),
        base=base,
        link=link,
    )


def curve(cost: list[float], chain: list[int], thresholds: list[list[float]]) -> StagedTradeOff:
    """Make up a curve; half of the rows of a point stop at the first stage, the others at the last one."""
    n = len(cost)
    stops = [np.array([0.5, *[0.0] * (len(each) - 2), 0.5]) for each in thresholds]
    return StagedTradeOff(
        cost=np.array(cost),
        score=0.5 + np.arange(n) / 16,
        cost_std=np.full(n, 0.25),
        score_std=np.arange(n) / 128,
        loss=8.0 - np.arange(n),
        lam=np.append(2.0 ** -np.arange(n - 1), 0.0),
        chain=np.array(chain),
        thresholds=tuple(map(np.array, thresholds)),
        stops=tuple(stops),
    )


def staged() -> StagedPredictor:
    """Three classes, two chains, categories, missing values, a shared source, error costs, a limit."""
    classes = np.array(["ill", "unsure", "well"])

    def stage(sources: tuple[int, ...], scale: float, base: list[float], *trees: Any) -> Stage:
        forest = boosted(list(trees), [t % 3 for t in range(len(trees))], base, "softmax", classes=classes)
        return Stage(sources, forest, scale)

    first = stage(
        (),
        0.875,
        [0.25, -0.5, 0.25],
        (0, 49.5, True, [-0.3], [0.4]),
        (0, 2.25, False, [0.2], [-0.1]),
        (0, 40.0, True, [0.5], [-0.6]),
    )
    cheap_first = (
        first,
        stage(
            (3, 4),
            1.0,
            [0.0, 0.0, 0.0],
            (4, {1, 3, 40}, False, [0.7], (3, 1.7, True, [-0.4], [0.1])),
            (3, 0.5, True, (0, 3.0, True, [0.1], [0.3]), [-0.2]),
            (4, {0, 31, 32}, True, [-0.9], [0.6]),
        ),
        stage(
            (1, 5),
            1.25,
            [0.0, 0.125, 0.0],
            (1, 2.25, True, [1.4], (4, {2, 33}, True, [-1.1], [0.3])),
            [0.2],
            (1, -0.5, False, [-1.2], (3, 0.0, False, [0.8], [1.3])),
        ),
        stage(
            (2,), 1.5, [0.0, 0.0, 0.0], (2, 1e-3, True, [1.9], [-1.6]), [-0.3], (2, INF, False, [0.4], [-2.1])
        ),
    )
    blood_first = (
        first,
        stage(
            (1, 2, 5),
            1.125,
            [0.0, 0.0, 0.0],
            (1, 2.25, True, [1.2], (2, 3.0, False, [-0.8], [-1.7])),
            (2, 33.0, True, [-0.4], [0.9]),
            (2, 0.5, False, [-1.3], (1, 40.0, True, [0.2], [1.6])),
        ),
        stage((4,), 1.25, [0.0, 0.0, 0.0], (4, {1, 33, 40}, True, [0.6], [-0.7]), [0.1], [-0.2]),
    )
    error_costs = ErrorCostObjective(np.array([[0.0, 6.0, 20.0], [3.0, 0.0, 5.0], [4.0, 2.5, 0.0]]))
    points = curve(
        [0.0, 0.75, 4.5, 9.25, 12.0],
        [0, 0, 0, 1, 1],
        [[INF] * 4, [1.9, INF, INF, INF], [1.9, 2.405, 1.8, INF], [2.4, 1.55, INF], [-INF, 0.52, INF]],
    )
    chains = (Chain(cheap_first, 0.5, "softmax"), Chain(blood_first, 0.75, "softmax"))
    model = StagedModel(chains, points, 4, 2, error_costs, patients(), classes, error_costs)
    return StagedPredictor(model, max_cost=18.5)


def staged_binary() -> StagedPredictor:
    """Two classes, stopping by the log loss, no names, independent stages, and one that costs nothing."""
    classes = np.array([False, True])

    def stage(sources: tuple[int, ...], scale: float, *trees: Any) -> Stage:
        plain = {"classes": classes, "n_features": 3, "feature_names": None, "categories": None}
        return Stage(sources, boosted(list(trees), [0] * len(trees), [-0.7], "logistic", **plain), scale)

    stages = (
        stage((), 1.0, (2, 0.5, True, [-0.25], [0.5])),
        stage(
            (0,), 0.75, (0, 0.5, True, [-1.5], (0, 3.0, False, [0.75], [2.5])), (2, 2.25, False, [0.4], [0.1])
        ),
        stage((), 2.0, (0, 33.0, True, (0, -1.25, False, [-2.5], [0.1]), [1.25])),
        stage((1,), 1.0, (1, 0.0, False, [-3.5], (0, 2.0, True, [-0.2], [4.5])), [1 / 3]),
    )
    costs = FeatureCosts.from_sources(
        {"lab": 0.5, "scan": 2.0, "unused": 9}, {0: "lab", 1: ["lab", "scan"], 2: None}
    ).resolve(3)
    points = curve([0.0, 0.375, 1.5], [0, 0, 0], [[INF] * 4, [0.63, INF, INF, INF], [0.63, 0.41, 0.52, INF]])
    answer = ErrorCostObjective(1 - np.eye(2))
    chain = Chain(stages, 0.0, "logistic")
    return StagedPredictor(StagedModel((chain,), points, 2, 2, LogLossObjective(), costs, classes, answer))


def staged_regression() -> StagedPredictor:
    """A target with trees of its expected squared error, and a price of the error."""

    def stage(
        sources: tuple[int, ...], base: float, trees: list[Any], log_error: float, spread: list[Any]
    ) -> Stage:
        return Stage(
            sources,
            boosted(trees, [0] * len(trees), [base], "identity"),
            1.0,
            boosted(spread, [0] * len(spread), [log_error], "exp"),
        )

    stages = (
        stage((), 12.5, [(0, 40.0, True, [-1.5], [2.25])], 2.0, [(0, 3.0, True, [0.5], [-0.25])]),
        stage(
            (4,),
            0.0,
            [(4, {0, 1, 33}, True, [0.75], (0, 49.5, False, [-3.0], [1.1])), [0.3]],
            1.0,
            [(4, {1, 40}, False, [-1.75], [0.25]), (0, 1.0, True, [0.1], [-0.2])],
        ),
        stage(
            (1, 2, 5),
            -0.5,
            [(1, 2.25, True, (2, 0.5, False, [-4.0], [0.7]), [5.5])],
            -3.0,
            [(2, 33.0, True, [0.3], (1, -1.25, True, [-0.9], [0.6]))],
        ),
    )
    points = curve([0.0, 1.0, 7.25], [0, 0, 0], [[INF] * 3, [17.0, INF, INF], [17.0, 4.1, INF]])
    model = StagedModel(
        (Chain(stages, 1.0, "identity"),), points, 2, 1, SquaredErrorObjective(2.5), patients(), None, None
    )
    return StagedPredictor(model)


def staged_scored() -> StagedPredictor:
    """As `staged_binary`, with the scores of its stages."""
    model = staged_binary().model
    scores = (np.array([0.5, 0.625, 0.6875, 0.75]),)
    return StagedPredictor(replace(model, trade_off=replace(model.trade_off, stage_score=scores)))


def staged_shares() -> StagedPredictor:
    """Stages that are forests: their trees answer with shares of three classes, which add up."""
    classes = np.array([1, 2, 5])

    def stage(sources: tuple[int, ...], scale: float, base: list[float], *trees: Any) -> Stage:
        plain = {
            "classes": classes,
            "n_features": 3,
            "feature_names": None,
            "categories": None,
            "tree_output": [-1] * len(trees),
            "loss": None,
        }
        return Stage(sources, boosted(list(trees), [], base, "identity", width=3, **plain), scale)

    none = [0.0, 0.0, 0.0]
    stages = (
        stage((), 1.0, [0.5, 0.25, 0.25], none),
        stage(
            (0,),
            1.5,
            none,
            (0, 0.5, True, [0.375, 0.125, 0.0], [0.0, 0.125, 0.375]),
            (0, 3.0, False, [0.25, 0.25, 0.0], (0, 33.0, True, [0.0, 0.0, 0.5], [0.125, 0.25, 0.125])),
        ),
        stage(
            (1, 2),
            0.75,
            none,
            (1, 0.0, False, [0.5, 0.0, 0.0], (0, 2.0, True, [0.0, 0.5, 0.0], [0.0, 0.0, 0.5])),
            (2, 1.5, True, (1, 2.25, True, [0.0, 0.375, 0.125], [0.25, 0.0, 0.25]), [0.0, 0.5, 0.0]),
        ),
    )
    costs = FeatureCosts([1.0, 2.0, 0.5]).resolve(3)
    points = curve([0.0, 1.0, 2.25], [0, 0, 0], [[INF] * 3, [-INF, INF, INF], [0.4, 0.3, INF]])
    answer = ErrorCostObjective(1 - np.eye(3))
    chain = Chain(stages, 0.0, "shares")
    return StagedPredictor(StagedModel((chain,), points, 2, 2, answer, costs, classes, answer))


STAGED = {
    "staged": staged,
    "staged_binary": staged_binary,
    "staged_regression": staged_regression,
    "staged_scored": staged_scored,
    "staged_shares": staged_shares,
}


def staged_answers(predictor: StagedPredictor) -> dict[str, Any]:
    """Collect what a model says about the rows, at each of its points and at the one that is in use."""
    X = np.array(rows(predictor.forest.n_features), dtype=float)
    budgets = [None, *predictor.model.trade_off.cost.tolist()]
    return {
        "rows": rows(predictor.forest.n_features),
        "options": predictor._settings(),
        "in use": _told(predictor, X),
        "budgets": [_told(predictor.with_budget(budget), X, budget) for budget in budgets],
    }


def _told(predictor: StagedPredictor, X: np.ndarray, budget: float | None = None) -> dict[str, Any]:
    told = predictor.simulate(X)
    return {
        "budget": budget,
        "labels": told.label.tolist(),
        "cost": told.cost.tolist(),
        "decided": told.decided.tolist(),
        "sources": [np.flatnonzero(each).tolist() for each in told.acquired],
        "probabilities": None if told.probabilities is None else told.probabilities.tolist(),
        "labels at the last stage": predictor.predict(X).tolist(),
    }
