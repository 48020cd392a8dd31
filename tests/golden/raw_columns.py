"""The golden model file with a preprocessing, spelled out by hand."""

from __future__ import annotations

from math import nan
from typing import Any

from budgetprune.costs import FeatureCosts
from budgetprune.forest import Forest
from budgetprune.predictor import BudgetPredictor
from budgetprune.preprocessing import Preprocessing
from budgetprune.preprocessing.operations import Arithmetic, Bins, Fill, Indicator, Lookup, OneHot, Product

RAW_NAMES = ("born", "TSH", "T3", "Größe", "town")
PRICES = {"born": 0, "TSH": 4, "T3": 3.5, "Größe": 0.25, "town": 1}


def with_preprocessing(forest: Forest) -> BudgetPredictor:
    """Every kind of operation, before the trees of the averaged golden model."""
    place = "column 'town' (step 'encoder')"
    numbers = tuple(range(41))
    operations = (
        Arithmetic((0,), (("subtract", 2026.0), ("negative", None))),  # 5
        Fill((2,), None, 0.7),  # 6
        Indicator((1,), None),  # 7
        Bins((3,), (1.5, 1.6, 1.7)),  # 8
        Product((6, 7)),  # 9
        OneHot((4,), ("Aix", "Bonn", None), place, (0, 1, -1), 2, None),  # 10, 11
        Lookup((4,), ("Bonn", "Aix", None), place, ((1.0, nan, 40.0),), (float("inf"),)),  # 12
        Lookup((12,), tuple(map(float, numbers)), place, (tuple(map(float, numbers)),), (nan,)),  # 13
        Fill((4,), "?", None),  # 14
        OneHot((14,), ("Aix", "Bonn"), place, (0, 0), 1, 0),  # 15
    )
    preprocessing = Preprocessing(
        raw_names=RAW_NAMES,
        has_names=True,
        holds_objects=(False, False, False, False, True),
        operations=operations,
        outputs=(5, 1, 9, 8, 13),
        feature_names=tuple(forest.names),
        is_for_forest=True,
    )
    return BudgetPredictor(forest, FeatureCosts(PRICES), max_cost=8.0, preprocessing=preprocessing)


ROWS: list[list[Any]] = [
    [1960.0, 2.25, 0.5, 1.65, "Aix"],
    [2000.0, 2.0, nan, 1.75, "Bonn"],
    [1976.5, nan, 0.2, 1.5, None],
    [nan, 5.0, -0.6, nan, "Bonn"],
]


def raw_answers(predictor: BudgetPredictor) -> dict[str, Any]:
    """What the model says about the rows, as JSON keeps it to the last bit."""
    simulation = predictor.simulate(ROWS)
    return {
        "scores": predictor.forest.scores(predictor.encode(ROWS)).tolist(),
        "labels": simulation.label.tolist(),
        "costs": simulation.cost.tolist(),
        "steps": [list(predictor.decide(dict(zip(RAW_NAMES, row, strict=True))).acquired) for row in ROWS],
    }
