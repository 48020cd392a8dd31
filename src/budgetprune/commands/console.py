"""Output of commands: progress and notes on standard error, results on standard output."""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console as RichConsole
from rich.table import Table

from budgetprune.errors import BudgetWarning, InvalidInputError
from budgetprune.utils.files import is_standard_output


class Console:
    """Print progress, notes and results.

    Parameters
    ----------
    quiet : print only errors
    as_json : print one JSON object on standard output and nothing else
    out : output file of the command, if any; if it is standard output, nothing else is printed there
    """

    def __init__(self, *, quiet: bool = False, as_json: bool = False, out: Path | None = None) -> None:
        self.quiet, self.as_json = quiet, as_json
        self._has_output_file = is_standard_output(out)
        if as_json and self._has_output_file:
            raise InvalidInputError(
                f"--json and --out {out} both write to standard output; leave one out, or name another file."
            )

    @property
    def has_bars(self) -> bool:
        """Whether progress bars are shown."""
        return not self.quiet and sys.stderr.isatty()

    @contextmanager
    def stage(self, what: str, *, bars: bool = False) -> Iterator[None]:
        """Print the start and the duration of a stage; warnings inside become notes.

        Parameters
        ----------
        what : description of the stage
        bars : whether the stage shows progress bars
        """
        begin, has_bars = time.perf_counter(), bars and self.has_bars
        self._say(f"{what} ...", end="\n" if has_bars else "")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", BudgetWarning)
            try:
                yield
            except BaseException:
                if not has_bars:
                    self._say("")  # ends the line of the stage; bars end their own
                raise
        self._say(f"{'...' if has_bars else ''} {time.perf_counter() - begin:.1f} s")
        for warning in caught:
            if issubclass(warning.category, BudgetWarning):
                self.note(str(warning.message))

    def note(self, message: str) -> None:
        """Print a note."""
        self._say(f"note: {' '.join(message.split())}")

    def _say(self, line: str, end: str = "\n") -> None:
        if not self.quiet:
            print(line, end=end, file=sys.stderr, flush=True)

    def show(self, *lines: str | Table) -> None:
        """Print text and tables."""
        if self.quiet or self.as_json:
            return
        rich = RichConsole(highlight=False, soft_wrap=True, stderr=self._has_output_file)
        for line in lines:
            rich.print(line, markup=False) if isinstance(line, str) else rich.print(line)

    def result(self, result: Mapping[str, Any]) -> None:
        """Print the result as JSON; other types, such as dates, become strings."""
        if self.as_json:
            print(json.dumps(result, ensure_ascii=False, allow_nan=False, default=str))
