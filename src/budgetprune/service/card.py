"""Card of the served model: what it predicts, what it costs, and where it comes from."""

from __future__ import annotations

from dataclasses import asdict
from importlib.metadata import version
from typing import Any

import orjson

from budgetprune.model import About
from budgetprune.service import documents
from budgetprune.service.endpoints import MODEL_FILE
from budgetprune.service.model_description import ModelDescription
from budgetprune.service.served import ServedModel


def write_card(model: ServedModel, description: ModelDescription) -> bytes:
    """Describe a model in the form of `documents.Model`."""
    predictor = model.predictor
    features = [
        {
            "name": feature.name,
            "kind": "number" if feature.categories is None else "category",
            "categories": feature.categories,
            "may_be_missing": feature.may_be_missing,
            "used": feature.is_used,
        }
        for feature in description.features.values()
    ]
    sources = [
        {"name": source.name, "price": source.price, "features": source.features}
        for source in description.sources.values()
    ]
    offered = model.offered
    file = None
    if offered is not None:
        file = {"path": MODEL_FILE, "bytes": offered.n_bytes, "has_budgets": offered.has_budgets}
    return orjson.dumps(
        {
            "budgetprune": version("budgetprune"),
            "trees": predictor.forest.n_trees,
            "classes": description.classes,
            "features": features,
            "sources": sources,
            "settings": {name: getattr(predictor, name) for name in documents.Settings.model_fields},
            "unit": model.unit or None,
            "total_price": description.total_price,
            "origin": None if model.about is None else _origin(model.about),
            **_performance(model),
            "file": file,
        }
    )


def _origin(about: About) -> dict[str, Any]:
    found = about.to_json()
    return {name: found[name] for name in documents.Origin.model_fields}


def _performance(model: ServedModel) -> dict[str, Any]:
    """Return the kind of the model, its expected cost and score, its stages, and its curve."""
    from budgetprune.staged import StagedPredictor

    about, predictor = model.about, model.predictor
    found: dict[str, Any] = {"kind": "pruned", "stages": None, "curve": None, "expected": None}
    tradeoff = None if about is None else about.tradeoff
    if isinstance(predictor, StagedPredictor):
        staged = predictor.model
        curve = staged.trade_off
        found["kind"] = "staged"
        found["stages"] = [asdict(stage) for stage in staged.stages()]
        tradeoff = {"cost": curve.cost.tolist(), "score": curve.score.tolist()}
        found["expected"] = {
            "cost": curve.cost[staged.point].item(),
            "score": curve.score[staged.point].item(),
            "rows": "cross-fitted",
        }
    if tradeoff is not None:
        points = zip(tradeoff["cost"], tradeoff["score"], strict=True)
        found["curve"] = sorted(({"cost": c, "score": s} for c, s in points), key=lambda point: point["cost"])
    if about is not None and about.compared is not None:
        chosen = about.compared.chosen
        cost = chosen.cost if chosen.decided_cost is None else chosen.decided_cost
        found["expected"] = {"cost": cost, "score": chosen.score, "rows": about.compared.rows}
    return found
