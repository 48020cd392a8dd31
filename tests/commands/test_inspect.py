"""``budgetprune inspect``: what is in a model file."""

from __future__ import annotations

from budgetprune.model import BudgetModel


def test_what_is_in_a_model(files, run):
    told = run("inspect", files.model, "--json").json
    model = BudgetModel.load(files.model)
    assert told["about"] == model.about.to_json()
    assert told["path_points"] == len(model.path)
    assert (
        sum(each["splits"] for each in told["features"]) == told["splits"] == model.predictor.forest.n_splits
    )
    lab = next(each for each in told["features"] if each["name"] == "lab")
    assert (lab["needs"], lab["price_alone"], lab["categories"]) == (["lab", "blood draw"], 9, None)
    shown = run("inspect", files.model).out
    for words in ("Target 'ill'", "budget 13.5 (full cost)", "300 test rows", "blood draw", "Aix"):
        assert words in shown
    assert run("inspect", files.model, "--quiet") == (0, "", "")
