"""Notes on the method of a staged model's report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from budgetprune.report.judge import Judge
from budgetprune.report.notes import made_with
from budgetprune.report.numbers import amount, several
from budgetprune.report.staged.words import StagedLanguage
from budgetprune.utils.environment import VERSION

if TYPE_CHECKING:
    from budgetprune.model import About


def notes(judge: Judge, n_point_rows: int, about: About | None, language: StagedLanguage) -> tuple[str, ...]:
    """Return sentences on data, method and settings."""
    n_rows = len(judge)
    said = [
        f"All numbers are counted on {several(n_rows, 'row')} of the data that this report was given, unless "
        "they are said to be from cross-fitting. They mean something only if these rows had no part in "
        "training.",
        "The comparison is with the same model, on the same rows: if every row buys all sources of the "
        "stages that your model uses, and is answered by the last stage.",
        "What going on saves is measured by the true answers of these rows. The stopping rule does not know "
        "them: it compares the uncertainty of a row with a threshold that was learnt from training rows by "
        "cross-fitting.",
        "Choose a budget by the dotted blue line, which is from cross-fitting. The best of many points on "
        "these rows will be a little worse on others. ± is what chance does in 19 of 20 samples of rows (two "
        "standard errors, row by row).",
    ]
    if n_point_rows < n_rows:
        said.append(
            f"Other points are measured on a random sample of {several(n_point_rows, 'row')}; your model and "
            f"{language.whole} on all {n_rows:,}."
        )
    n_unknown = 0 if judge.classes is None else int((judge.truth < 0).sum())
    if n_unknown:
        said.append(
            f"{several(n_unknown, 'row')} of the data {'has' if n_unknown == 1 else 'have'} a label that the "
            "model does not know. Every answer to them counts as wrong; a price of errors is not defined for "
            "them."
        )
    if language.loss_kind == "squared error":
        said.append("An expected error is the root of the squared error that a stage expects of its answer.")
    if language.max_cost is not None:
        said.append(f"No row may cost more than {amount(language.max_cost)}.")
    if about is not None:
        if about.n_train:
            said.append(f"{several(about.n_train, 'row')} trained the model, and were cross-fitted.")
        if about.choices:
            said.append(f"Chosen by these: {about.choices.rstrip('.')}.")
        said += made_with(about)
    said.append(f"Made with budgetprune {VERSION}.")
    return tuple(said)
