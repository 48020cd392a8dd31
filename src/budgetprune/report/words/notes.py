"""Notes on data, method and settings of a report."""

from __future__ import annotations

from budgetprune.report.numbers import amount, joined, several
from budgetprune.report.summary.common import Origin
from budgetprune.report.summary.pruned import Summary
from budgetprune.report.summary.staged import StagedSummary
from budgetprune.report.words.pruned import pruned_terms
from budgetprune.report.words.staged import staged_terms


def pruned_notes(summary: Summary) -> tuple[str, ...]:
    """Return the notes of a pruned model's report."""
    notes = [
        f"All numbers are counted on {several(summary.n_rows, 'row')} of the data that this report was "
        "given. They mean something only if these rows had no part in training or choosing.",
        "Full cost counts all that a row needs on its ways through all trees. Decided cost counts what is "
        "bought, one after the other, until no tree can change the answer any more.",
        "Points of the path are prunings whose leaves answer as they were grown. Your model is one of these "
        "prunings; if its leaves were refitted, it mostly is better than the path beside it.",
        "Whoever chooses the best of many points by these rows will find it a little worse on others. "
        "± is what chance does in 19 of 20 samples of rows (two standard errors, row by row).",
    ]
    if summary.n_sample_rows < summary.n_rows:
        notes.append(
            f"Points of the path are measured on a random sample of {several(summary.n_sample_rows, 'row')}; "
            f"your model and {pruned_terms(summary).reference} on all {summary.n_rows:,}."
        )
    notes += _settings(summary)
    if summary.origin is not None:
        notes += _pruned_origin(summary.origin)
    return (*notes, f"Made with budgetprune {summary.version}.")


def _settings(summary: Summary) -> list[str]:
    settings, notes = summary.settings, []
    if settings.slack > 0:
        notes.append(
            f"Predictions stop a little before certainty (slack {settings.slack:g}), all points alike, so a "
            "few answers differ from those with all features."
        )
    if summary.max_cost is not None:
        notes.append(f"No row may cost more than {amount(summary.max_cost)}, where costs are decided costs.")
    if settings.threshold_label is not None:
        notes.append(
            f"The answer is {settings.threshold_label} if its probability is at least {settings.threshold:g}."
        )
    if settings.tolerance is not None:
        notes.append(f"A prediction is decided once it is known to within {settings.tolerance:g}.")
    return notes


def _pruned_origin(origin: Origin) -> list[str]:
    grown = (
        f"{several(origin.n_train, 'row')} grew the trees; "
        if origin.n_train
        else "The trees were there already; "
    )
    notes = [f"{grown}{several(origin.n_validation, 'other row')} counted costs and made the choices."]
    return notes + _choices_and_date(origin)


def staged_notes(summary: StagedSummary) -> tuple[str, ...]:
    """Return the notes of a staged model's report."""
    notes = [
        f"All numbers are counted on {several(summary.n_rows, 'row')} of the data that this report was "
        "given, unless they are said to be from cross-fitting. They mean something only if these rows had no "
        "part in training.",
        "The comparison is with the same model, on the same rows: if every row buys all sources of the "
        "stages that your model uses, and is answered by the last stage.",
        "What going on saves is measured by the true answers of these rows. The stopping rule does not know "
        "them: it compares the uncertainty of a row with a threshold that was learnt from training rows by "
        "cross-fitting.",
        "Choose a budget by the dotted blue line, which is from cross-fitting. The best of many points on "
        "these rows will be a little worse on others. ± is what chance does in 19 of 20 samples of rows (two "
        "standard errors, row by row).",
    ]
    if summary.n_sample_rows < summary.n_rows:
        notes.append(
            f"Other points are measured on a random sample of {several(summary.n_sample_rows, 'row')}; your "
            f"model and {staged_terms(summary).reference} on all {summary.n_rows:,}."
        )
    if summary.n_unknown:
        verb = "has" if summary.n_unknown == 1 else "have"
        notes.append(
            f"{several(summary.n_unknown, 'row')} of the data {verb} a label that the model does not know. "
            "Every answer to them counts as wrong; a price of errors is not defined for them."
        )
    if summary.loss_kind == "squared error":
        notes.append("An expected error is the root of the squared error that a stage expects of its answer.")
    if summary.max_cost is not None:
        notes.append(f"No row may cost more than {amount(summary.max_cost)}.")
    if summary.origin is not None:
        if summary.origin.n_train:
            trained = several(summary.origin.n_train, "row")
            notes.append(f"{trained} trained the model, and were cross-fitted.")
        notes += _choices_and_date(summary.origin)
    return (*notes, f"Made with budgetprune {summary.version}.")


def _choices_and_date(origin: Origin) -> list[str]:
    """Return the selected settings, the creation date and the package versions."""
    notes = [f"Chosen by these: {origin.choices.rstrip('.')}."] if origin.choices else []
    packages = [f"{name} {version}" for name, version in origin.versions.items()]
    if origin.created or packages:
        by = f" with {joined(packages)}" if packages else ""
        notes.append(f"The model was made on {origin.created}{by}." if origin.created else f"Made{by}.")
    return notes
