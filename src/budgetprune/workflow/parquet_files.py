"""`predict_files`: predictions for the rows of Parquet files, part by part, in this process or with Ray."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

from budgetprune.distributed import ParquetRows
from budgetprune.errors import InvalidInputError
from budgetprune.model import BudgetModel
from budgetprune.utils.files import written_atomically
from budgetprune.utils.optional_ray import import_ray
from budgetprune.utils.threads import THREADS_VARIABLE
from budgetprune.workflow.batches import predict_batches
from budgetprune.workflow.predictions import inputs_of

ENGINES = ("local", "ray")
# Rows of one output file, and of one batch within it.
PART_ROWS = 2**20
BATCH_ROWS = 2**16
MANIFEST = "_budgetprune.json"
# Tasks that wait for a processor, for each one that runs.
QUEUED = 2


@dataclass(frozen=True)
class PredictSettings:
    """Settings of predictions, see `predict_batches`."""

    keep: tuple[str, ...] = ()
    full: bool = False
    max_cost: float | None = None


class Part(NamedTuple):
    """Rows of one output file."""

    number: int
    first: int
    last: int

    @property
    def name(self) -> str:
        """Name of the output file; names sort in the order of the rows."""
        return f"part-{self.number:06d}.parquet"


class PartSummary(NamedTuple):
    """Number of rows, sum and maximum of their costs, and number of decided rows of a part."""

    n_rows: int
    total_cost: float
    largest_cost: float
    n_decided: int


class FilesSummary(NamedTuple):
    """Result of `predict_files`.

    Attributes
    ----------
    n_rows, n_files : int
        Rows and files that were written, in this call or an earlier one that was interrupted.
    mean_cost, largest_cost, decided : float
    """

    n_rows: int
    n_files: int
    mean_cost: float
    largest_cost: float
    decided: float


def predict_files(
    model: str | os.PathLike[str],
    rows: Any,
    out: str | os.PathLike[str],
    *,
    settings: PredictSettings | None = None,
    engine: str = "local",
    workers: int | None = None,
    verbose: bool = False,
) -> FilesSummary:
    """Predict all rows of some Parquet files, and write Parquet files to a folder.

    Each output file has up to a million rows, and is written to a temporary name first. If the call is
    interrupted, the same call goes on with the files that are missing.

    Parameters
    ----------
    model : path of a model file
    rows : path, pattern such as ``rows/*.parquet``, folder, or list of paths
    out : folder, which is created if it does not exist
    settings : PredictSettings, optional
    engine : {"local", "ray"}
        This process, or tasks on a Ray cluster, whose nodes must be able to read and write the files.
    workers : int, optional
        Number of tasks at the same time; with Ray by default the number of processors of the cluster.
    verbose : bool
        Show a progress bar.
    """
    chosen = PredictSettings() if settings is None else settings
    if engine not in ENGINES:
        raise InvalidInputError(f"engine={engine!r} is unknown; use {' or '.join(map(repr, ENGINES))}.")
    if workers is not None and workers < 1:
        raise InvalidInputError(f"workers must be at least 1, not {workers}.")
    if engine == "local" and workers is not None and workers > 1:
        raise InvalidInputError(f"workers={workers} needs engine='ray'.")
    source, file = ParquetRows(rows), os.path.abspath(model)
    columns = check_columns(file, source, chosen)
    folder = Path(os.path.abspath(out))
    todo, done = plan_parts(folder, source, file, chosen)
    work = PartWork(file, source, columns, str(folder), chosen)
    run = _run_with_ray if engine == "ray" else _run_here
    with tqdm(total=source.n_rows, disable=not verbose, unit="row", unit_scale=True) as bar:
        bar.update(sum(part.last - part.first for part in done))
        summaries = [read_summary(folder / part.name) for part in done]
        for summary in run(work, todo, workers):
            summaries.append(summary)
            bar.update(summary.n_rows)
    n_rows = sum(each.n_rows for each in summaries)
    return FilesSummary(
        n_rows,
        len(summaries),
        float(np.sum([each.total_cost for each in sorted(summaries)])) / n_rows,
        max(each.largest_cost for each in summaries),
        sum(each.n_decided for each in summaries) / n_rows,
    )


def check_columns(model: str, source: ParquetRows, settings: PredictSettings) -> list[str] | None:
    """Predict the first row, so that wrong columns or options are errors before work starts.

    Return the columns that the predictions need.
    """
    for _, table in source.read(0, 1, source.schema.names, 1):
        next(predict_batches(model, [table], **asdict(settings)))
    loaded = BudgetModel.load(model)
    names = [inputs_of(loaded.predictor, full=settings.full).names, settings.keep]
    wanted = {name for group in names for name in group}
    chosen = [name for name in source.schema.names if name in wanted]
    # A model without names of features takes all columns by position.
    return chosen if loaded.predictor.forest.feature_names is not None else list(source.schema.names)


def plan_parts(
    folder: Path, source: ParquetRows, model: str, settings: PredictSettings
) -> tuple[list[Part], list[Part]]:
    """Divide the rows into parts: those to do, and those that an interrupted call has written."""
    starts = range(0, source.n_rows, PART_ROWS)
    parts = [Part(k, first, min(first + PART_ROWS, source.n_rows)) for k, first in enumerate(starts)]
    with open(model, "rb") as handle:
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
    files = [asdict(file) for file in source.files]
    described = json.dumps({"model": digest, "rows": files, "settings": asdict(settings), "part": PART_ROWS})
    manifest = folder / MANIFEST
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        if not manifest.exists() or manifest.read_text(encoding="utf-8") != described:
            raise InvalidInputError(
                f"{folder} is not empty, and its files are not of an interrupted call with the same model, "
                "rows and options; name a new folder."
            )
    else:
        with written_atomically(manifest) as output:
            output.write(described.encode())
    done = [part for part in parts if (folder / part.name).exists()]
    return [part for part in parts if part not in done], done


@dataclass(frozen=True)
class PartWork:
    """Function that predicts a part and writes its file."""

    model: str
    source: ParquetRows
    columns: list[str] | None
    folder: str
    settings: PredictSettings

    def __call__(self, part: Part) -> PartSummary:
        """Predict the rows of a part, and write them."""
        import pyarrow.parquet as pq

        columns = self.source.schema.names if self.columns is None else self.columns
        written = self._predictions(part, columns)
        first = next(written)
        summary = [summarise(first)]
        with (
            written_atomically(Path(self.folder, part.name)) as handle,
            pq.ParquetWriter(handle, first.schema) as writer,
        ):
            writer.write_table(first)
            for table in written:
                summary.append(summarise(table))
                writer.write_table(table.cast(first.schema))
        return combine(summary)

    def _predictions(self, part: Part, columns: list[str]) -> Iterator[Any]:
        for name, table in self.source.read(part.first, part.last, columns, BATCH_ROWS):
            try:
                yield from predict_batches(self.model, [table], **asdict(self.settings))
            except InvalidInputError as error:
                raise InvalidInputError(f"{name}: {error}") from error


def summarise(table: Any) -> PartSummary:
    """Summarise some predictions."""
    cost, decided = table.column("cost").to_numpy(), table.column("decided").to_numpy(zero_copy_only=False)
    return PartSummary(table.num_rows, float(cost.sum()), float(cost.max()), int(np.count_nonzero(decided)))


def combine(parts: Sequence[PartSummary]) -> PartSummary:
    """Add up summaries."""
    n_rows, total, largest, n_decided = zip(*parts, strict=True)
    return PartSummary(sum(n_rows), sum(total), max(largest), sum(n_decided))


def read_summary(file: Path) -> PartSummary:
    """Summarise predictions that were written earlier."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(file) as stored:
        batches = stored.iter_batches(BATCH_ROWS, columns=["cost", "decided"])
        return combine([summarise(batch) for batch in batches])


def _run_here(
    work: Callable[[Part], PartSummary], parts: Sequence[Part], workers: int | None
) -> Iterator[PartSummary]:
    return map(work, parts)


def _run_with_ray(
    work: Callable[[Part], PartSummary], parts: Sequence[Part], workers: int | None
) -> Iterator[PartSummary]:
    """Run each part as a task that Ray repeats if its worker is lost."""
    ray = import_ray()
    if not ray.is_initialized():
        ray.init(log_to_driver=False, configure_logging=False)
    # Without a limit, some tasks wait, so that no processor does.
    most = workers or QUEUED * max(1, int(ray.cluster_resources().get("CPU", 1)))
    task, shared = ray.remote(_predict_part), ray.put(work)
    remaining = iter(parts)
    running: list[Any] = []
    try:
        while True:
            for part in remaining:
                options = {"num_cpus": 1, "max_retries": 3, "name": f"budgetprune-predict-{part.name}"}
                running.append(task.options(**options).remote(shared, part))
                if len(running) >= most:
                    break
            if not running:
                return
            done, running = ray.wait(running, num_returns=1)
            yield _result(ray, done[0])
    finally:
        for each in running:
            ray.cancel(each)


def _result(ray: Any, reference: Any) -> PartSummary:
    try:
        summary: PartSummary = ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        cause = getattr(error, "cause", None)
        if isinstance(cause, Exception):
            raise cause from None
        raise
    return summary


def _predict_part(work: Callable[[Part], PartSummary], part: Part) -> PartSummary:
    # A task has one processor.
    os.environ[THREADS_VARIABLE] = "1"
    return work(part)
