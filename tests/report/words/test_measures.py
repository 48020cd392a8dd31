"""Measures as names and values, and sentences about probabilities and error costs."""

from __future__ import annotations

from dataclasses import replace

from budgetprune.report.summary.outcome import Calibration, ProbabilityMeasures
from budgetprune.report.words.measures import error_prices, fact_names, facts, probabilities

from ..handmade import REGRESSION, TERMS, outcome
from ..models import summary_of

MEASURED = ProbabilityMeasures(10, 0.9321, 0.4567, Calibration("yes", (), 0.0312))


def test_facts():
    priced = replace(summary_of("cancer"), unit="EUR", error_costs=((0.0, 5.0), (50.0, 0.0)))
    shown = outcome(probabilities=MEASURED, error_cost=1.515, cost=2.0)
    assert dict(zip(fact_names(priced), facts(TERMS, shown, 10), strict=True)) == {
        "Cost per prediction, EUR": "2.00",
        "Sources bought per row": "1.5",
        "Accuracy": "80.0 % ± 19.6",
        "Wrong rows": "2 of 10",
        "AUC": "0.932",
        "Log loss": "0.457",
        "Calibration error": "3.1 %",
        "Cost of errors per prediction, EUR": "1.51",
        "Total of both costs, EUR": "3.51",
    }
    one_class = replace(MEASURED, auc=None)
    assert "– (one class)" in facts(TERMS, outcome(probabilities=one_class), 10)
    numbers = outcome(confusion=None, n_wrong=None, mean_error=41.23)
    regression = summary_of("diabetes")
    assert dict(zip(fact_names(regression), facts(REGRESSION, numbers, 10), strict=True)) == {
        "Cost per prediction": "2.00",
        "Features bought per row": "1.5",
        "R²": "0.800 ± 0.196",
        "Off by, on average": "41.2",
    }


def test_probabilities():
    assert probabilities(TERMS, outcome(probabilities=MEASURED), 2) == (
        "The AUC is 0.932. The log loss is 0.457. Probabilities of yes differ from observed shares by 3.1 "
        "points on average (expected calibration error)."
    )
    several = replace(MEASURED, calibration=replace(MEASURED.calibration, label=None))
    text = probabilities(TERMS, outcome(probabilities=several), 3)
    assert "each against the rest" in text
    assert "of the predicted class" in text
    single = probabilities(TERMS, outcome(probabilities=replace(MEASURED, auc=None)), 2)
    assert single.startswith("There is no AUC, because all rows have the same class.")
    assert probabilities(REGRESSION, outcome(), 0) == ""


def test_prices_of_errors():
    summary = replace(summary_of("cancer"), unit="EUR", classes=("no", "yes"))

    def told(*costs):
        return error_prices(replace(summary, error_costs=costs))

    assert told((0.0, 5.0), (50.5, 0.0)) == "A wrong answer costs 5 EUR for no and 50.5 EUR for yes."
    assert told((0.0, 5.0), (5.0, 0.0)) == "A wrong answer costs 5 EUR."
    assert error_prices(summary) == ""
    assert error_prices(summary_of("priced numbers")) == "A unit of squared error costs 2.5."
    assert error_prices(summary_of("three classes")) == (
        "A wrong answer costs 2.5 to 20, depending on the truth and the prediction."
    )
