"""Measure budgetprune against its peers, print one table, and save the results as JSON."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import large
from benchmarks.measure import BenchmarkError
from benchmarks.report import Report, Section
from benchmarks.rows import ROWS, Bench
from benchmarks.shapes import DATA, Setting, settings


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks from a terminal."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("output/bench.json"), help="JSON file (%(default)s)")
    parser.add_argument(
        "--repeats",
        type=int,
        default=5,
        help="repeats of short measurements, of which the median is reported (%(default)s)",
    )
    parser.add_argument("--only", nargs="+", choices=ROWS, metavar="ROW", help=f"some of: {', '.join(ROWS)}")
    parser.add_argument("--quick", action="store_true", help="smoke test with 1/20 of the rows")
    parser.add_argument("--large", action="store_true", help="the large setting instead; takes long")
    parser.epilog = f"Real MiniBooNE and Covertype are measured too if the folder {DATA} names has them."
    options = parser.parse_args(arguments)
    if options.repeats < 1:
        parser.error(f"--repeats must be at least 1, not {options.repeats}")
    if options.large and options.only:
        parser.error("--only chooses among the rows of the standard settings; leave it out with --large")
    if options.out.is_dir():
        parser.error(f"--out must be a file, but {options.out} is a folder")
    try:
        if options.large:
            sections = [large.measure(options.quick)]
        else:
            sections = standard(options.only or list(ROWS), options.repeats, options.quick)
        report = Report.of(sections, options.quick)
        report.save(options.out)
    except (BenchmarkError, OSError) as error:
        print(f"{parser.prog}: error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ninterrupted; nothing was written", file=sys.stderr)
        return 130
    print(f"{report.table()}\n\nThe figures are in {options.out}")
    return 0


def standard(names: list[str], repeats: int, quick: bool) -> list[Section]:
    """Measure the rows of the table on every available setting."""
    return [_measure(setting, names, repeats, quick) for setting in list(settings())]


def _measure(setting: Setting, names: list[str], repeats: int, quick: bool) -> Section:
    print(setting.name, file=sys.stderr)
    bench = Bench(setting.grow(quick), repeats)
    return Section(setting.name, bench.size, [row for name in names for row in ROWS[name](bench)])


if __name__ == "__main__":
    sys.exit(main())
