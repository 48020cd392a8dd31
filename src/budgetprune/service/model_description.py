"""Features, sources and labels of a predictor, in JSON types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson

from budgetprune.costs import PricedSource
from budgetprune.predictor import BudgetPredictor


@dataclass(frozen=True)
class Feature:
    """A feature and its valid values."""

    name: str
    categories: tuple[Any, ...] | None  # None: numbers
    may_be_missing: bool
    is_used: bool  # by at least one split
    limit: float  # absolute values must be below this


class ModelDescription:
    """Names, prices and labels of a predictor, as JSON values."""

    def __init__(self, predictor: BudgetPredictor) -> None:
        forest, engine, inputs = predictor.forest, predictor._engine, predictor.inputs()
        self.sources = {
            name: PricedSource(name, price, predictor.features_of(name))
            for name, price in zip(engine.source_names, engine.sources.price.tolist(), strict=True)
        }
        used = set(inputs.used_features.tolist())
        # Raw values are numbers in double precision.
        limit = _limit(np.finfo(forest.input_dtype if inputs is forest else np.float64))
        categories = inputs.feature_categories
        self.features = {
            name: Feature(
                name,
                None if known is None else tuple(map(to_json_value, known)),
                inputs.missing != "forbidden",
                k in used,
                limit,
            )
            for k, (name, known) in enumerate(zip(predictor.feature_names, categories, strict=True))
        }
        self.classes = (
            None if forest.classes is None else [to_json_value(label) for label in forest.classes.tolist()]
        )
        self.class_names = None if self.classes is None else [_text(label) for label in self.classes]
        self.total_price = float(sum(source.price for source in self.sources.values() if source.features))


def to_json_value(value: Any) -> Any:
    """Convert a label or a category to a JSON value; bytes become str."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes):
        return value.decode("latin-1")  # keeps labels distinct
    if isinstance(value, float) and not np.isfinite(value):
        return repr(value)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _limit(numbers: np.finfo[Any]) -> float:
    """Return the smallest number that rounds to infinity; infinity for double precision."""
    half_a_step = np.ldexp(1.0, int(numbers.maxexp) - int(numbers.nmant) - 2)
    with np.errstate(over="ignore"):
        return float(np.float64(numbers.max) + half_a_step)


def _text(label: Any) -> str:
    """Convert a label to a key of a JSON object."""
    return label if isinstance(label, str) else orjson.dumps(label).decode()
