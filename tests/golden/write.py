"""Write the golden model files: ``python -m tests.golden.write``, once for each version of the format.

A file is written in the first version that can hold it, so that older releases read it: a predictor alone in
version 1, with a path in version 2, a staged model in version 3, a path alone in version 4, one with a
preprocessing, with details (a unit, measures of probabilities) or with residuals in version 5. ``path-2.npz``
is a path in the format of release 0.1, which is no longer written.

A file that a release could read stays as it is for ever, so none is written twice. The models are spelled out
by hand, because no library's training gives the same bits on every machine.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from budgetprune.costs import CostTable, FeatureCosts
from budgetprune.forest import Forest
from budgetprune.model import About, BudgetModel, ClassQuality, Compared, Figures, Quality
from budgetprune.path import PruningPath
from budgetprune.predictor import BudgetPredictor, Residuals
from budgetprune.problem.acquisition import sources_used
from budgetprune.problem.pruning import Pruning

from ..persistence.model_files import Model, save_model
from .planting import plant, rows
from .raw_columns import raw_answers, with_preprocessing
from .staged_models import STAGED, staged_answers

FOLDER = Path(__file__).parent


def averaged() -> Model:
    """Two classes, averaged probabilities, names, a price for a group, missing values, categories."""
    names = ("age", "TSH", "T3", "Größe", "town")
    trees = [
        (
            0,
            49.5,
            True,
            (4, {1, 3, 40}, False, [0.875, 0.125], [0.25, 0.75]),
            (1, 2.25, True, [0.5, 0.5], [0, 1]),
        ),
        (
            4,
            {0, 31, 32},
            True,
            [1, 0],
            (2, float("inf"), False, (1, -0.5, True, [0.1, 0.9], [0.7, 0.3]), [0.2, 0.8]),
        ),
        [0.625, 0.375],
        (3, 1.7, False, (2, 1e-3, True, [0.3, 0.7], (0, 18.0, False, [1, 0], [0.4, 0.6])), [0.9, 0.1]),
    ]
    arrays = plant(trees, 2)
    forest = Forest(
        **arrays,
        class_weight=arrays["value"] * np.array(arrays["weight"])[:, np.newaxis],
        variance=None,
        tree_output=[-1] * 4,
        base=[0.0, 0.0],
        divisor=4.0,
        link="identity",
        label_rule="argmax",
        classes=np.array(["no", "yes"]),
        n_features=5,
        feature_names=names,
        input_dtype=np.dtype(np.float32),
        missing="nan",
        origin=None,
        categories=(None, None, None, None, ("Aix", "Bonn", "", "Ypres", *map(str, range(37)))),
    )
    costs = FeatureCosts(
        {"age": 0, "TSH": 4, "T3": 3.5, "Größe": 0.25, "town": 1},
        groups={"TSH": "blood", "T3": "blood"},
        group_costs={"blood": 10},
    )
    options = {"slack": 0.1, "max_cost": 15.0, "threshold": 0.5, "tolerance": None}
    return forest, costs.resolve(5, names), options


def boosted() -> Model:
    """Counts, boosted with an exponential link, zeros that are missing values, no names."""
    trees = [
        (0, 0.5, True, (1, -1.25, False, [-0.5], [0.25]), [0.75]),
        (1, 0.0, False, [0.1], (0, 2.0, True, [-0.2], (2, {2, 5}, False, [0.4], [1 / 3]))),
        (2, {0, 1, 33}, True, [-0.05], [0.15]),
    ]
    arrays = plant(trees, 1)
    forest = Forest(
        **arrays,
        class_weight=None,
        variance=None,
        tree_output=[0, 0, 0],
        base=[-0.7],
        divisor=1.0,
        link="exp",
        label_rule="argmax",
        classes=None,
        n_features=3,
        feature_names=None,
        input_dtype=np.dtype(np.float64),
        missing="nan-or-zero",
        origin=None,
        loss="poisson",
        tree_round=[0, 1, 2],
        split_gain=np.where(np.array(arrays["feature"]) >= 0, 0.125, 0.0),
    )
    costs = FeatureCosts.from_sources(
        {"scan": 2.0, "lab": 0.5, "unused": 9}, {0: "lab", 1: ["lab", "scan"], 2: None}
    )
    options = {"slack": 0.0, "max_cost": None, "threshold": None, "tolerance": 0.01}
    return forest, costs.resolve(3), options


MODELS = {"averaged": averaged, "boosted": boosted}


def with_path() -> BudgetModel:
    """A point of a path whose numbers are made up, and a story."""
    forest, costs, options = averaged()
    critical = np.where(forest.is_split, 0.5 ** (1 + forest.depth), 0.0)
    path = PruningPath(
        forest=forest,
        critical_lambda=critical,
        lam=np.array([0.0, 0.125, 0.25, 0.5]),
        error=np.array([0.1, 0.2, 0.25, 0.4]),
        cost=np.array([15.5, 10.0, 2.5, 0.0]),
        n_splits=np.array([np.count_nonzero(critical > lam) for lam in (0.0, 0.125, 0.25, 0.5)]),
        objective=np.array([0.1, 1.45, 0.875, 0.4]),
        unpruned=Pruning(forest, forest.is_split, np.nan, 0.09, 16.25),
        complete=True,
        source_names=costs.source_names,
    )
    about = About(
        target="ill",
        task="classification",
        score_name="accuracy",
        budget=10.0,
        counting="full",
        lam=0.125,
        n_train=70,
        n_validation=30,
        created="2026-11-16",
        versions={"budgetprune": "0.1.0"},
        choices="errors in-bag (misclassification), leaves as grown",
        tradeoff={"full_cost": [15.5, 10.0], "cost": [15.5, 10.0], "score": [0.9, 0.875]},
        model="random-forest",
        compared=Compared(
            "test", 40, Figures(16.25, 12.5, 0.925, 5, 9), Figures(10.0, None, 0.875, 4, path[1].n_splits)
        ),
    )
    return BudgetModel(BudgetPredictor(path[1].forest, costs, **options), path, about)


def detailed() -> BudgetModel:
    """The same with details that releases before 0.2 do not know."""
    model = with_path()
    about = model.about
    assert about is not None
    assert about.compared is not None
    qualities = (
        Quality(
            0.9375, 0.25, 0.03125, (ClassQuality("no", 30, 0.75, 0.5), ClassQuality("yes", 10, 1.0, 0.25))
        ),
        Quality(None, 0.5, 0.0625, (ClassQuality("no", 40, 1.0, 1.0), ClassQuality("yes", 0, None, None))),
    )
    whole, chosen = (
        replace(figures, quality=quality)
        for figures, quality in zip((about.compared.whole, about.compared.chosen), qualities, strict=True)
    )
    compared = replace(about.compared, whole=whole, chosen=chosen)
    return replace(model, about=replace(about, compared=compared, unit="€"))


def with_residuals() -> BudgetPredictor:
    """A regression with residuals for intervals."""
    forest, costs, options = boosted()
    sizes = np.array([[0.0, 0.5, 1.25, 3.5]])
    return BudgetPredictor(forest, costs, **options, residuals=Residuals(sizes, 9))


def answers(forest: Forest, costs: CostTable) -> dict[str, Any]:
    """What the model says about the rows, as JSON keeps it to the last bit."""
    X = np.array(rows(forest.n_features), dtype=float)
    return {
        "scores": forest.scores(X).tolist(),
        "labels": forest.answers(forest.scores(X)).tolist() if forest.is_classifier else None,
        "sources": [list(map(int, used)) for used in sources_used(forest, costs, X)],
    }


def main() -> None:
    write_plain()
    write_staged()
    write_path()
    write_preprocessing()


def write_preprocessing() -> None:
    file = FOLDER / "preprocessing-5.budgetprune"
    if file.exists():
        print(f"{file.name} stays as it is")
        return
    predictor = with_preprocessing(averaged()[0])
    predictor.save(file)
    file.with_suffix(".json").write_text(json.dumps(raw_answers(predictor)) + "\n")
    print(f"wrote {file.name}, {file.stat().st_size} bytes")


def write_staged() -> None:
    for name, build in STAGED.items():
        file = FOLDER / f"{name}-3.budgetprune"
        if file.exists():
            print(f"{file.name} stays as it is")
            continue
        predictor = build()
        predictor.save(file)
        file.with_suffix(".json").write_text(json.dumps(staged_answers(predictor)) + "\n")
        print(f"wrote {file.name}, {file.stat().st_size} bytes")


def write_path() -> None:
    file = FOLDER / "path-4.budgetprune"
    if file.exists():
        print(f"{file.name} stays as it is")
        return
    path = with_path().path
    assert path is not None
    path.save(file)
    print(f"wrote {file.name}, {file.stat().st_size} bytes")


def write_plain() -> None:
    whole = with_path()
    models = {f"{name}-1": build() for name, build in MODELS.items()}
    with_about = {"with_path-2": whole, "detailed-5": detailed()}
    models["residuals-5"] = *models["boosted-1"][:2], with_residuals()._settings()
    for name in with_about:
        models[name] = whole.predictor.forest, whole.predictor.costs, whole.predictor._settings()
    for name, (forest, costs, options) in models.items():
        file = FOLDER / f"{name}.budgetprune"
        if file.exists():
            print(f"{file.name} stays as it is")
            continue
        if name in with_about:
            with_about[name].save(file)
        elif name == "residuals-5":
            with_residuals().save(file)
        else:
            save_model(file, forest, costs, options)
        known = {"rows": rows(forest.n_features), "options": options} | answers(forest, costs)
        file.with_suffix(".json").write_text(json.dumps(known) + "\n")
        print(f"wrote {file.name}, {file.stat().st_size} bytes")


if __name__ == "__main__":
    main()
