"""What a predictor can be asked: its features, what can be acquired, and how labels look in JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson

from budgetprune.predictor import BudgetPredictor


@dataclass(frozen=True)
class Source:
    """Something to acquire: a source of the price list, or a feature that needs none."""

    name: str
    price: float
    features: tuple[str, ...]


@dataclass(frozen=True)
class Feature:
    """Something to send: the values it may have."""

    name: str
    categories: tuple[Any, ...] | None  # None: numbers
    may_be_missing: bool
    is_used: bool  # by some split: other values change nothing
    limit: float  # numbers from here on, or from its opposite, are too large for the forest


class Catalogue:
    """Names, prices and labels of a predictor, in terms of JSON."""

    def __init__(self, predictor: BudgetPredictor) -> None:
        forest, engine = predictor.forest, predictor._engine
        self.sources = {
            name: Source(name, price, predictor.features_of(name))
            for name, price in zip(engine.source_names, engine.sources.price.tolist(), strict=True)
        }
        used = set(np.unique(forest.feature[forest.feature >= 0]).tolist())
        limit = _limit(np.finfo(forest.input_dtype))
        categories = forest.categories or (None,) * forest.n_features
        self.features = {
            name: Feature(
                name,
                None if known is None else tuple(map(plain, known)),
                forest.missing != "forbidden",
                k in used,
                limit,
            )
            for k, (name, known) in enumerate(zip(predictor.feature_names, categories, strict=True))
        }
        self.classes = None if forest.classes is None else [plain(label) for label in forest.classes.tolist()]
        self.class_names = None if self.classes is None else [_text(label) for label in self.classes]
        self.total_price = float(sum(source.price for source in self.sources.values() if source.features))


def plain(value: Any) -> Any:
    """A label or a category as JSON has it: bytes become text."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes):
        return value.decode("latin-1")  # no two labels become one
    if isinstance(value, float) and not np.isfinite(value):
        return repr(value)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _limit(numbers: np.finfo[Any]) -> float:
    """The first number that rounds to infinity; for double precision, that is infinity itself."""
    half_a_step = np.ldexp(1.0, int(numbers.maxexp) - int(numbers.nmant) - 2)
    with np.errstate(over="ignore"):
        return float(np.float64(numbers.max) + half_a_step)


def _text(label: Any) -> str:
    """A label as a key of a JSON object."""
    return label if isinstance(label, str) else orjson.dumps(label).decode()
