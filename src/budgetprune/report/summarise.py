"""Create the `Summary` of a pruned model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable
from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.path import PruningPath
from budgetprune.report.judge import Judge
from budgetprune.report.measure import Kind, Measured
from budgetprune.report.notes import notes
from budgetprune.report.numbers import short
from budgetprune.report.outcomes import Along
from budgetprune.report.stories import features_of
from budgetprune.report.summary import Counting, Expected, Point, Source, Story, Summary
from budgetprune.report.survey import Survey, Told, survey
from budgetprune.report.tree import choose_tree, show_tree, tree_words
from budgetprune.report.wishes import Wishes
from budgetprune.report.words import Language

if TYPE_CHECKING:
    from budgetprune.model import About, BudgetModel


def summarise_pruned(model: BudgetModel, X: Any, y: Any, wishes: Wishes) -> Summary:
    """Evaluate a pruned model and its path; see `budgetprune.report.summarise`."""
    path, predictor, about = check_path(model), model.predictor, model.about
    forest = path.forest
    judge = Judge.of(forest, X, y)
    language = language_of(forest, predictor.costs, judge, wishes.unit)
    sample = draw_sample(len(judge), wishes)
    found = survey(predictor, path, about, judge, sample, language, wishes.n_stories, wishes.progress)
    counting: Counting = "full" if about is None else about.counting
    along = Along(
        path=[told.measured for told in found.path],
        position=_positions(found, counting),
        whole=found.whole_on_sample,
        expected=_expected(about, language),
        price=predictor.costs.price,
        listed=found.source_order[: found.n_listed],
        is_refitted=found.is_refitted,
        language=language,
    )
    t = choose_tree(path, predictor.forest)
    points = _points(found, along, partial(tree_words, t, path, predictor.forest))
    guess, guess_score = judge.guess()
    target = "" if about is None else about.target
    return Summary(
        title=title_of(wishes, target),
        target=target,
        task="classification" if forest.is_classifier else "regression",
        score_name=language.score_name,
        unit=wishes.unit,
        noun=language.noun,
        counting=counting,
        budget=None if about is None else about.budget,
        n_rows=len(judge),
        n_path_rows=len(judge) if sample is None else sample.size,
        n_trees=forest.n_trees,
        n_features=forest.n_features,
        n_path_points=len(path),
        sources=tuple(source_of(predictor.costs, s, forest) for s in found.source_order.tolist()),
        n_listed=found.n_listed,
        classes=judge.class_names,
        residual_edges=None if forest.is_classifier else tuple(map(short, judge.edges.tolist())),
        guess=guess,
        guess_score=short(guess_score),
        points=points,
        delivered=_n_cheaper(found, counting),
        expected=along.expected,
        stories=_needed_values(found.stories, points),
        tree=show_tree(t, path, predictor.forest),
        headline=language.headline(
            found.delivered.measured.taken(counting), found.whole.measured.full, counting
        ),
        notes=notes(predictor, about, len(judge), found.path[0].measured.full.cost.size, language),
    )


def check_path(model: BudgetModel) -> PruningPath:
    """Return the path of a model; raise an error if it has none."""
    if model.path is None:
        raise InvalidInputError(
            "this model has no path with it, so there is nothing to choose from: write it with "
            "`budgetprune fit` or `budgetprune prune`, or save a BudgetModel with its path."
        )
    return model.path


def language_of(forest: Forest, costs: CostTable, judge: Judge, unit: str) -> Language:
    """Return the terms used in the report of a model."""
    n_needs = np.diff(costs.needs_start)
    one_each = bool(np.all(n_needs <= 1)) and np.unique(costs.needs).size == costs.needs.size
    return Language(
        score_name="accuracy" if forest.is_classifier else "R²",
        unit=unit,
        noun="features" if one_each else "sources",
        whole="the whole ensemble" if forest.is_boosted else "the whole forest",
        source_names=costs.source_names,
        class_names=judge.class_names,
    )


def title_of(wishes: Wishes, target: str) -> str:
    """Return the title of the page."""
    return wishes.title or f"Predicting {target or 'the target'} on a budget"


def draw_sample(n_rows: int, wishes: Wishes) -> NDArray[np.intp] | None:
    """Sample the rows for the other points; None means all rows."""
    if n_rows <= wishes.max_rows:
        return None
    return np.sort(np.random.default_rng(wishes.seed).choice(n_rows, wishes.max_rows, replace=False))


def _expected(about: About | None, language: Language) -> Expected | None:
    """Return the validation curve if it has the same score."""
    if about is None or about.tradeoff is None or about.score_name != language.score_name:
        return None
    columns = {name: tuple(map(short, about.tradeoff[name])) for name in ("cost", "full_cost", "score")}
    if about.counting == "full":
        # Decided costs were not simulated.
        columns["cost"] = ()
    return Expected(**columns)


# --- Points, from cheap to expensive ------------------------------------------------------------------------


def _n_cheaper(found: Survey, counting: Counting) -> int:
    """Count the path points that are not more expensive than the delivered model."""
    cost = np.array([told.measured.taken(counting).mean_cost for told in found.path])
    return int(np.count_nonzero(cost <= found.delivered.measured.taken(counting).mean_cost))


def _positions(found: Survey, counting: Counting) -> list[int]:
    """Return the indices of the path points among all points."""
    n_cheaper = _n_cheaper(found, counting)
    return [k + (k >= n_cheaper) for k in reversed(range(len(found.path)))]


def _points(found: Survey, along: Along, left_of_tree: Callable[[Kind, float], str]) -> tuple[Point, ...]:
    """Return the path with the delivered model inserted, then the whole ensemble."""
    n_path = len(found.path)

    def point(name: str, told: Told, whole: Measured, anchor: int | None) -> Point:
        measured = told.measured
        never, few, many = (short(part, 4) for part in measured.usage)
        return Point(
            kind=measured.kind,
            name=name,
            lam=None if np.isnan(measured.lam) else float(measured.lam),
            n_splits=measured.n_splits,
            n_features=measured.n_features,
            full=along.outcome(name, measured, "full", whole, anchor),
            decided=along.outcome(name, measured, "decided", whole, anchor),
            usage=(never, few, many),
            tellings=told.tellings,
            tree=left_of_tree(measured.kind, measured.lam),
        )

    on_path = [
        point(f"Point {n_path - k} of {n_path}", told, found.whole_on_sample, k)
        for k, told in enumerate(found.path)
    ]
    whole = found.whole.measured
    name = along.language.whole.removeprefix("the ").capitalize()
    points: list[Point | None] = [None] * (n_path + 1)
    for position, each in zip(along.position, on_path, strict=True):
        points[position] = each
    delivered = point("Your model", found.delivered, whole, found.anchor)
    filled = tuple(delivered if each is None else each for each in points)
    return (*filled, point(name, found.whole, whole, None))


def source_of(costs: CostTable, s: int, forest: Forest) -> Source:
    """Describe a source."""
    names = [forest.names[k] for k in features_of(costs, s)]
    return Source(costs.source_names[s], float(costs.price[s]), tuple(names))


def _needed_values(stories: tuple[Story, ...], points: tuple[Point, ...]) -> tuple[Story, ...]:
    """Keep only the values of sources that some point acquires for the row, for privacy."""
    bought = [{str(s) for point in points for s in point.tellings[i].sources} for i in range(len(stories))]
    return tuple(
        replace(told, values={s: text for s, text in told.values.items() if s in needed})
        for told, needed in zip(stories, bought, strict=True)
    )
