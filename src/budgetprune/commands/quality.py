"""Table of the quality of labels and probabilities on test rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from budgetprune.model import BudgetModel, Quality

# Most classes with recall and precision.
MOST_CLASSES = 10


def quality_tables(model: BudgetModel, whole: str) -> list[Table]:
    """Return a table of AUC, log loss, calibration, recall and precision; none without test rows and classes.

    Parameters
    ----------
    model : BudgetModel
    whole : name of the model that it is compared with
    """
    compared = None if model.about is None else model.about.compared
    if compared is None or compared.whole.quality is None or compared.chosen.quality is None:
        return []
    s = "" if compared.n_rows == 1 else "s"
    table = Table(
        box=box.SIMPLE_HEAD,
        title=f"Labels and probabilities on {compared.n_rows:,} test row{s}",
        title_justify="left",
    )
    table.add_column("")
    for name in (whole, "your model"):
        table.add_column(name, justify="right")
    columns = _measures(compared.whole.quality), _measures(compared.chosen.quality)
    for name, text in columns[0].items():
        table.add_row(escape(name), text, columns[1][name])
    return [table]


def _measures(quality: Quality) -> dict[str, str]:
    """Return the measures by name; of many classes, some have no recall and precision."""
    found = {
        "AUC": "–" if quality.auc is None else f"{quality.auc:.4f}",
        "log loss": f"{quality.log_loss:.4f}",
        "calibration error": f"{100 * quality.calibration_error:.1f} %",
    }
    by_rows = sorted(quality.by_class, key=lambda each: -each.n_rows)[:MOST_CLASSES]
    for each in [each for each in quality.by_class if each in by_rows]:
        rows = f"{each.label} ({each.n_rows:,} rows)" if each.n_rows != 1 else f"{each.label} (1 row)"
        found[f"recall of {rows}"] = _share(each.recall)
        found[f"precision of {each.label}"] = _share(each.precision)
    return found


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"
