"""Create the `StagedSummary` of a staged model."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.report.judge import Judge
from budgetprune.report.numbers import short
from budgetprune.report.staged.measure import loss_kind
from budgetprune.report.staged.notes import notes
from budgetprune.report.staged.points import Points
from budgetprune.report.staged.stories import Teller, choose_rows
from budgetprune.report.staged.summary import StagedSummary
from budgetprune.report.staged.survey import Survey
from budgetprune.report.staged.words import StagedLanguage
from budgetprune.report.summarise import draw_sample, language_of, source_of, title_of
from budgetprune.report.wishes import Wishes
from budgetprune.staged import StagedPredictor
from budgetprune.staged.model import StagedModel
from budgetprune.staged.prediction import StagedEngine

if TYPE_CHECKING:
    from budgetprune.model import About

MOST_SOURCES = 40


def summarise_staged(
    predictor: StagedPredictor, about: About | None, X: Any, y: Any, wishes: Wishes
) -> StagedSummary:
    """Evaluate a staged model at all its budgets; see `budgetprune.report.summarise`."""
    model = predictor.model
    forest = model.all_trees()
    judge = Judge.of(forest, X, y)
    sample = draw_sample(len(judge), wishes)
    survey = Survey(predictor, judge, sample)
    language = _language(survey, forest, wishes.unit)
    order, n_listed = _order_sources(model)
    has_scores = about is not None and about.score_name == language.score_name
    points = Points(survey, language, order[:n_listed], has_scores).all(wishes.progress)
    place = {int(s): i for i, s in enumerate(order)}
    tell = Teller(StagedEngine(model), survey.own, survey.everything, place, language)
    chosen = choose_rows(survey.own, survey.everything, wishes.n_stories)
    guess, guess_score = judge.guess()
    target = "" if about is None else about.target
    return StagedSummary(
        title=title_of(wishes, target),
        target=target,
        task="classification" if forest.is_classifier else "regression",
        score_name=language.score_name,
        unit=wishes.unit,
        noun=language.noun,
        counting="decided",
        budget=None if about is None else about.budget,
        max_cost=predictor.max_cost,
        loss_kind=language.loss_kind,
        uncertainty_name=language.uncertainty_name,
        n_rows=len(judge),
        n_point_rows=len(judge) if sample is None else sample.size,
        n_trees=predictor.forest.n_trees,
        n_features=forest.n_features,
        n_curve_points=len(model.trade_off),
        sources=tuple(source_of(model.costs, s, forest) for s in order.tolist()),
        n_listed=n_listed,
        chains=tuple(survey.describe_chain(number, place) for number in range(len(model.chains))),
        classes=judge.class_names,
        residual_edges=None if forest.is_classifier else tuple(map(short, judge.edges.tolist())),
        guess=guess,
        guess_score=short(guess_score),
        points=points,
        delivered=next(i for i, point in enumerate(points) if point.kind == "delivered"),
        stories=tuple(tell(title, row) for title, row in chosen),
        headline=language.staged_headline(survey.own, survey.everything),
        notes=notes(judge, len(survey.part), about, language),
    )


def _language(survey: Survey, forest: Any, unit: str) -> StagedLanguage:
    model = survey.model
    usual = language_of(forest, model.costs, survey.part, unit)
    named = asdict(usual) | {"whole": f"the same model with all {usual.noun}"}
    return StagedLanguage(**named, loss_kind=loss_kind(model), max_cost=survey.max_cost)


def _order_sources(model: StagedModel) -> tuple[NDArray[np.intp], int]:
    """Return sources with a price in the order of the chain in use, and the number to list."""
    chains = [model.chain, *model.chains]
    bought = dict.fromkeys(s for chain in chains for stage in chain.stages for s in stage.sources)
    others = [s for s in np.flatnonzero(model.costs.price > 0).tolist() if s not in bought]
    return np.array([*bought, *others], dtype=np.intp), min(MOST_SOURCES, len(bought))
