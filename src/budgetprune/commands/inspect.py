"""``budgetprune inspect``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from budgetprune.commands import options
from budgetprune.commands import staged_tables as tables
from budgetprune.commands.comparison import as_table, compared_table, whole_name, with_unit
from budgetprune.commands.console import Console
from budgetprune.commands.quality import quality_tables

if TYPE_CHECKING:
    from budgetprune.model import BudgetModel


@dataclass(frozen=True)
class InspectArguments:
    """Arguments and options of ``budgetprune inspect``."""

    model: options.ModelFile
    as_json: options.Json = False
    quiet: options.Quiet = False


def inspect(arguments: InspectArguments) -> None:
    """Describe a model file: its predictions, its features, and how it was trained.

    Example: budgetprune inspect ill.budgetprune
    """
    from budgetprune.model import BudgetModel
    from budgetprune.staged import StagedPredictor

    console = Console(quiet=arguments.quiet, as_json=arguments.as_json)
    model = BudgetModel.load(arguments.model)
    result: dict[str, Any] = {
        "file": str(arguments.model),
        "bytes": arguments.model.stat().st_size,
    } | description(model)
    features = result["features"]
    columns: dict[str, list[Any]] = {
        "feature": [feature["name"] for feature in features],
        "splits": [feature["splits"] for feature in features],
        "needs": [", ".join(feature["needs"]) or "nothing" for feature in features],
        "costs alone": [feature["price_alone"] for feature in features],
        "categories": [_shorten(feature["categories"]) for feature in features],
    }
    console.show(*_summary(model))
    is_compared = model.about is not None and model.about.compared is not None
    if isinstance(model.predictor, StagedPredictor):
        score_name = "score" if model.about is None else model.about.score_name
        staged = model.predictor.model
        unit = "" if model.about is None else model.about.unit
        curve = tables.curve_table(staged, score_name, unit=unit, has_error_costs=staged.has_error_costs)
        console.show(curve, tables.stage_table(staged, unit=unit))
        if is_compared:
            console.show(tables.compared_table(model), *quality_tables(model, tables.PLAIN))
    elif is_compared:
        console.show(compared_table(model), *quality_tables(model, whole_name(model)))
    n_others = len(model.predictor.feature_names) - len(features)
    title = f"Features that the model uses: {len(features)}; never needed: {n_others}"
    console.show(as_table(columns, title) if features else "The model uses no features.")
    console.result(result)


def description(model: BudgetModel) -> dict[str, Any]:
    """Return a description of the model in JSON types, without features that no split tests."""
    import numpy as np

    from budgetprune.staged import StagedPredictor

    predictor = model.predictor
    forest, costs = predictor.forest, predictor.feature_costs
    n_splits = np.bincount(forest.feature[forest.is_split], minlength=forest.n_features)
    if predictor.preprocessing is not None:
        # Splits on features that a raw column is needed for.
        of_features, n_splits = n_splits, np.zeros(len(predictor.feature_names), dtype=np.int64)
        for k, needed in enumerate(predictor.preprocessing.needs):
            n_splits[needed] += of_features[k]
    alone, names = costs.price_alone, predictor.feature_names
    known = predictor.inputs().feature_categories
    features = [
        {
            "name": names[k],
            "splits": int(n_splits[k]),
            "needs": [
                costs.source_names[s] for s in costs.needs[costs.needs_start[k] : costs.needs_start[k + 1]]
            ],
            "price_alone": float(alone[k]),
            "categories": None if known[k] is None else list(known[k] or ()),
        }
        for k in np.argsort(-n_splits, kind="stable").tolist()
        if n_splits[k]
    ]
    staged: dict[str, Any] = {}
    if isinstance(predictor, StagedPredictor):
        staged = {
            "stages": tables.stage_values(predictor.model),
            "curve": tables.curve_values(predictor.model),
        }
    return staged | {
        "classes": None if forest.classes is None else forest.classes.tolist(),
        "trees": forest.n_trees,
        "splits": forest.n_splits,
        "n_features": forest.n_features,
        "settings": predictor._settings(),
        "features": features,
        "prices": dict(zip(costs.source_names, costs.price.tolist(), strict=True)),
        "path_points": None if model.path is None else len(model.path),
        "about": None if model.about is None else model.about.to_json(),
    }


def _summary(model: BudgetModel) -> list[str]:
    from budgetprune.staged import StagedPredictor

    forest, about, path = model.predictor.forest, model.about, model.path
    classes = "numbers" if forest.classes is None else f"classes {_shorten(forest.classes.tolist())}"
    stages = ""
    if isinstance(model.predictor, StagedPredictor):
        stages = f" in {model.predictor.model.n_reachable} stages"
    lines = [f"Predicts {classes} with {forest.n_trees} trees{stages}, {forest.n_splits:,} splits."]
    if about is not None:
        counting = "" if stages else f" ({about.counting} cost)"
        budget = "no budget"
        if about.budget is not None:
            budget = f"budget {with_unit(f'{about.budget:g}', about)}{counting}"
        chosen = ", and were cross-fitted" if stages else f", {about.n_validation:,} counted costs and chose"
        source = "as a staged model" if stages else f"from {about.model or 'a model'}"
        lines += [
            f"Target {about.target!r}, made {about.created} {source} for {budget}.",
            f"Rows: {about.n_train:,} trained{chosen}.",
            f"Chosen: {about.choices}.",
            "Versions: " + ", ".join(f"{name} {number}" for name, number in about.versions.items()) + ".",
        ]
    if path is not None:
        ends = f"{path.cost[0]:.4g} to {path.cost[-1]:.4g}"
        lines.append(f"Its path has {len(path):,} points, with full costs from {ends}.")
    usual = {"slack": 0.0, "order": "look-ahead", "look_ahead": 1}
    changed = {name: value for name, value in model.predictor._settings().items() if value != usual.get(name)}
    if changed:
        lines.append("Settings: " + ", ".join(f"{name} {value}" for name, value in changed.items()) + ".")
    return lines


def _shorten(labels: Any) -> str:
    if labels is None:
        return ""
    return ", ".join(map(str, labels[:6])) + (f", ... ({len(labels)})" if len(labels) > 6 else "")
