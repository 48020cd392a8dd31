"""Prunings and predictions on a local Ray cluster: time, memory and bytes, against one process.

Rows are made, and stay, in Parquet files. Run it on an idle machine: ``make bench-ray``.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning

from benchmarks.measure import in_fresh_process, seconds, stage
from benchmarks.report import Report, Row, Section
from budgetprune import BudgetPredictor, Forest, PruningProblem
from budgetprune.distributed import DistributedProblem, RayEngine
from budgetprune.model import BudgetModel
from budgetprune.utils.threads import kernel_threads
from budgetprune.workflow import predict_files

N_FEATURES, N_TREES, N_TRAIN, MIN_LEAF = 50, 100, 20_000, 20
FILE_ROWS, GROUP_ROWS = 250_000, 50_000
N_ROWS, FEWER_ROWS, MEMORY_ROWS, PREDICTED_ROWS = 2_000_000, 250_000, 250_000, 20_000_000
N_BUDGETS, GAP = 10, 0.01
OBJECT_STORE = 300 * 2**20
MIB = 2.0**20
FACTORS = 8


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks from a terminal."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.distributed", description=__doc__)
    parser.add_argument(
        "--out", type=Path, default=Path("output/bench-ray.json"), help="JSON file (%(default)s)"
    )
    parser.add_argument(
        "--rows", type=Path, default=Path("output/bench-ray"), help="folder of rows (%(default)s)"
    )
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, metavar="PART", help=f"some of: {', '.join(PARTS)}"
    )
    parser.add_argument(
        "--predicted-rows", type=int, default=PREDICTED_ROWS, help="rows to predict (%(default)s)"
    )
    parser.add_argument("--quick", action="store_true", help="smoke test with 1/50 of the rows")
    options = parser.parse_args(arguments)
    shrink = 50 if options.quick else 1
    setting = Setting(options.rows / f"shrunk-{shrink}", shrink, options.predicted_rows)
    rows = [row for name in options.only or PARTS for row in PARTS[name](setting)]
    size = f"{N_FEATURES} features, {setting.forest.n_trees} trees, {setting.forest.n_splits:,} splits"
    report = Report.of([Section("Ray", size, rows)], options.quick)
    report.save(options.out)
    print(f"{report.table()}\n\nThe figures are in {options.out}")
    return 0


class Setting:
    """A forest, and rows in Parquet files, which are made once."""

    def __init__(self, folder: Path, shrink: int, n_predicted: int) -> None:
        self.folder, self.shrink, self.n_predicted = folder, shrink, n_predicted // shrink
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "forest.joblib"
        if not file.exists():
            with stage(f"training {N_TREES} trees on {N_TRAIN // shrink:,} rows"):
                X, y = make_rows(N_TRAIN // shrink, 0)
                model = RandomForestClassifier(N_TREES, min_samples_leaf=MIN_LEAF, n_jobs=2, random_state=0)
                forest = Forest.from_model(model.fit(X, y))
                joblib.dump(replace(forest, origin=None, feature_names=NAMES), file)
        self.forest: Forest = joblib.load(file)

    def files(self, n_rows: int) -> list[str]:
        """Parquet files with so many rows, which are made if they do not exist."""
        found = []
        for number in range(-(-n_rows // self.shrink // FILE_ROWS)):
            file = self.folder / f"rows-{number:04d}.parquet"
            if not file.exists():
                X, y = make_rows(min(FILE_ROWS, n_rows // self.shrink), 1 + number)
                columns = {name: X[:, k] for k, name in enumerate(NAMES)} | {"y": y}
                pq.write_table(pa.table(columns), f"{file}.tmp", row_group_size=GROUP_ROWS)
                os.replace(f"{file}.tmp", file)
            found.append(str(file))
        return found

    def read(self, n_rows: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Read so many rows into memory."""
        table = pa.concat_tables([pq.read_table(file) for file in self.files(n_rows)])
        X = np.column_stack([table.column(name).to_numpy() for name in NAMES])
        return X, table.column("y").to_numpy()


NAMES = tuple(f"x{k}" for k in range(N_FEATURES))


def make_rows(n_rows: int, seed: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Draw features that are noisy copies of a few hidden factors, and labels that depend on those."""
    fixed = np.random.default_rng(0)
    copied = fixed.integers(FACTORS, size=N_FEATURES)
    noise = fixed.uniform(0.3, 1.5, N_FEATURES).astype(np.float32)
    slope, curvature = fixed.normal(size=FACTORS), fixed.normal(size=(FACTORS, FACTORS))
    rng = np.random.default_rng([7, seed])
    factors = rng.standard_normal((n_rows, FACTORS), dtype=np.float32)
    X = rng.standard_normal((n_rows, N_FEATURES), dtype=np.float32) * noise
    X += factors[:, copied]
    score = factors @ slope + 0.5 * ((factors @ curvature) * factors).sum(axis=1)
    return X, (score + rng.normal(0, 1, n_rows) > 0).astype(np.int64)


def cluster(n_nodes: int = 1) -> Any:
    """Start a local cluster of so many nodes, with two processors in all or one on each node."""
    import ray
    from ray.cluster_utils import Cluster

    # By default, Ray gives workers the lowest priority but one, which one process here does not have.
    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112
    cpus = 2 if n_nodes == 1 else 1
    head = {"num_cpus": cpus, "object_store_memory": OBJECT_STORE, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args=head)
    for _ in range(n_nodes - 1):
        made.add_node(num_cpus=cpus, object_store_memory=OBJECT_STORE)
    ray.init(address=made.address, log_to_driver=False)
    return made


def stop(made: Any) -> None:
    """Stop a local cluster."""
    import ray

    ray.shutdown()
    made.shutdown()


OPTIONS: dict[str, Any] = {"error": "held-out", "target": "y"}


# --- Parts --------------------------------------------------------------------------------------------------


def same_bits(setting: Setting) -> Iterator[Row]:
    """1, 2, 4 and 7 workers on two nodes; one of the four is killed twice."""
    files, answers = setting.files(FEWER_ROWS), []
    made = cluster(2)
    try:
        for n_workers, n_kills in ((1, 0), (2, 0), (4, 2), (7, 0)):
            # Several workers share a processor here, which Ray would not do by itself.
            engine = SharedEngine(n_workers)
            problem = DistributedProblem(setting.forest, files, engine=engine, sample=2000, **OPTIONS)
            with stage(f"{n_workers} workers"), problem:
                answers.append(_killed(problem, engine, n_kills))
    finally:
        stop(made)
    n_same = sum(answer[:3] == answers[0][:3] for answer in answers)
    yield Row(
        "bits",
        "same bits: 1, 2, 4 and 7 workers",
        n_same,
        4,
        unit="of 4",
        note=f"workers lost: {[answer[3] for answer in answers]}; {answers[0][2]}",
        at_least=True,
    )


def _killed(problem: DistributedProblem, engine: RayEngine, n_kills: int) -> tuple[Any, ...]:
    """Solve, while the second worker is killed at the start of some iterations."""
    share, left = problem._rows.share, n_kills

    def killing(*arguments: Any) -> Any:
        nonlocal left
        if left:
            left -= 1
            os.kill(engine.process_ids()[1], signal.SIGKILL)
        return share(*arguments)

    problem._rows.share = killing  # type: ignore[method-assign, assignment]
    pruning = problem.solve(0.005, gap=0.0005)
    if left:
        # One iteration was enough: the other kill comes before the certificate.
        os.kill(engine.process_ids()[1], signal.SIGKILL)
    certificate = problem.certify(pruning)
    assert pruning.dual is not None
    return pruning.keep.tobytes(), pruning.dual.tobytes(), certificate, engine.n_losses


class SharedEngine(RayEngine):
    """Workers that share processors."""

    def _actor(self, worker: int, n_cpus: int) -> Any:
        return super()._actor(worker, 0)


def budgets(setting: Setting) -> Iterator[Row]:
    """Ten budgets on all rows; time per row and bytes as the rows grow; memory of driver and workers."""
    from benchmarks import distributed as here  # functions of __main__ are not found by another process

    fewer, more = (
        in_fresh_process(here.measure_budgets, str(setting.folder), setting.shrink, n_rows)
        for n_rows in (FEWER_ROWS, N_ROWS)
    )
    for measured in (fewer, more):
        yield from (Row(**each) for each in measured.result["rows"])
    per_row = [measured.result["per_row"] for measured in (more, fewer)]
    yield Row(
        "budgets",
        f"time of an iteration per row, {N_ROWS:,} / {FEWER_ROWS:,} rows",
        per_row[0] / per_row[1],
        1.3,
        note=" / ".join(f"{1e9 * each:.0f} ns" for each in per_row),
    )
    yield Row(
        "budgets",
        f"peak memory of the driver, {N_ROWS:,} / {FEWER_ROWS:,} rows",
        more.peak / fewer.peak,
        1.1,
        note=f"{more.peak / MIB:.0f} MiB / {fewer.peak / MIB:.0f} MiB",
    )


def measure_budgets(folder: str, shrink: int, n_rows: int) -> dict[str, Any]:
    """Measure one number of rows, in a fresh process."""
    setting = Setting(Path(folder), shrink, 0)
    row = partial(Row, "budgets")
    files = setting.files(n_rows)
    rows: list[Row] = []
    per_row: list[float] = []
    made = cluster()
    try:
        engine = RayEngine(2)
        with stage(f"loading {n_rows // shrink:,} rows"):
            load_seconds, problem = seconds(
                partial(DistributedProblem, setting.forest, files, engine=engine, **OPTIONS)
            )
        with problem:
            rows += _iterations(problem, engine, n_rows, per_row)
            whole = problem.cost_of(problem.unpruned)
            wanted = np.linspace(0.1, 0.95, N_BUDGETS) * whole
            with stage("path"):
                elapsed, path = seconds(partial(problem.path, budgets=wanted, gap=GAP))
            assert path.gap is not None
            rows.append(
                row(
                    f"largest gap at {N_BUDGETS} budgets, {n_rows:,} rows",
                    100 * float(path.gap.max()),
                    1.0,
                    unit="%",
                    note=f"{elapsed:.0f} s, loading {load_seconds:.0f} s; cost {path.cost[-1]:.3g} to "
                    f"{path.cost[0]:.3g} of {whole:.3g}",
                )
            )
            worst = max(problem.usage(), key=lambda each: each.peak_memory)
            rows.append(
                row(
                    f"memory of a worker / bytes of its first uses, {n_rows:,} rows",
                    worst.peak_memory / (4 * worst.n_incidences),
                    2.5,
                    note=f"{worst.peak_memory / MIB:.0f} MiB in all, rows {worst.n_bytes / MIB:.0f} MiB; "
                    f"{worst.n_incidences:,} first uses of 4 bytes",
                )
            )
    finally:
        stop(made)
    return {"rows": [asdict(each) for each in rows], "per_row": per_row[0]}


def _iterations(
    problem: DistributedProblem, engine: RayEngine, n_rows: int, per_row: list[float]
) -> Iterator[Row]:
    """Time some iterations that begin without a sample, and count their bytes."""
    rows, n_relevant = problem._rows, problem._relevant.size
    rows.restart(np.zeros(n_relevant, np.int32))
    level = np.random.default_rng(0).integers(0, 256, n_relevant).astype(np.uint8)
    rows.share(level, 1)
    sent, began, times = engine.bytes_sent, sum(each.seconds for each in problem.usage()), []
    for _ in range(3):
        elapsed, _sums = seconds(partial(rows.share, level, 1))
        times.append(elapsed)
    processor = sum(each.seconds for each in problem.usage()) - began
    per_row.append(processor / 3 / problem.n_examples)
    splits = int(np.count_nonzero(problem.unpruned))
    yield Row(
        "budgets",
        f"bytes of an iteration / (8 x splits x workers), {n_rows:,} rows",
        (engine.bytes_sent - sent) / 3 / (8 * splits * engine.n_workers),
        1.2,
        note=f"{n_relevant:,} of {problem.n_uses:,} first uses are relevant, {splits:,} splits; "
        f"{min(times):.2f} s an iteration",
    )


def one_worker(setting: Setting) -> Iterator[Row]:
    """One worker with one thread, against the primal-dual solver of one process with one thread."""
    X, y = setting.read(FEWER_ROWS)
    lam, iterations = 0.005, 5
    oracle = PruningProblem(setting.forest, X, y, error="held-out")
    solve = partial(oracle.solve, lam, "primal-dual", gap=0.0, max_iterations=iterations)
    made = cluster()
    try:
        with (
            DistributedProblem(
                setting.forest, setting.files(FEWER_ROWS), engine=RayEngine(1), sample=0, **OPTIONS
            ) as problem,
            warnings.catch_warnings(),
            kernel_threads(1),
        ):
            warnings.simplefilter("ignore", ConvergenceWarning)
            distributed = partial(problem.solve, lam, gap=0.0, max_iterations=iterations)
            alternately = [(seconds(distributed)[0], seconds(solve)[0]) for _ in range(3)]
    finally:
        stop(made)
    own, peer = np.median(np.array(alternately), axis=0)
    yield Row(
        "one worker",
        "one worker / PruningProblem.solve(solver='primal-dual')",
        own / peer,
        1.3,
        note=f"{own:.1f} s / {peer:.1f} s, {iterations} iterations on {len(X):,} rows, one thread each",
    )


def predictions(setting: Setting) -> Iterator[Row]:
    """Two workers with Ray, against one process."""

    from benchmarks import distributed as here  # functions of __main__ are not found

    files = setting.files(N_ROWS)
    files = (files * -(-setting.n_predicted // N_ROWS))[: max(1, setting.n_predicted // FILE_ROWS)]
    model = setting.folder / "model.budgetprune"
    forest, (X, y) = setting.forest, setting.read(FEWER_ROWS)
    path = PruningProblem(forest, X[:5000], y[:5000], error="held-out").path(budgets=[15.0])
    BudgetModel(BudgetPredictor(path.at(budget=15.0).forest)).save(model)
    elapsed = {}
    for engine in ("local", "ray"):
        out = setting.folder / f"predictions-{engine}-{time.time_ns()}"
        made = cluster() if engine == "ray" else None
        try:
            with stage(f"predicting with {engine}"):
                if engine == "local":
                    elapsed[engine] = in_fresh_process(here.predict_alone, str(model), files, str(out)).result
                else:
                    elapsed[engine], summary = seconds(
                        partial(predict_files, str(model), files, out, engine="ray", workers=2)
                    )
        finally:
            if made is not None:
                stop(made)
            shutil.rmtree(out, ignore_errors=True)
    yield Row(
        "predictions",
        "predictions: one process / two workers",
        elapsed["local"] / elapsed["ray"],
        1.6,
        note=f"{elapsed['local']:.0f} s / {elapsed['ray']:.0f} s for {summary.n_rows:,} rows; the "
        "process has one thread",
        at_least=True,
    )


def predict_alone(model: str, files: list[str], out: str) -> float:
    """Predict in one process with one thread, in a fresh process."""
    with kernel_threads(1):
        elapsed, _ = seconds(partial(predict_files, model, files, out))
    return elapsed


PARTS = {"bits": same_bits, "one-worker": one_worker, "budgets": budgets, "predictions": predictions}

if __name__ == "__main__":
    sys.exit(main())
