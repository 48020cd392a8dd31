"""Staged models in files: what is saved is loaded to the last bit, now and from files of all versions."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from budgetprune import BudgetPredictor, InvalidInputError
from budgetprune.commands.inspect import description
from budgetprune.model import BudgetModel
from budgetprune.persistence.container import PREAMBLE
from budgetprune.staged import StagedPredictor
from budgetprune.staged.model.chain import Chain
from budgetprune.staged.model.objective import ErrorCostObjective, SquaredErrorObjective

from ..golden.staged_models import STAGED, staged_answers
from ..golden.write import FOLDER, with_path

FILES = {name: FOLDER / f"{name}-3.budgetprune" for name in STAGED}


# --- Golden files -------------------------------------------------------------------------------------------


def compare(found, known) -> None:
    """Compare JSON values: probabilities to 1e-12, since exp may differ in its last bit, others exactly."""
    if isinstance(known, dict):
        assert found.keys() == known.keys()
        for key, value in known.items():
            if key == "probabilities" and value is not None:
                np.testing.assert_allclose(found[key], value, rtol=0, atol=1e-12)
            else:
                compare(found[key], value)
    elif isinstance(known, list) and known and isinstance(known[0], dict):
        for one, other in zip(found, known, strict=True):
            compare(one, other)
    else:
        assert found == known


@pytest.mark.parametrize("name", STAGED)
def test_golden_files_predict_what_they_did(name):
    predictor = BudgetPredictor.load(FILES[name])
    assert isinstance(predictor, StagedPredictor)
    compare(staged_answers(predictor), json.loads(FILES[name].with_suffix(".json").read_text()))


@pytest.mark.parametrize("name", STAGED)
def test_golden_files_are_still_written(name, tmp_path):
    """Whoever changes what is written must count the version up, and write golden files of it."""
    STAGED[name]().save(tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == FILES[name].read_bytes()
    assert PREAMBLE.unpack_from(FILES[name].read_bytes())[1] == 3


@pytest.mark.parametrize("name", STAGED)
def test_a_loaded_model_is_saved_as_it_was(name, tmp_path):
    BudgetPredictor.load(FILES[name]).save(tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == FILES[name].read_bytes()


def test_a_model_and_its_description_are_kept_together(tmp_path):
    """`BudgetModel` saves a staged model as a staged model, with or without a description."""
    whole = BudgetModel.load(FILES["staged"])
    whole.save(tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == FILES["staged"].read_bytes()
    about = with_path().about
    replace(whole, about=about).save(tmp_path / "m")
    again = BudgetModel.load(tmp_path / "m")
    assert again.about == about
    assert isinstance(again.predictor, StagedPredictor)
    compare(staged_answers(BudgetPredictor.load(tmp_path / "m")), staged_answers(whole.predictor))


def test_a_staged_model_can_be_described():
    """`budgetprune inspect` tells its only setting."""
    assert description(BudgetModel.load(FILES["staged"]))["settings"] == {"max_cost": 18.5}


def test_unused_categories_and_rounds_are_not_saved(tmp_path):
    """A model gives the same file before and after it was loaded, whatever its forests hold in addition."""
    model = STAGED["staged"]().model
    stage = model.chains[0].stages[1]
    forest = stage.forest
    larger = replace(
        forest,
        category_start=np.append(forest.category_start, forest.category_bits.size + 3),
        category_bits=np.append(forest.category_bits, [1, 2, 3]),
        tree_round=forest.tree_round + 7,
    )
    stages = (model.chains[0].stages[0], replace(stage, forest=larger), *model.chains[0].stages[2:])
    changed = replace(model, chains=(Chain(stages, 0.5, "softmax"), model.chains[1]))
    StagedPredictor(changed, max_cost=18.5).save(tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == FILES["staged"].read_bytes()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda model: {"objective": SquaredErrorObjective(1e200)},
            "price must be a number above 0, up to 1e.100",
        ),
        (
            lambda model: {"trade_off": replace(model.trade_off, score=model.trade_off.score * np.inf)},
            "finite",
        ),
    ],
)
def test_a_model_that_could_not_be_loaded_is_not_saved(tmp_path, change, words):
    model = STAGED["staged_regression"]().model
    with pytest.raises(InvalidInputError, match=words):
        StagedPredictor(replace(model, **change(model))).save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_files_without_scores_of_stages():
    """They are loaded, and the scores are not known."""
    scores = {
        name: [stage.score for stage in BudgetPredictor.load(FILES[name]).model.stages()] for name in STAGED
    }
    assert np.isnan(scores["staged_binary"]).all()
    assert scores["staged_scored"] == [0.5, 0.625, 0.6875, 0.75]
    told = description(BudgetModel.load(FILES["staged_binary"]))["stages"]
    assert [stage["score"] for stage in told] == [None] * 4


def test_error_costs_of_zero_and_one_are_read_as_such():
    loaded = BudgetPredictor.load(FILES["staged_binary"]).model
    assert isinstance(loaded.answer, ErrorCostObjective)
    assert loaded.answer.cost.tolist() == [[0, 1], [1, 0]]
