"""Tables of a report: the measures of the models that matter most, and the classes of the delivered one."""

from __future__ import annotations

from typing import Any

from rich import box
from rich.markup import escape
from rich.table import Table


def summary_tables(content: dict[str, Any]) -> list[Table | str]:
    """Return the content of a report as tables for a terminal.

    Parameters
    ----------
    content : as returned by `budgetprune.report.to_json`
    """
    shown: list[Table | str] = [_measures(content)]
    if content["classes"] is not None:
        shown.append(_classes(content))
    rival = content["rival"]
    if rival is not None:
        shown.append(_outcome(rival, content["counting"])["words"]["verdict"])
    return [*shown, content["recommendation"]] if content["recommendation"] else shown


def _outcome(point: dict[str, Any], counting: str) -> dict[str, Any]:
    """Return results with one way to count costs; staged models have one only."""
    found: dict[str, Any] = point.get(counting) or point["decided"]
    return found


def _measures(content: dict[str, Any]) -> Table:
    """Return a table of measures: the delivered model, the recommended one, the reference, another model."""
    points, counting = content["points"], content["counting"]
    chosen = dict.fromkeys([content["delivered"], content["recommended"], len(points) - 1])
    columns = [(points[k]["name"], points[k]) for k in chosen if k is not None]
    if content["recommended"] not in (None, content["delivered"]):
        columns[1] = ("Recommended", columns[1][1])
    if content["rival"] is not None:
        columns.append((content["rival"]["name"], content["rival"]))
    way = "" if content.get("model") == "staged" else f", {counting} cost"
    table = _table(f"On {content['n_rows']:,} test rows{way}")
    table.add_column("")
    for name, _ in columns:
        table.add_column(escape(name), justify="right")
    for i, fact in enumerate(content["fact_names"]):
        table.add_row(fact, *[_outcome(point, counting)["facts"][i] for _, point in columns])
    return table


def _classes(content: dict[str, Any]) -> Table:
    """Return a table of recall and precision by class."""
    own = _outcome(content["points"][content["delivered"]], content["counting"])
    table = _table("Your model, by class")
    table.add_column("class")
    for name in ("rows", "recall", "precision"):
        table.add_column(name, justify="right")
    for name, measures in zip(content["named_classes"], own["by_class"], strict=True):
        shares = ["–" if measures[key] is None else f"{measures[key]:.1%}" for key in ("recall", "precision")]
        table.add_row(escape(name), f"{measures['n_rows']:,}", *shares)
    return table


def _table(title: str) -> Table:
    return Table(box=box.SIMPLE_HEAD, title=title, title_justify="left")
