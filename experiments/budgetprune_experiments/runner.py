"""Run an experiment part by part, store each part, and write results, tables and figures."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits
from tqdm import tqdm

from budgetprune.errors import BudgetPruneError
from budgetprune.plotting.plots import new_figure
from budgetprune.utils.environment import machine, versions
from budgetprune.utils.files import check_writable, written_atomically
from budgetprune.utils.threads import kernel_threads
from budgetprune_experiments.experiment import Experiment, Options, Part, Record, Table
from budgetprune_experiments.store import PartStore, to_json
from budgetprune_experiments.tables import as_markdown

PACKAGES = (
    "budgetprune",
    "numpy",
    "scipy",
    "scikit-learn",
    "lightgbm",
    "ortools",
    "scikit-image",
    "matplotlib",
)
ROLES = ("n_train", "n_validation", "n_test")


class PartError(BudgetPruneError, RuntimeError):
    """Failure of a part of an experiment; `__cause__` is the original error."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """Result of an experiment: tables, and the files written."""

    tables: list[Table]
    files: list[Path]


def reproduce(
    experiment: Experiment, options: Options, *, tell: Callable[[str], None] | None = None
) -> Outcome:
    """Run all parts that are not stored yet, then summarise.

    Parameters
    ----------
    experiment : Experiment
    options : Options
    tell : callable, optional
        Gets a line about parts that are kept from an earlier run. Without it, there is no progress bar.

    Raises
    ------
    PartError
        If a part fails. Those before it are kept, and are not done again by the next call.
    """
    folder = options.out / experiment.name
    figure = new_figure(experiment.figure_size)  # fail early without matplotlib
    try:
        folder.mkdir(parents=True, exist_ok=True)
        check_writable(folder / "result.json")
    except OSError as error:
        raise OSError(
            f"results cannot go to {folder} ({error.strerror}); name another folder: --out"
        ) from error
    kept = _run_parts(experiment, options, PartStore(folder / "parts", experiment, options), tell)
    records = [record for part in kept for record in part["records"]]
    tables = experiment.tables(records, options)
    files = [folder / "result.json", folder / "table.md"]
    with written_atomically(files[0]) as handle:
        handle.write(to_json(_result(experiment, options, kept, records)) + b"\n")
    with written_atomically(files[1]) as handle:
        handle.write(_page(experiment, options, tables).encode())
    experiment.draw(records, options, figure)
    if figure.axes:
        files += [folder / "figure.png", folder / "figure.svg"]
        with written_atomically(files[2]) as handle:
            figure.savefig(handle, format="png", dpi=150)
        with written_atomically(files[3]) as handle:
            # Without a date, the same results are the same file.
            figure.savefig(handle, format="svg", metadata={"Date": None})
    return Outcome(tables, files)


def _run_parts(
    experiment: Experiment, options: Options, store: PartStore, tell: Callable[[str], None] | None
) -> list[Record]:
    parts = list(experiment.parts(options))
    store.check_keys(parts)
    found = {part.key: kept for part in parts if (kept := store.load(part)) is not None}
    if found and tell is not None:
        tell(f"{len(found)} of {len(parts)} parts are kept from an earlier run in {store.folder}")
    with (
        kernel_threads(options.jobs),
        threadpool_limits(options.jobs),
        tqdm(total=len(parts), initial=len(found), unit="part", disable=tell is None) as bar,
    ):
        for part in parts:
            if part.key not in found:
                bar.set_description(part.key)
                found[part.key] = _run_part(part, store)
                bar.update()
        bar.set_description(experiment.name)
    return [found[part.key] for part in parts]


def _run_part(part: Part, store: PartStore) -> Record:
    start = time.perf_counter()
    try:
        records = part.run()
    except Exception as error:
        raise PartError(f"part {part.key!r} failed: {type(error).__name__}: {error}") from error
    return store.save(part, records, round(time.perf_counter() - start, 3))


def _result(
    experiment: Experiment, options: Options, kept: Sequence[Record], records: Sequence[Record]
) -> Record:
    sizes = [{role: record[role] for role in ROLES if role in record} for record in records]
    return {
        "experiment": experiment.name,
        "title": experiment.title,
        "date": datetime.now(UTC).date().isoformat(),
        "substitute": experiment.substitute(options),
        "repeats": options.repeats,
        "quick": options.quick,
        "paper": options.paper,
        "jobs": options.jobs,
        "settings": experiment.settings(options),
        "seeds": sorted({record["seed"] for record in records if "seed" in record}),
        "split_sizes": _distinct(size for size in sizes if size),
        "versions": versions(PACKAGES),
        "machine": machine(),
        "seconds": round(sum(part["seconds"] for part in kept), 3),
        "parts": [{"key": part["key"], "seconds": part["seconds"]} for part in kept],
        "records": list(records),
    }


def _distinct(some: Iterator[Any]) -> list[Any]:
    different: list[Any] = []
    for one in some:
        if one not in different:
            different.append(one)
    return different


def _page(experiment: Experiment, options: Options, tables: Sequence[Table]) -> str:
    """Write the tables as a page of Markdown."""
    substitute = experiment.substitute(options)
    return "\n\n".join(
        [
            f"# {experiment.title}",
            *(["Quick run on tiny data: the numbers mean nothing."] if options.quick else []),
            *([f"Substitute: {substitute}"] if substitute else []),
            *(as_markdown(table) for table in tables),
            "",
        ]
    )
