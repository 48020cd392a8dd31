"""Names and formats that the sentences of a report use."""

from __future__ import annotations

from dataclasses import dataclass

from budgetprune.report.numbers import amount
from budgetprune.report.summary.common import SummaryBase
from budgetprune.report.summary.values import FeatureValues, Value

# About two standard errors: a 95 % interval.
TWO_SIGMA = 1.96


@dataclass(frozen=True)
class Terms:
    """Names and formats of one report.

    Attributes
    ----------
    score_name : str
    is_accuracy : bool
        Whether scores are shown in per cent.
    unit : str
        Unit of cost; may be empty.
    sources : str
        Plural noun for sources.
    reference : str
        Name of the model that points are compared with.
    class_names : tuple of str or None
        Rows and columns of the confusion matrix.
    """

    score_name: str
    is_accuracy: bool
    unit: str
    sources: str
    reference: str
    class_names: tuple[str, ...] | None

    def score(self, score: float) -> str:
        return f"{100 * score:.1f} %" if self.is_accuracy else f"{score:.3f}"

    def score_difference(self, difference: float) -> str:
        """Format an absolute difference of scores; empty if it rounds to zero."""
        if self.is_accuracy:
            text = f"{abs(100 * difference):.1f}"
            unit = "point" if text == "1.0" else "points"
        else:
            text, unit = f"{abs(difference):.3f}", f"of {self.score_name}"
        return f"{text} {unit}" if float(text) else ""

    def comparison(self, gained: float, gained_error: float) -> tuple[str, str]:
        """Format a difference of scores and its margin of error."""
        margin = self.score_difference(TWO_SIGMA * gained_error) or "0"
        side = "better" if gained > 0 else "worse"
        return f"{self.score_difference(gained) or 'slightly'} {side}", f"± {margin}"

    def cost(self, cost: float) -> str:
        return f"{amount(cost)} {self.unit}".strip()

    @property
    def source(self) -> str:
        """Singular noun for sources."""
        return self.sources.removesuffix("s")

    def n_sources(self, number: float) -> str:
        """Format a number of sources."""
        text = count(number)
        return f"{text} {self.source if text == '1' else self.sources}"


def terms_of(summary: SummaryBase, reference: str) -> Terms:
    """Return the terms of a report."""
    return Terms(
        score_name=summary.score_name,
        is_accuracy=summary.task == "classification",
        unit=summary.unit,
        sources=summary.source_kind,
        reference=reference,
        class_names=matrix_names(summary),
    )


def matrix_names(summary: SummaryBase) -> tuple[str, ...] | None:
    """Return the names of the rows of the confusion matrix; None for regression."""
    if summary.classes is None:
        return None
    others = ["other labels"] * summary.has_other_classes
    unknown = ["unknown to the model"] * summary.has_unknown_classes
    return (*summary.classes, *others, *unknown)


def title(summary: SummaryBase) -> str:
    """Return the title of the page."""
    return summary.title or f"Predicting {summary.target or 'the target'} on a budget"


def capitalised(text: str) -> str:
    """Return a string with a capital first letter."""
    return text[0].upper() + text[1:]


def count(number: float) -> str:
    """Format an average number of sources."""
    return f"{number:.1f}".removesuffix(".0")


def value_text(value: Value) -> str:
    """Format a value, a label or a target."""
    if value is None:
        return "missing"
    return f"{value:.4g}" if isinstance(value, float) else value


def values_text(values: FeatureValues) -> str:
    """Format values with their names."""
    texts = [f"{each.name} {value_text(each.value)}" for each in values.shown]
    more = f" and {values.n_more} more" if values.n_more else ""
    return ", ".join(texts) + more
