"""Notes on data, method and settings of a report."""

from __future__ import annotations

from budgetprune.report.numbers import amount, joined, pluralize
from budgetprune.report.summary.common import Origin
from budgetprune.report.summary.pruned import Summary
from budgetprune.report.summary.staged import StagedSummary
from budgetprune.report.words.pruned import pruned_terms
from budgetprune.report.words.staged import staged_terms


def pruned_notes(summary: Summary) -> tuple[str, ...]:
    """Return the notes of a pruned model's report."""
    notes = [
        f"All numbers are measured on the {pluralize(summary.n_rows, 'row')} of the given data. They are "
        "valid only if these rows were not used for training or model selection.",
        "Full cost is the cost of every source on a row's paths through all trees. Decided cost is the cost "
        "of the sources acquired one after the other until the answer is certain.",
        "Points of the path are prunings with leaf values as grown. Your model is one of these prunings; if "
        "its leaves were refitted, it is usually better than the path at the same cost.",
        "The point that is best on these rows will be a little worse on other rows. ± is a 95 % interval of "
        "the random error (two standard errors, row by row).",
    ]
    if summary.n_sample_rows < summary.n_rows:
        notes.append(
            f"Points of the path are measured on a random sample of {pluralize(summary.n_sample_rows, 'row')}"
            f"; your model and {pruned_terms(summary).reference} on all {summary.n_rows:,}."
        )
    notes += _settings(summary)
    if summary.origin is not None:
        notes += _pruned_origin(summary.origin)
    return (*notes, f"Made with budgetprune {summary.version}.")


def _settings(summary: Summary) -> list[str]:
    settings, notes = summary.settings, []
    if settings.slack > 0:
        notes.append(
            f"At all points, predictions stop a little before certainty (slack {settings.slack:g}), so a few "
            "answers differ from those with all features."
        )
    if summary.max_cost is not None:
        notes.append(f"The decided cost of a row is limited to {amount(summary.max_cost)}.")
    if settings.threshold_label is not None:
        notes.append(
            f"The answer is {settings.threshold_label} if its probability is at least {settings.threshold:g}."
        )
    if settings.tolerance is not None:
        notes.append(f"A prediction is decided once it is known to within {settings.tolerance:g}.")
    return notes


def _pruned_origin(origin: Origin) -> list[str]:
    grown = (
        f"The trees were trained on {pluralize(origin.n_train, 'row')}; "
        if origin.n_train
        else "The trees were trained elsewhere; "
    )
    validation = pluralize(origin.n_validation, "other row")
    notes = [f"{grown}costs were measured and the model was selected on {validation}."]
    return notes + _choices_and_date(origin)


def staged_notes(summary: StagedSummary) -> tuple[str, ...]:
    """Return the notes of a staged model's report."""
    notes = [
        f"All numbers are measured on the {pluralize(summary.n_rows, 'row')} of the given data, except those "
        "marked as cross-fitted. They are valid only if these rows were not used for training.",
        "The reference is the same model on the same rows, if every row acquires all sources of the stages "
        "that your model uses, and the last stage predicts.",
        "The saving from further stages is measured with the true labels of these rows. The stopping rule "
        "does not know the labels: it compares the uncertainty of a row with a threshold that was learnt "
        "from training rows by cross-fitting.",
        "Choose a budget by the dotted blue line, which is cross-fitted. The point that is best on these "
        "rows will be a little worse on other rows. ± is a 95 % interval of the random error (two standard "
        "errors, row by row).",
    ]
    if summary.n_sample_rows < summary.n_rows:
        notes.append(
            f"Other points are measured on a random sample of {pluralize(summary.n_sample_rows, 'row')}; "
            f"your model and {staged_terms(summary).reference} on all {summary.n_rows:,}."
        )
    if summary.n_unknown:
        verb = "has" if summary.n_unknown == 1 else "have"
        notes.append(
            f"{pluralize(summary.n_unknown, 'row')} of the data {verb} a label that the model does not know. "
            "Every answer to them counts as wrong; the cost of errors is not defined for them."
        )
    if summary.loss_kind == "squared error":
        notes.append("The expected error is the root of the squared error that a stage expects.")
    if summary.max_cost is not None:
        notes.append(f"The cost of a row is limited to {amount(summary.max_cost)}.")
    if summary.origin is not None:
        if summary.origin.n_train:
            trained = pluralize(summary.origin.n_train, "row")
            notes.append(f"The model was trained on {trained}, with cross-fitting.")
        notes += _choices_and_date(summary.origin)
    return (*notes, f"Made with budgetprune {summary.version}.")


def _choices_and_date(origin: Origin) -> list[str]:
    """Return the selected settings, the creation date and the package versions."""
    notes = [f"Settings selected: {origin.choices.rstrip('.')}."] if origin.choices else []
    packages = [f"{name} {version}" for name, version in origin.versions.items()]
    if origin.created or packages:
        by = f" with {joined(packages)}" if packages else ""
        notes.append(f"The model was made on {origin.created}{by}." if origin.created else f"Made{by}.")
    return notes
