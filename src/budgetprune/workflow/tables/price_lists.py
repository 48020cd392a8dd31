"""Price lists: prices of columns and of sources that several columns share."""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from budgetprune.costs import PRICE_RANGE, FeatureCosts, is_price, join_first
from budgetprune.errors import InvalidInputError
from budgetprune.workflow.tables.arguments import setting
from budgetprune.workflow.tables.columns import Columns
from budgetprune.workflow.tables.reading import (
    is_workbook,
    open_text,
    read_header,
    reading_errors,
)
from budgetprune.workflow.tables.spreadsheets import escape_formula, unescape_formula
from budgetprune.workflow.tables.workbooks import read_workbook

if TYPE_CHECKING:
    import pandas as pd

_KNOWN = ("feature", "cost", "source", "note")
# With three digits after the comma, it may separate thousands.
_DECIMAL_COMMA = re.compile(r"[0-9]+,(?:[0-9]{1,2}|[0-9]{4,})")
_SEVERAL = ";"  # between the sources of a feature that needs more than one


@dataclass(frozen=True)
class PriceList:
    """Prices of columns and of shared sources, by name.

    Attributes
    ----------
    own : dict
        Column to its own price.
    shared : dict
        Source to its price, which is paid once per row.
    needs : dict
        Column to the shared sources, or other columns, that it also needs.
    """

    own: dict[str, float]
    shared: dict[str, float] = field(default_factory=dict)
    needs: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def check(
        self,
        names: Sequence[str],
        *,
        target: str,
        dropped: Collection[str],
        file: Any,
        others: Collection[str] | None = None,
    ) -> None:
        """Raise unless all features have a price, no other column has one, and all sources are needed.

        Parameters
        ----------
        names : features
        target : column that is predicted
        dropped : columns that are left out, which may have a price
        file : the price list, for messages
        others : for a model that exists, further columns of the data, which may have a price
            The list may then have sources that no feature needs, too: it may be made for other models.
        """
        allowed = {target, *dropped, *(others or ())}
        unknown = [name for name in self.own if name not in names and name not in allowed]
        if unknown:
            raise InvalidInputError(
                f"{file} has costs for columns that the data lacks: "
                f"{join_first(map(repr, unknown), at_most=20)}; correct these names, or delete the lines. "
                f"The columns are {join_first(map(repr, names), at_most=12)}."
            )
        if target in self.own:
            raise InvalidInputError(
                f"{file} has a cost for {target!r}, which is the target: it is predicted, not bought; delete "
                "the line."
            )
        idle = [name for name in self.shared if not any(name in each for each in self.needs.values())]
        if idle and others is None:
            raise InvalidInputError(
                f"{file} has a price for {join_first(map(repr, idle))}, which no feature needs; write it "
                "into the column source of those that do, or delete the line."
            )
        absent = [name for name in names if name not in self.own]
        if absent:
            raise InvalidInputError(
                f"{file} has no cost for {len(absent)} of {len(names)} columns: "
                f"{join_first(map(repr, absent), at_most=40)}; write one for each (0 if it is free), or "
                f"leave columns out: {setting('drop', absent[:1])}."
            )

    def for_features(self, names: Sequence[str]) -> FeatureCosts:
        """Return the costs of features, by name."""
        priced = [name for name in self.own if self.own[name] > 0]
        sources = {name: self._sources_of(name) for name in names}
        bought = set().union(*map(set, sources.values()))
        in_order = [name for name in priced if name in names or name in bought]
        return FeatureCosts.from_sources(
            {name: self.own[name] for name in in_order} | self.shared,
            sources,
        )

    def _sources_of(self, name: str) -> list[str]:
        """Return all sources that a column needs, those of its input columns included."""
        reached = [name, *_needed_by(name, self.needs)]
        return [each for each in reached if each in self.shared or self.own[each] > 0]


# --- Reading ------------------------------------------------------------------------------------------------


def read_price_list(file: str | os.PathLike[str]) -> PriceList:
    """Read a CSV or Excel file with the columns ``feature``, ``cost`` and, for shared prices, ``source``.

    A line with a feature has the cost of that column and the sources that it also needs, separated by
    semicolons; a source may be another column. A line without a feature has the price of a source::

        feature,cost,source
        age,0,
        TSH,4,blood draw
        T3,3,blood draw
        ,10,blood draw

    In an Excel file, or a file separated by semicolons or tabs, a cost may have a decimal comma (``2,5``).
    A name that begins like a formula may have a quote before it, as in `price_list_template`.
    """
    path = Path(file)
    if is_workbook(path):
        with reading_errors(path):
            frame, rows = read_workbook(path, as_text=None, sheet=None, sheet_option=None)
        places = [f"row {row}" for row in rows.tolist()]
        return _price_list(path, _entries_of(frame, path, places), has_decimal_commas=True)
    with reading_errors(path):
        separator, _ = read_header(path)
    entries = ((f"line {line}", entry) for line, entry in _entries(path))
    # In a file separated by commas, "2,5" in quotes may be a mistake.
    return _price_list(path, entries, has_decimal_commas=separator != ",")


def price_list_of(table: pd.DataFrame) -> PriceList:
    """Read a price list from a DataFrame with the columns of a price list file."""
    name = "the price list"
    return _price_list(name, _entries_of(table, name, [f"row {k + 1}" for k in range(len(table))]))


def _entries_of(
    table: pd.DataFrame, name: Path | str, places: Sequence[str]
) -> list[tuple[str, dict[str, str]]]:
    """Return the rows of a price list with their places; `name` is for messages."""
    header = [str(column).strip().lower() for column in table.columns]
    _check_header(name, header)
    text = table.astype(object).where(table.notna(), "")
    rows = text.map(str).itertuples(index=False, name=None)
    return [(place, dict(zip(header, row, strict=True))) for place, row in zip(places, rows, strict=True)]


def _price_list(
    path: Path | str, entries: Iterable[tuple[str, dict[str, str]]], *, has_decimal_commas: bool = False
) -> PriceList:
    """Parse the entries of a price list; `path` and the place of each entry are for messages."""
    own: dict[str, float] = {}
    shared: dict[str, float] = {}
    needs: dict[str, tuple[str, ...]] = {}
    empty: list[str] = []
    for place, entry in entries:
        name, written, several = (entry.get(key, "").strip() for key in ("feature", "cost", "source"))
        name, parts = unescape_formula(name), [part.strip() for part in several.split(_SEVERAL)]
        sources = tuple(dict.fromkeys(unescape_formula(part) for part in parts if part))
        if not name and not written and not sources:
            continue
        if not name and len(sources) != 1:
            raise InvalidInputError(
                f"{place} of {path} has no feature; write one, or the one source that the cost is for."
            )
        kind, key = (own, name) if name else (shared, sources[0])
        if key in kind:
            raise InvalidInputError(f"{place} of {path} has a second cost for {key!r}; delete one.")
        if not written:
            empty.append(key)
        if _DECIMAL_COMMA.fullmatch(written) and has_decimal_commas:
            written = written.replace(",", ".")
        kind[key] = _price(written, key, f"{place} of {path}") if written else math.nan
        if name and sources:
            needs[name] = sources
    if empty:
        raise InvalidInputError(
            f"{path} has no cost yet for {join_first(map(repr, empty), at_most=40)}; fill them in (0 if it "
            "is free)."
        )
    if not own:
        raise InvalidInputError(f"{path} has no costs; `budgetprune costs init` writes a list to fill in.")
    _check_sources(path, own, shared, needs)
    return PriceList(own, shared, needs)


def _entries(path: Path) -> Iterable[tuple[int, dict[str, str]]]:
    """Yield the lines of a price list with their numbers; fields missing at the end of a line are empty."""
    with reading_errors(path):
        separator, names = read_header(path)
        with open_text(path) as handle:
            reader = csv.reader(handle, delimiter=separator, skipinitialspace=True)
            lines = [(reader.line_num, fields) for fields in reader if any(fields)][1:]
    header = [name.lower() for name in names]
    while header and not header[-1]:  # spreadsheets also write empty columns
        header.pop()
    _check_header(path, header)
    for line, written in lines:
        fields = written[: len(header)] if not any(written[len(header) :]) else written
        if len(fields) > len(header):
            raise InvalidInputError(
                f"line {line} of {path} has {len(fields)} fields, but the first one has {len(header)}; put "
                "text with commas in quotes, and write 2.5 rather than 2,5."
            )
        yield line, dict(zip(header, fields, strict=False))


def _check_header(path: Path | str, header: Sequence[str]) -> None:
    unknown = [name for name in header if name not in _KNOWN]
    if "feature" not in header or "cost" not in header or unknown or len(set(header)) < len(header):
        raise InvalidInputError(
            f"{path} has the columns {join_first(map(repr, header), at_most=12)}, but a price list has "
            "'feature' and 'cost', and may have 'source' and 'note'."
        )


def _price(written: str, name: str, place: str) -> float:
    try:
        price = float(written.replace("_", "?"))  # float() accepts 1_000, which is probably an error
    except ValueError:
        price = math.nan
    if not 0 <= price < math.inf:
        hint = "; write a decimal point, and nothing between thousands" if "," in written else ""
        raise InvalidInputError(
            f"the cost of {name!r} in {place} is {written!r}, but must be a number of at least 0 (2.5, say)"
            f"{hint}."
        )
    if not is_price(price):
        raise InvalidInputError(
            f"the cost of {name!r} in {place} is {written!r}, but must be 0 or {PRICE_RANGE}; use "
            "another unit."
        )
    return price


def _check_sources(
    path: Path | str, own: dict[str, float], shared: dict[str, float], needs: dict[str, tuple[str, ...]]
) -> None:
    both = [name for name in shared if name in own]
    if both:
        raise InvalidInputError(
            f"{path} has {join_first(map(repr, both))} as a feature and as a source; rename the source."
        )
    for name, sources in needs.items():
        for source in sources:
            if source not in shared and source not in own:
                raise InvalidInputError(
                    f"{path} has no cost for {source!r}, which {name!r} needs; add a line "
                    f"`,<cost>,{source}` for it."
                )
        if name in _needed_by(name, needs):
            raise InvalidInputError(
                f"{path} says that {name!r} needs itself, through {join_first(map(repr, sources))}; a column "
                "that is computed from others must not be needed by them."
            )


def _needed_by(name: str, needs: dict[str, tuple[str, ...]]) -> list[str]:
    """Return everything that a feature needs, directly or indirectly."""
    found: dict[str, None] = {}
    ahead = list(needs.get(name, ()))
    while ahead:
        each = ahead.pop()
        if each not in found:
            found[each] = None
            ahead += needs.get(each, ())
    return list(found)


# --- Writing ------------------------------------------------------------------------------------------------


def price_list_template(columns: Columns, *, escape_formulas: bool = True) -> str:
    """Return a price list without costs: a line for each column, with a note on its values.

    Parameters
    ----------
    columns : Columns
    escape_formulas : bool
        Put a quote before names that a spreadsheet would run as formulas; `read_price_list` removes it.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_KNOWN)
    for name, is_categorical in zip(columns.names, columns.is_categorical, strict=True):
        written = escape_formula(name) if escape_formulas else name
        writer.writerow([written, "", "", _note(columns.frame[name], is_categorical)])
    return text.getvalue()


def _note(column: Any, is_categorical: bool) -> str:
    if is_categorical:
        labels = column.cat.categories.tolist()
        what = f"{len(labels)} categories: {', '.join(map(str, labels[:4]))}" + (
            ", ..." if labels[4:] else ""
        )
    elif column.count():
        what = f"numbers from {column.min():.6g} to {column.max():.6g}"
    else:
        return "always missing"
    share = column.isna().mean()
    return what + (f"; {100 * share:.2g} % missing" if share else "")
