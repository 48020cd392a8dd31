"""Evaluation of all models of a report, one at a time to save memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable
from budgetprune.path import PruningPath
from budgetprune.predictor import BudgetPredictor
from budgetprune.problem.acquisition import acquire_along
from budgetprune.report.judge import Judge
from budgetprune.report.measure import Measured, like, measure
from budgetprune.report.stories import Teller, choose_rows, story
from budgetprune.report.summary import Story, Telling
from budgetprune.report.wishes import Progress
from budgetprune.report.words import Language
from budgetprune.selection import evenly_spaced

if TYPE_CHECKING:
    from budgetprune.model import About

MOST_POINTS = 200
MOST_SOURCES = 30


@dataclass(frozen=True, eq=False)
class Told:
    """Results of one model on all rows and on the example rows."""

    measured: Measured
    tellings: tuple[Telling, ...]


@dataclass(frozen=True, eq=False)
class Survey:
    """Results of all models of a report.

    Attributes
    ----------
    path : list of Told
        From expensive to cheap, on all rows or a sample.
    delivered, whole : Told
        On all rows.
    whole_on_sample : Measured
        The unpruned ensemble on the rows of `path`.
    anchor : int
        Index in `path` of the delivered model's pruning.
    is_refitted : bool
        Whether the delivered model's leaf values differ from that pruning's.
    source_order : int array
        All sources with a price, highest total cost first.
    n_listed : int
        Number of these that are listed individually.
    stories : tuple of Story
    """

    path: list[Told]
    delivered: Told
    whole: Told
    whole_on_sample: Measured
    anchor: int
    is_refitted: bool
    source_order: NDArray[np.intp]
    n_listed: int
    stories: tuple[Story, ...]


def survey(
    predictor: BudgetPredictor,
    path: PruningPath,
    about: About | None,
    judge: Judge,
    sample: NDArray[np.intp] | None,
    language: Language,
    n_stories: int,
    progress: Progress,
) -> Survey:
    """Evaluate the delivered model and the unpruned ensemble on all rows, the path on a sample."""
    forest, costs = path.forest, predictor.costs
    is_counted = np.isin(np.arange(forest.n_features), forest.feature)
    k_delivered = delivered_point(predictor.forest.n_splits, path, about)
    points = points_of(path, k_delivered)
    n_models = points.size + 2

    whole_predictor = like(predictor, forest)
    delivered = measure("delivered", float(path.lam[k_delivered]), predictor, judge, is_counted)
    progress(1, n_models)
    whole = measure("unpruned", np.nan, whole_predictor, judge, is_counted)
    progress(2, n_models)

    order, n_listed = order_sources(delivered, whole, costs)
    place = {int(s): i for i, s in enumerate(order)}
    chosen = choose_rows(delivered, whole, n_stories, language)
    stories = tuple(story(title, row, judge, forest, costs, place) for title, row in chosen)
    places = [row for _, row in chosen]
    tell = Teller(judge.rows[places], judge.truth[places], place, language)

    part = judge if sample is None else judge.part(sample)
    acquired = acquire_along(forest, costs, part.rows)
    along = []
    for n, k in enumerate(points.tolist()):
        pruning = path[k]
        pruned = like(predictor, pruning.forest)
        found = measure("path", pruning.lam, pruned, part, is_counted, acquired(pruning.keep))
        along.append(Told(found, tell(pruned)))
        progress(n + 3, n_models)
    return Survey(
        path=along,
        delivered=Told(delivered, tell(predictor)),
        whole=Told(whole, tell(whole_predictor)),
        whole_on_sample=whole
        if sample is None
        else measure("unpruned", np.nan, whole_predictor, part, is_counted),
        anchor=int(np.searchsorted(points, k_delivered)),
        is_refitted=not np.array_equal(path[k_delivered].forest.value, predictor.forest.value),
        source_order=order,
        n_listed=n_listed,
        stories=stories,
    )


def delivered_point(n_splits: int, path: PruningPath, about: About | None) -> int:
    """Return the delivered point of the path; without metadata, the closest number of splits."""
    if about is None:
        return int(np.abs(path.n_splits - n_splits).argmin())
    return max(int(np.searchsorted(path.lam, about.lam, side="right")) - 1, 0)


def points_of(path: PruningPath, k_delivered: int) -> NDArray[np.intp]:
    """Return at most 200 points evenly spaced in cost, including the delivered one."""
    return np.union1d(evenly_spaced(path.cost, MOST_POINTS - 1), [k_delivered])


def order_sources(delivered: Measured, whole: Measured, costs: CostTable) -> tuple[NDArray[np.intp], int]:
    """Return sources with a price, those of the delivered model first, and the number to list.

    Sources with a low total cost before and after pruning are at the end.
    """
    after, before = delivered.decided.share * costs.price, whole.full.share * costs.price
    most = np.maximum(after, before)
    priced = np.flatnonzero(costs.price > 0)
    by_money = priced[np.argsort(-most[priced], kind="stable")]
    n_listed = min(MOST_SOURCES, int(np.count_nonzero(most[priced] > 0)))
    listed = by_money[:n_listed]
    listed = listed[np.lexsort((-before[listed], -after[listed]))]
    return np.concatenate([listed, by_money[n_listed:]]), n_listed
