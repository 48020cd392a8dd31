"""Stories are what the predictor does, step by step; the tree is what the path leaves of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

from budgetprune import BudgetPredictor, Forest
from budgetprune.report import summarise
from budgetprune.report.stories import values_of
from budgetprune.report.tree import answer, question

from .models import case

NAMES = ("cancer", "wine", "diabetes", "boosted", "categories")


@pytest.fixture(scope="module")
def summaries():
    return {name: summarise(case(name).model, case(name).X, case(name).y) for name in NAMES}


def predictor_of(name, point):
    found = case(name)
    if point.kind == "delivered":
        return found.predictor
    path = found.model.path
    forest = path.forest if point.kind == "unpruned" else path.at(lam=point.lam).forest
    return BudgetPredictor(forest, found.predictor.costs)


@pytest.mark.parametrize("name", NAMES)
def test_tellings_are_decisions(summaries, name):
    summary, X = summaries[name], case(name).X
    for point in summary.points[::3]:
        predictor = predictor_of(name, point)
        for story, telling in zip(summary.stories, point.tellings, strict=True):
            row = X.iloc[story.row - 1]
            decision = predictor.decide(row.to_dict())
            assert telling.cost == pytest.approx(decision.cost)
            assert tuple(summary.sources[s].name for s in telling.sources) == decision.acquired
            assert telling.n_bought == len(decision.acquired)
            assert telling.reason == decision.reason
            if summary.task == "classification":
                assert telling.answer == str(decision.label)
                assert telling.is_right == (telling.answer == story.truth)
            simulation = predictor.simulate(X.iloc[[story.row - 1]])
            assert telling.cost == pytest.approx(simulation.cost[0])


@pytest.mark.parametrize("name", NAMES)
def test_what_is_possible_shrinks(summaries, name):
    for point in summaries[name].points:
        for telling in point.tellings:
            lower, upper, guess = map(np.array, (telling.lower, telling.upper, telling.guess))
            assert lower.size == len(telling.sources) + 1
            scale = 1e-4 * np.abs(upper).max()
            assert np.all(np.diff(lower) >= -scale)
            assert np.all(np.diff(upper) <= scale)
            assert np.all((lower - scale <= guess) & (guess <= upper + scale))
            if telling.reason == "certain" and telling.cut is not None:
                assert lower[-1] >= telling.cut - scale
                assert lower.size == 1 or lower[-2] < telling.cut


@pytest.mark.parametrize("name", ["cancer", "wine", "categories"])
def test_titles_are_true(summaries, name):
    summary = summaries[name]
    own = summary.points[summary.delivered]
    told = dict(zip([story.title for story in summary.stories], own.tellings, strict=True))
    whole = dict(zip(told, summary.points[-1].tellings, strict=True))
    given_up = "What you give up: the whole forest knew better"
    claims = {
        "A typical one": lambda: told["A typical one"].is_right,
        "An easy one": lambda: told["An easy one"].cost < own.decided.median,
        "A hard one": lambda: told["A hard one"].cost > own.decided.median,
        given_up: lambda: whole[given_up].is_right and not told[given_up].is_right,
        "A mistake": lambda: not told["A mistake"].is_right,
    }
    assert "A typical one" in told
    assert ("A hard one" in told) or own.decided.largest == own.decided.median or own.decided.n_wrong
    for title in told:
        assert claims[title](), title
    assert len({story.row for story in summary.stories}) == len(summary.stories)


def test_values_of_stories(summaries):
    summary, found = summaries["categories"], case("categories")
    names = [source.name for source in summary.sources]
    for story in summary.stories:
        row = found.X.iloc[story.row - 1]
        colour = story.values.get(str(names.index("colour")))
        assert colour in (None, f"colour {row['colour']}")
        assert story.truth == found.y[story.row - 1]


def test_a_label_that_nobody_knows_is_told_as_it_is():
    found = case("wine")
    y = found.y.astype(object)
    y[:] = "Nero d'Avola"
    y[0] = found.y[0]
    summary = summarise(found.model, found.X, y)
    unknown = [i for i, story in enumerate(summary.stories) if story.row > 1]
    assert unknown
    for i in unknown:
        assert summary.stories[i].truth == "Nero d'Avola"
        assert not any(point.tellings[i].is_right for point in summary.points)


def test_labels_that_look_alike_are_told_apart():
    """Numbers are rounded where they are shown; what is right is not."""
    found = case("boosted")
    near = np.array([1.00001, 1.00002, 3.0])
    forests = [found.model.path.forest, found.predictor.forest]
    whole, pruned = (replace(forest, classes=near) for forest in forests)
    path = replace(found.model.path, forest=whole)
    path = replace(path, unpruned=replace(path.unpruned, unpruned=whole))
    model = replace(found.model, predictor=BudgetPredictor(pruned, found.predictor.costs), path=path)
    summary, usual = summarise(model, found.X, near[found.y]), summarise(found.model, found.X, found.y)
    assert [told.is_right for told in summary.points[0].tellings] == [
        told.is_right for told in usual.points[0].tellings
    ]


def test_no_stories():
    found = case("wine")
    summary = summarise(found.model, found.X, found.y, n_stories=0)
    assert summary.stories == ()
    assert all(point.tellings == () for point in summary.points)
    one = summarise(found.model, found.X, found.y, n_stories=1)
    assert [story.title for story in one.stories] == ["A typical one"]


def test_only_values_that_somebody_buys():
    """A page that is sent around holds no more of a row than its story needs."""
    found = case("diabetes")
    summary = summarise(found.model, found.X, found.y)
    for i, story in enumerate(summary.stories):
        bought = {str(s) for point in summary.points for s in point.tellings[i].sources}
        assert set(story.values) <= bought


def test_many_steps_are_cut_short(monkeypatch):
    monkeypatch.setattr("budgetprune.report.stories.MOST_STEPS", 2)
    found = case("diabetes")
    summary = summarise(found.model, found.X, found.y)
    telling = summary.points[-1].tellings[0]
    assert len(telling.sources) == 2 < telling.n_bought
    assert len(telling.lower) == 3


def test_a_threshold_moves_the_cut():
    found = case("cancer")
    classes = found.predictor.forest.classes
    predictor = BudgetPredictor(found.predictor.forest, found.predictor.costs, threshold=0.8)
    summary = summarise(replace(found.model, predictor=predictor), found.X, found.y)
    cuts = {telling.answer: telling.cut for point in summary.points for telling in point.tellings}
    assert cuts == pytest.approx({classes[0]: 0.2, classes[1]: 0.8})


def test_rows_as_their_owner_knows_them():
    found = case("categories")
    forest = found.predictor.forest
    rows = forest.prepare_rows(found.X)
    for i in range(20):
        values = values_of(forest, rows[i])
        assert values["colour"] == found.X["colour"].iloc[i]
        assert values["size"] == pytest.approx(found.X["size"].iloc[i], nan_ok=True)
    unknown = found.X.iloc[:1].assign(colour="mauve")
    assert values_of(forest, forest.prepare_rows(unknown)[0])["colour"] is None


# --- The tree -----------------------------------------------------------------------------------------------


def splits_left(tree, point):
    if point.kind == "unpruned":
        return sum(map(bool, tree.question))
    if point.kind == "delivered":
        return sum(tree.is_delivered)
    return sum(
        bool(asked) and (critical is None or critical > point.lam)
        for asked, critical in zip(tree.question, tree.critical_lambda, strict=True)
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_tree_is_pruned_as_the_forest_is(summaries, name):
    summary = summaries[name]
    tree, t = summary.tree, summary.tree.number - 1
    for point in summary.points:
        forest = predictor_of(name, point).forest
        nodes = slice(forest.tree_start[t], forest.tree_start[t + 1])
        n_splits = int(forest.is_split[nodes].sum())
        assert splits_left(tree, point) == n_splits
        assert point.tree.startswith(f"{n_splits} of the {tree.n_splits} split") or point.kind == "unpruned"


def test_answers_of_the_delivered_tree(summaries):
    tree, forest = summaries["diabetes"].tree, case("diabetes").predictor.forest
    nodes = range(forest.tree_start[tree.number - 1], forest.tree_start[tree.number])
    assert [text for text in tree.refitted if text] == [answer(forest, h) for h in nodes]


def test_large_trees_lose_their_lower_levels(monkeypatch):
    monkeypatch.setattr("budgetprune.report.tree.MOST_NODES", 20)
    found = case("diabetes")
    summary = summarise(found.model, found.X, found.y, n_stories=0)
    tree = summary.tree
    assert len(tree.parent) <= 20
    assert tree.n_splits > sum(map(bool, tree.question))
    for h, parent in enumerate(tree.parent):
        assert parent < h
        assert parent < 0 or tree.question[parent]
    assert f"{tree.n_splits} splits" in summary.points[-1].tree


def test_questions():
    forest = case("categories").model.path.forest
    asked = {question(forest, h) for h in np.flatnonzero(forest.is_split)}
    assert any(words.startswith("size ≤ ") for words in asked)
    colours = {words for words in asked if words.startswith("colour")}
    assert colours <= {"colour is black", "colour is black or blue", "colour is black or blue or green"}
    assert colours
    assert question(forest, int(np.flatnonzero(~forest.is_split)[0])) == ""


def test_questions_about_sets():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"day": pd.Categorical(rng.choice(["mo", "tu", "we", "th"], 300)), "x": rng.normal(size=300)}
    )
    y = table["day"].isin(["mo", "we"]) + 0.01 * table["x"]
    model = HistGradientBoostingRegressor(max_iter=2, max_leaf_nodes=4, categorical_features="from_dtype")
    forest = Forest.from_model(model.fit(table, y))
    root = question(forest, 0)
    assert root in ("day is mo or we", "day is th or tu")
    assert answer(forest, 0)[0] in "+-"


def test_answers():
    cancer, wine = case("cancer").model.path.forest, case("wine").model.path.forest
    assert answer(cancer, 0).split()[0] in ("benign", "malignant")
    assert answer(cancer, 0).endswith("%")
    assert answer(wine, 0).split()[0] in wine.classes
    softmax = replace(wine, link="softmax", value=wine.value - 1)
    assert answer(softmax, 0) == f"more for {wine.classes[wine.value[0].argmax()]}"
    boosted = case("boosted").model.path.forest
    assert answer(boosted, 0).endswith(f"for {boosted.classes[boosted.tree_output[0]]}")
