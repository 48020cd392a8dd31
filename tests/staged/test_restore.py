"""Staged model files that are damaged, or meant to do harm: a clear error, and nothing else happens."""

from __future__ import annotations

import re
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from budgetprune import BudgetPredictor, InvalidInputError
from budgetprune.model import BudgetModel
from budgetprune.staged.model.chain import Chain
from budgetprune.staged.model.join import join_forests
from budgetprune.staged.restore import MOST_STAGES
from budgetprune.staged.section import write_content

from ..golden.staged_models import STAGED
from ..golden.write import FOLDER
from ..persistence.model_files import objects_of, save_unchecked
from ..persistence.parts import Parts, assemble
from .test_section import FILES


def changed(name: str, edit) -> bytes:
    parts = Parts(FILES[name].read_bytes())
    edit(parts)
    parts.describe()
    return assemble(parts.text().encode(), parts.body(), parts.version)


def refuse(tmp_path, name: str, edit, words: str) -> None:
    file = tmp_path / "bad.budgetprune"
    file.write_bytes(changed(name, edit))
    for load in (BudgetPredictor.load, BudgetModel.load):
        with pytest.raises(InvalidInputError, match=words) as caught:
            load(file)
        assert str(caught.value).startswith(f"{file} cannot be loaded: ")


def put(name, place, number):
    """Set some entries of an array."""

    def edit(parts):
        parts.arrays[parts.index(name)][place] = number

    return edit


def change(name, how):
    """Replace an array."""

    def edit(parts):
        i = parts.index(name)
        parts.arrays[i] = how(parts.arrays[i])

    return edit


def head(**values):
    return lambda parts: parts.header["staged"].update(values)


def settings(**values):
    return lambda parts: parts.header["forest"].update(values)


def drop(name):
    def edit(parts):
        i = parts.index(name)
        del parts.table[i], parts.arrays[i]

    return edit


STAGES = "these are not valid stages: "
HARM = {
    "header": [
        (lambda p: p.header.update(staged={}), "header must have best, objective"),
        (lambda p: p.header.update(staged=[1]), "header must have best, objective"),
        (lambda p: p.header.pop("staged"), "header must have best, objective"),
        (head(more=1), "header must have best, objective, point, price"),
        (lambda p: p.header["staged"].pop("best"), "header must have"),
        (head(best=5), "best must be an integer from 0 to 4"),
        (head(best=-1), "best must be an integer"),
        (head(best=True), "best must be an integer"),
        (head(best=4.0), "best must be an integer"),
        (head(best=None), "best must be an integer"),
        (head(point="2"), "point must be an integer"),
        (head(point=[2]), "point must be an integer"),
        (head(point=2**63), "point must be an integer"),
        (head(objective="hinge"), "no objective 'hinge'"),
        (head(objective=["log loss"]), "no objective"),
        (head(objective={}), "no objective"),
        (head(objective="squared error"), "squared error for regression"),
        (head(price=2.0), "price must be 1 for classes"),
        (head(price=True), "price must be a number"),
        (head(price=0), "price must be a number above 0"),
        (head(price="1"), "price must be a number"),
        (lambda p: p.header["options"].update(slack=0.1), "one option, max_cost"),
        (lambda p: p.header.update(options={}), "one option, max_cost"),
        (lambda p: p.header["options"].update(max_cost=-1), "max_cost must not be negative"),
        (lambda p: p.header["options"].update(max_cost="9"), "max_cost must be a number"),
    ],
    "sizes": [
        (lambda p: p.table[p.index("staged.lam")].update(name="staged.more"), "unknown array, 'staged.more'"),
        (drop("staged.lam"), "lam must not be missing"),
        (change("staged.lam", lambda a: a[:, np.newaxis]), "lam must be one-dimensional"),
        (change("staged.base", lambda a: a[:, 0].copy()), "base must be two-dimensional"),
        (change("staged.lam", lambda a: a[:-1]), "lam must have an entry for each of 5 points"),
        (
            change("staged.scale", lambda a: np.append(a, 1.0)),
            "scale must have an entry for each of 7 stages",
        ),
        (change("staged.chain", lambda a: a.astype(np.int64)), "chain must be an array of int32"),
        (change("staged.chain", lambda a: a[:0]), "1 to 256 stages, not 0"),
        (change("staged.cost", lambda a: a[:0]), "there must be points"),
        (change("staged.decay", lambda a: a[:1]), "chain must grow"),
        (change("staged.decay", lambda a: a[:0]), "chain must grow"),
        (change("staged.decay", lambda a: np.append(a, 0.5)), "chain must grow"),
        (put("staged.chain", 0, -1), "chain must grow"),
        (put("staged.chain", 3, 2), "chain must grow"),
        (put("staged.chain", slice(None), [0, 0, 1, 1, 1, 1, 1]), "5 columns, as the longest chain"),
        (change("staged.base", lambda a: a[:, :2].copy()), "base must have 3 columns"),
        (change("staged.thresholds", lambda a: a[:, :3].copy()), "thresholds must have 4 columns"),
        (change("staged.stops", lambda a: np.pad(a, ((0, 0), (0, 1)))), "stops must have 4 columns"),
        (change("staged.error_costs", lambda a: a[:2, :2].copy()), "row and a column for each of the 3"),
    ],
    "points": [
        (put("staged.cost", 0, np.nan), "cost must be finite"),
        (put("staged.cost", -1, np.inf), "cost must be finite"),
        (put("staged.cost", 0, -1.0), "cost must not be negative"),
        (put("staged.cost", 1, 5.0), "in the order of their cost"),
        (put("staged.cost", -1, 18.6), "cost must not be above the price of all stages"),
        (put("staged.score", 0, np.nan), "score must be finite"),
        (put("staged.cost_std", 0, -0.1), "cost_std must not be negative"),
        (put("staged.score_std", 0, np.inf), "score_std must be finite"),
        (put("staged.loss", 0, np.nan), "loss must be finite"),
        (put("staged.lam", 0, -1.0), "lam must not be negative"),
        (put("staged.point_chain", 0, 2), "point_chain must be from 0 to 1"),
        (put("staged.point_chain", 0, -1), "point_chain must be from 0 to 1"),
        (put("staged.point_chain", 0, 1), "thresholds must be 0 after the last stage"),
        (put("staged.thresholds", (0, 0), np.nan), "thresholds must not be NaN"),
        (put("staged.thresholds", (4, 3), np.nan), "thresholds must be 0 after the last stage"),
        (put("staged.stops", (4, 3), 0.5), "stops must be 0 after the last stage"),
        (put("staged.stops", (0, 0), np.nan), "stops must be shares"),
        (put("staged.stops", (0, slice(None)), [1.5, 0.0, 0.0, -0.5]), "stops must be shares"),
        (put("staged.stops", (0, 0), 0.75), "stops must be shares that add up to 1"),
    ],
    "trees": [
        (put("staged.n_trees", 0, 0), "each stage must have trees"),
        (put("staged.n_trees", 0, -3), "each stage must have trees"),
        (put("staged.n_trees", slice(None), 2**62), "each stage must have trees"),
        (put("staged.n_trees", 0, 4), "stages must use all trees, each once"),
        (put("staged.n_spread_trees", 0, 1), "none for classes"),
        (put("staged.spread_base", 0, 1.0), "spread_base must be 0 for classes"),
        (put("staged.spread_base", 0, np.nan), "spread_base must be 0 for classes"),
        (put("staged.scale", 0, 0.0), "scale must be above 0"),
        (put("staged.scale", 0, 101.0), "scale must be above 0, up to 100"),
        (put("staged.scale", 0, np.nan), "scale must be above 0"),
        (put("staged.decay", 0, -0.1), "decay must be from 0 to 1"),
        (put("staged.decay", 0, 1.1), "decay must be from 0 to 1"),
        (put("staged.decay", 0, np.nan), "decay must be from 0 to 1"),
        (put("staged.base", (1, 0), np.nan), "base and spread_base must add up to at most"),
        (put("staged.base", (1, 0), np.inf), "base and spread_base must add up to at most"),
        (put("staged.base", (slice(1, None), 0), 9e303), "base and spread_base must add up to at most"),
        (put("staged.base", (0, 0), 0.75), "base must begin with the base of the forest"),
        (settings(divisor=2), "boosted, and not averaged"),
        (drop("forest.tree_round"), "boosted, and not averaged"),
        (settings(link="exp", loss=None), "link must be identity or softmax"),
        (drop("forest.classes"), "not a forest: without classes"),
        (put("forest.tree_round", -1, 2**31 - 2), "tree_round is too large"),
    ],
    "sources": [
        (put("staged.n_sources", 1, -1), "n_sources must add up"),
        (put("staged.n_sources", 1, 3), "n_sources must add up"),
        (put("staged.n_sources", slice(None), 2**62), "n_sources must add up"),
        (change("staged.sources", lambda a: np.append(a, a[:1])), "n_sources must add up"),
        (put("staged.sources", 0, 6), "sources must be numbers below 6"),
        (put("staged.sources", 0, -1), "sources must be numbers below 6"),
        (put("staged.sources", 0, 0), "a source must be bought once"),  # it costs nothing
        (put("staged.sources", 0, 4), "a source must be bought once"),
        (put("staged.sources", 2, 3), "a source must be bought once"),
        (put("staged.sources", 0, 1), "stage 1 tests a feature whose sources"),
        (put("staged.n_sources", slice(0, 2), [2, 0]), "first stage must not buy anything"),
        (put("staged.n_sources", slice(1, 3), [1, 3]), "stage 1 tests a feature whose sources"),
        (put("staged.n_sources", slice(1, 3), [3, 1]), "stage 1 buys a source, but tests no feature that"),
    ],
    "errors": [
        (put("staged.error_costs", (0, 0), 1.0), "must be 0 for right answers"),
        (put("staged.error_costs", (0, 1), -1.0), "error_costs must be finite, not negative"),
        (put("staged.error_costs", (0, 1), np.nan), "error_costs must be finite, not negative"),
        (put("staged.error_costs", (0, 1), 1e200), "error_costs must be .* at most 1e.100"),
        (put("staged.error_costs", slice(None), 0.0), "error_costs are all 0"),
    ],
}
REGRESSION = [
    (head(objective="error costs"), "squared error for regression"),
    (head(price=1e101), "price must be a number above 0, up to 1e.100"),
    (settings(link="exp", loss=None), "link must be identity"),
    (put("staged.n_spread_trees", 0, 0), "trees of the expected error for regression"),
    (put("staged.n_spread_trees", 0, -1), "trees of the expected error for regression"),
    (put("staged.n_spread_trees", slice(None), 2**62), "trees of the expected error for regression"),
    (put("staged.n_spread_trees", 0, 2), "all trees, each once"),
    (put("staged.spread_base", 0, np.nan), "base and spread_base must add up to at most"),
    (put("staged.spread_base", 0, -np.inf), "base and spread_base must add up to at most"),
    (change("staged.error_costs", lambda a: np.zeros((1, 1))), "error_costs must be empty"),
    (put("staged.sources", slice(None), [1, 4, 2, 5]), "stage 1 tests a feature whose sources"),
]


@pytest.mark.parametrize("part", HARM)
def test_files_that_mean_harm(tmp_path, part):
    """Their checksums fit."""
    for edit, words in HARM[part]:
        refuse(tmp_path, "staged", edit, words)


def test_files_that_mean_harm_by_regression(tmp_path):
    for edit, words in REGRESSION:
        refuse(tmp_path, "staged_regression", edit, words)


def test_spread_trees_are_checked_like_others(tmp_path):
    """The trees of the expected error test only what has been bought, too."""

    def test_early(parts):
        feature, start = (parts.arrays[parts.index(f"forest.{name}")] for name in ("feature", "tree_start"))
        n_trees = parts.arrays[parts.index("staged.n_trees")].sum()
        feature[start[n_trees]] = 2  # the first tree of an expected error

    refuse(tmp_path, "staged_regression", test_early, "stage 0 tests a feature whose sources")


def test_averaged_forests_are_no_stages(tmp_path):
    """A file whose forest answers with averaged probabilities."""
    stages, averaged = (
        Parts(FILES["staged"].read_bytes()),
        Parts((FOLDER / "averaged-1.budgetprune").read_bytes()),
    )

    def edit(parts):
        own = [i for i, entry in enumerate(parts.table) if entry["name"].startswith("staged.")]
        parts.header.update(forest=averaged.header["forest"], sources=averaged.header["sources"])
        parts.table = averaged.table + [stages.table[i] for i in own]
        parts.arrays = averaged.arrays + [stages.arrays[i] for i in own]

    refuse(tmp_path, "staged", edit, STAGES)


def test_large_sets_of_categories_are_not_copied_for_each_stage(tmp_path):
    """One set that all stages use would take its size many times over."""

    def share(parts):
        category_set = parts.arrays[parts.index("forest.category_set")]
        category_set[category_set >= 0] = 0
        for name, array in (("start", [0, 10**6]), ("bits", np.ones(10**6))):
            i = parts.index(f"forest.category_{name}")
            parts.arrays[i] = np.array(array).astype(parts.arrays[i].dtype)

    refuse(tmp_path, "staged", share, "stages must not share sets of categories")


def write_stages(file: Path, n: int) -> None:
    """Write chains of one stage each, all with the same single tree, unchecked."""
    model = STAGED["staged_binary"]().model
    stage, points = model.chains[0].stages[0], model.trade_off
    ones = tuple(np.ones((len(points), 1)))
    curve = replace(points, cost=0 * points.cost, thresholds=ones, stops=ones)
    chains = (Chain((stage,), 0.0, "logistic"),) * n
    content = write_content(replace(model, chains=chains, trade_off=curve))
    objects = objects_of(join_forests([stage.forest] * n), model.costs, {"max_cost": None})
    save_unchecked(file, 3, objects, content)


def test_many_stages_are_refused_before_they_are_made(tmp_path):
    """Each stage is a forest, which takes some kilobytes of memory, but only a hundred bytes of a file."""
    file = tmp_path / "m"
    write_stages(file, MOST_STAGES)
    predictor = BudgetPredictor.load(file)
    assert len(predictor.model.chains) == MOST_STAGES
    assert predictor.simulate(np.zeros((1, 3))).cost.tolist() == [0.0]
    write_stages(file, 20_000)
    tracemalloc.start()
    try:
        with pytest.raises(InvalidInputError, match="1 to 256 stages, not 20000"):
            BudgetPredictor.load(file)
        assert tracemalloc.get_traced_memory()[1] < 4 * file.stat().st_size
    finally:
        tracemalloc.stop()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", STAGED)
def test_extreme_numbers_that_are_allowed_give_finite_answers(name, tmp_path):
    """Answers, bases, prices and scales at the ends of their ranges: nothing overflows on the way."""

    def edit(parts):
        value, n = (
            parts.arrays[parts.index("forest.value")],
            parts.arrays[parts.index("forest.tree_start")].size,
        )
        value *= 4e303 / n / np.abs(value).max()
        parts.arrays[parts.index("forest.weight")][:] = 1e100
        base = parts.arrays[parts.index("staged.base")]
        base[1:] = 4e303 / base.size
        parts.arrays[parts.index("staged.scale")][:] = 100.0
        parts.arrays[parts.index("staged.decay")][:] = 1.0
        parts.arrays[parts.index("staged.error_costs")][:] *= 1e98
        if name == "staged_regression":
            parts.arrays[parts.index("staged.spread_base")][:] = [1e303, 1e303, -1e303]
            parts.header["staged"]["price"] = 1e100

    file = tmp_path / "m"
    file.write_bytes(changed(name, edit))
    predictor = BudgetPredictor.load(file)
    X = np.array([[0.0] * predictor.forest.n_features, [50.0] * predictor.forest.n_features])
    for budget in predictor.model.trade_off.cost.tolist():
        own = predictor.with_budget(budget)
        told = own.simulate(X)
        numbers = told.label if told.probabilities is None else told.probabilities
        assert np.isfinite(numbers).all()
        assert np.isfinite(told.cost).all()
        assert np.isfinite(own.model.objective.uncertainty(own._at_last_stage(X))).all()
        own.step({}, unavailable=own.source_names)


def test_messages_stay_short(tmp_path):
    """Whatever is in the file: it is not shown at full length."""
    file = tmp_path / "m"
    file.write_bytes(changed("staged", head(objective="x" * 10**6)))
    with pytest.raises(InvalidInputError) as caught:
        BudgetPredictor.load(file)
    assert len(re.sub(re.escape(str(file)), "", str(caught.value))) < 200


def test_scores_of_stages_are_for_all_stages(tmp_path):
    wrong = change("staged.stage_score", lambda a: a[:-1])
    refuse(tmp_path, "staged_scored", wrong, "stage_score must have an entry for each of 4 stages")
    flat = change("staged.stage_score", lambda a: a[np.newaxis])
    refuse(tmp_path, "staged_scored", flat, "stage_score must be one-dimensional")
