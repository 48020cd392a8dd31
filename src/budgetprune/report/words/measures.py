"""Measures of an outcome as names and values; sentences about probabilities and error costs."""

from __future__ import annotations

from budgetprune.report.numbers import amount, joined, significant, trimmed_amount
from budgetprune.report.summary.common import SummaryBase
from budgetprune.report.summary.outcome import Outcome, ProbabilityMeasures
from budgetprune.report.words.terms import TWO_SIGMA, Terms, capitalised, count

MOST_PRICES = 6


def fact_names(summary: SummaryBase) -> tuple[str, ...]:
    """Return the names of the measures that `facts` returns."""
    unit = f", {summary.unit}" if summary.unit else ""
    names = [
        f"Cost per prediction{unit}",
        f"{capitalised(summary.source_kind)} bought per row",
        capitalised(summary.score_name),
    ]
    if summary.task == "classification":
        names += ["Wrong rows", "AUC", "Log loss", "Calibration error"]
    else:
        names.append("Off by, on average")
    if summary.error_costs is not None:
        names += [f"Cost of errors per prediction{unit}", f"Total of both costs{unit}"]
    return tuple(names)


def facts(terms: Terms, outcome: Outcome, n_rows: int) -> tuple[str, ...]:
    """Return the measures of an outcome as text, in the order of `fact_names`."""
    margin = TWO_SIGMA * outcome.score_error
    digits = f"± {100 * margin:.1f}" if terms.is_accuracy else f"± {margin:.3f}"
    texts = [amount(outcome.cost), count(outcome.n_acquired), f"{terms.score(outcome.score)} {digits}"]
    if outcome.confusion is None:
        texts.append(significant(outcome.mean_error or 0.0))
    else:
        texts.append(f"{outcome.n_wrong or 0:,} of {n_rows:,}")
        texts += _probability_facts(outcome.probabilities)
    if outcome.error_cost is not None:
        texts += [amount(outcome.error_cost), amount(outcome.cost + outcome.error_cost)]
    return tuple(texts)


def _probability_facts(measures: ProbabilityMeasures | None) -> list[str]:
    if measures is None:
        return ["–", "–", "–"]
    auc = "– (one class)" if measures.auc is None else f"{measures.auc:.3f}"
    return [auc, f"{measures.log_loss:.3f}", f"{100 * measures.calibration.error:.1f} %"]


def probabilities(terms: Terms, outcome: Outcome, n_classes: int) -> str:
    """Describe the quality of the class probabilities; empty for regression."""
    measures = outcome.probabilities
    if measures is None:
        return ""
    if measures.auc is None:
        auc = "There is no AUC, because all rows have the same class."
    else:
        against = "" if n_classes == 2 else ", the average over the classes, each against the rest"
        auc = f"The AUC is {measures.auc:.3f}{against}."
    label = measures.calibration.label
    whose = "of the predicted class" if label is None else f"of {label}"
    return (
        f"{auc} The log loss is {measures.log_loss:.3f}. Probabilities {whose} differ from observed shares "
        f"by {100 * measures.calibration.error:.1f} points on average (expected calibration error)."
    )


def error_prices(summary: SummaryBase) -> str:
    """Describe what a wrong answer costs; empty if errors have no price."""
    costs = summary.error_costs
    if costs is None:
        return ""

    def priced(cost: float) -> str:
        return f"{trimmed_amount(cost)} {summary.unit}".strip()

    if summary.classes is None:
        return f"A unit of squared error costs {priced(costs[0][0])}."
    by_class = [{cost for j, cost in enumerate(row) if j != i} for i, row in enumerate(costs) if len(row) > 1]
    prices = set().union(*by_class)
    if len(prices) == 1:
        return f"A wrong answer costs {priced(*prices)}."
    if max(map(len, by_class)) == 1 and len(by_class) <= MOST_PRICES:
        pairs = zip(summary.classes, by_class, strict=True)
        return f"A wrong answer costs {joined([f'{priced(*each)} for {name}' for name, each in pairs])}."
    return (
        f"A wrong answer costs {priced(min(prices))} to {priced(max(prices))}, depending on the truth and "
        "the prediction."
    )
