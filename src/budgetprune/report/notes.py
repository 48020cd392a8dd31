"""Notes on the method of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from budgetprune.predictor import BudgetPredictor
from budgetprune.report.numbers import amount, joined, several
from budgetprune.report.words import Language
from budgetprune.utils.environment import VERSION

if TYPE_CHECKING:
    from budgetprune.model import About


def notes(
    predictor: BudgetPredictor, about: About | None, n_rows: int, n_path_rows: int, language: Language
) -> tuple[str, ...]:
    """Return sentences on data, method and settings."""
    said = [
        f"All numbers are counted on {several(n_rows, 'row')} of the data that this report was given. They "
        "mean something only if these rows had no part in training or choosing.",
        "Full cost counts all that a row needs on its ways through all trees. Decided cost counts what is "
        "bought, one after the other, until no tree can change the answer any more.",
        "Points of the path are prunings whose leaves answer as they were grown. Your model is one of these "
        "prunings; if its leaves were refitted, it mostly is better than the path beside it.",
        "Whoever chooses the best of many points by these rows will find it a little worse on others. "
        "± is what chance does in 19 of 20 samples of rows (two standard errors, row by row).",
    ]
    if n_path_rows < n_rows:
        said.append(
            f"Points of the path are measured on a random sample of {several(n_path_rows, 'row')}; your "
            f"model and {language.whole} on all {n_rows:,}."
        )
    said += _settings(predictor)
    if about is not None:
        said += _origin(about)
    said.append(f"Made with budgetprune {VERSION}.")
    return tuple(said)


def _settings(predictor: BudgetPredictor) -> list[str]:
    said = []
    if predictor.slack > 0:
        said.append(
            f"Predictions stop a little before certainty (slack {predictor.slack:g}), all points alike, so a "
            "few answers differ from those with all features."
        )
    if predictor.max_cost is not None:
        said.append(f"No row may cost more than {amount(predictor.max_cost)}, where costs are decided costs.")
    if predictor.threshold is not None and predictor.forest.classes is not None:
        said.append(
            f"The answer is {predictor.forest.classes[1]} if its probability is at least "
            f"{predictor.threshold:g}."
        )
    if predictor.tolerance is not None:
        said.append(f"A prediction is decided once it is known to within {predictor.tolerance:g}.")
    return said


def _origin(about: About) -> list[str]:
    grown = (
        f"{several(about.n_train, 'row')} grew the trees; "
        if about.n_train
        else "The trees were there already; "
    )
    said = [f"{grown}{several(about.n_validation, 'other row')} counted costs and made the choices."]
    if about.choices:
        said.append(f"Chosen by these: {about.choices.rstrip('.')}.")
    return said + made_with(about)


def made_with(about: About) -> list[str]:
    """Return the creation date of a model and the package versions."""
    made = [f"{name} {version}" for name, version in about.versions.items()]
    if about.created or made:
        by = f" with {joined(made)}" if made else ""
        return [f"The model was made on {about.created}{by}." if about.created else f"Made{by}."]
    return []
