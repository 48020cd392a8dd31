"""One row at a time and many rows at once: the same answers for the same money."""

from __future__ import annotations

import asyncio
import itertools

import numpy as np
import pytest

from budgetprune import BudgetPredictor, InvalidInputError
from budgetprune.staged import StagedPredictor

from ..conftest import X_TEST

ROWS = 40


def some_budgets(model):
    curve = model.tradeoff_
    return curve.cost[np.linspace(0, len(curve) - 1, 4).astype(int)]


def row_of(i):
    return X_TEST.iloc[i].to_dict()


class AcquiredSources:
    """Gives the values of a source, and remembers what was asked for."""

    def __init__(self, predictor, row, lacking=()):
        self.predictor, self.row, self.lacking = predictor, row, lacking
        self.asked = []

    def __call__(self, source):
        self.asked.append(source)
        return {name: self.row[name] for name in self.predictor.features_of(source)}

    async def later(self, source):
        await asyncio.sleep(0)
        if source in self.lacking:
            raise OSError("not today")
        return self(source)


def bill(predictor, asked):
    price = dict(zip(predictor.source_names, predictor.costs.price.tolist(), strict=True))
    return sum(price.get(source, 0.0) for source in set(asked))


def test_a_simulation_costs_what_a_callback_is_asked_for(model):
    for budget in some_budgets(model):
        predictor = model.with_budget(float(budget)).predictor()
        simulation = predictor.simulate(X_TEST)
        for i in range(ROWS):
            acquired = AcquiredSources(predictor, row_of(i))
            decision = predictor.decide(acquired)
            assert decision.label == simulation.label[i]
            assert decision.cost == pytest.approx(simulation.cost[i], abs=1e-9)
            assert bill(predictor, acquired.asked) == pytest.approx(simulation.cost[i], abs=1e-9)
            assert len(acquired.asked) == len(set(acquired.asked))
            if decision.probabilities is not None:
                assert np.array_equal(decision.probabilities, simulation.probabilities[i])


def test_mappings_and_coroutines_decide_alike(model):
    predictor = model.predictor()
    for i in range(ROWS):
        row = row_of(i)
        one = predictor.decide(row)
        other = asyncio.run(predictor.adecide(AcquiredSources(predictor, row).later, concurrency=1))
        assert (one.label, one.cost, one.reason) == (other.label, other.cost, other.reason)
        assert set(one.acquired) == set(other.acquired)


def test_estimator_and_predictor_agree(model):
    simulation = model.predictor().simulate(X_TEST)
    assert np.array_equal(simulation.label, model.predict(X_TEST))
    assert simulation.cost == pytest.approx(model.acquisition_cost(X_TEST))
    if simulation.probabilities is not None:
        assert np.array_equal(simulation.probabilities, model.predict_proba(X_TEST))


def test_a_limit_holds_for_each_row(model):
    predictor = model.predictor()
    full = predictor.simulate(X_TEST)
    for limit in (0, 1, 3, 8, 15):
        simulation = predictor.simulate(X_TEST, max_cost=limit)
        assert simulation.cost.max() <= limit
        fits = full.cost <= limit
        assert np.array_equal(simulation.label[fits], full.label[fits])
        assert np.all(simulation.decided[fits])
        for i in range(0, ROWS, 7):
            decision = predictor.decide(AcquiredSources(predictor, row_of(i)), max_cost=limit)
            assert decision.cost == pytest.approx(simulation.cost[i])
            assert decision.label == simulation.label[i]
            assert decision.decided == simulation.decided[i]


def test_what_is_known_for_free_is_used(classifier):
    """Whoever has all values pays nothing, and gets the answer of the last stage."""
    predictor = classifier.predictor()
    everything = predictor.source_names
    simulation = predictor.simulate(X_TEST, known=everything)
    assert simulation.cost.max() == 0
    assert np.array_equal(simulation.label, predictor.predict(X_TEST))
    decision = predictor.decide({}, known=row_of(3))
    assert decision.cost == 0
    assert decision.label == simulation.label[3]


def test_sources_that_cannot_be_had_are_done_without(classifier):
    """Whatever is missing: the row goes on with what it has, within its money, and there is an answer."""
    predictor = classifier.predictor()
    paid = [s for s, price in zip(predictor.source_names, predictor.costs.price, strict=True) if price > 0]
    for n in range(1, 4):
        for lacking in itertools.combinations(paid, n):
            row = row_of(5)
            acquired = AcquiredSources(predictor, row, lacking)
            decision = asyncio.run(predictor.adecide(acquired.later, concurrency=1, on_error="skip"))
            assert set(decision.acquired) <= set(predictor.source_names)
            assert np.isfinite(decision.probabilities).all()
            assert decision.probabilities.sum() == pytest.approx(1)


def test_known_values_count_if_others_cannot_be_had(classifier):
    """Six values are known and one source is missing: the answer is not the bare prior."""
    predictor = classifier.predictor()
    first = next(stage.sources[0] for stage in classifier.stages_ if stage.sources)
    answers = []
    for value in (-3.0, 3.0):
        row = {"age": 50 - 4 * value, "pulse": 70 - 6 * value, "town": "Aix", "pressure": value}
        row |= {"iron": value, "marker": value, "noise": 0.0}
        known = {name: each for name, each in row.items() if name not in predictor.features_of(first)}
        decision = predictor.step({}, known=known, unavailable=[first])
        answers.append(decision.probabilities[1])
    assert answers[0] < 0.2 < 0.8 < answers[1]


def test_a_constant_is_answered_without_any_request(classifier):
    predictor = classifier.with_budget(0.0).predictor()
    acquired = AcquiredSources(predictor, row_of(0))
    decision = predictor.decide(acquired)
    assert decision.cost == 0
    assert bill(predictor, acquired.asked) == 0


def test_files_hold_everything(model, tmp_path):
    predictor = model.predictor()
    predictor.save(tmp_path / "m.budgetprune")
    again = BudgetPredictor.load(tmp_path / "m.budgetprune")
    assert isinstance(again, StagedPredictor)
    one, other = predictor.simulate(X_TEST), again.simulate(X_TEST)
    assert np.array_equal(one.label, other.label)
    assert np.array_equal(one.cost, other.cost)
    assert again.feature_names == predictor.feature_names
    assert again.max_cost == predictor.max_cost
    budget = float(model.tradeoff_.cost[len(model.tradeoff_) // 2])
    cheaper = again.with_budget(budget).simulate(X_TEST)
    assert np.array_equal(cheaper.label, model.with_budget(budget).predict(X_TEST))
    again.save(tmp_path / "again.budgetprune")
    assert (tmp_path / "again.budgetprune").read_bytes() == (tmp_path / "m.budgetprune").read_bytes()


@pytest.mark.parametrize("budget", [np.nan, np.inf, "3", True, -1])
def test_budgets_that_are_none(classifier, budget):
    with pytest.raises(InvalidInputError, match="budget"):
        classifier.predictor().with_budget(budget)


def test_a_file_of_a_pruned_model_names_the_class_that_loads_it(model, tmp_path):
    staged = model.predictor()
    staged.save(tmp_path / "staged")
    assert isinstance(StagedPredictor.load(tmp_path / "staged"), StagedPredictor)
    BudgetPredictor(staged.forest, staged.costs).save(tmp_path / "pruned")
    with pytest.raises(
        InvalidInputError, match=r"pruned cannot be loaded: .* load it with BudgetPredictor\.load"
    ):
        StagedPredictor.load(tmp_path / "pruned")
