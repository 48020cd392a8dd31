"""Measure the tool: from a CSV file to a model within budget, against training the plain forest alone.

Run ``python -m benchmarks.tool``. It writes a CSV file of 20 MB (200,000 rows of numbers, categories, missing
values and a target), and runs ``budgetprune fit`` on it in a separate process. The peer is scikit-learn's
``fit`` of the same forest on all rows, encoded as numbers. Kernels are compiled before, on a few rows.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from benchmarks.measure import MB, BenchmarkError, seconds, stage
from benchmarks.report import Row

BAR = 5.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark from a terminal."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tool", description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000, help="of the table (%(default)s)")
    parser.add_argument("--columns", type=int, default=30, help="of the table, with the target (%(default)s)")
    parser.add_argument("--trees", type=int, default=40, help="of the forest (%(default)s)")
    parser.add_argument("--budget", type=float, default=8.0, help="of 1 per column (%(default)s)")
    parser.add_argument(
        "--max-features", type=float, default=1.0, help="share of the columns for each split (%(default)s)"
    )
    parser.add_argument("--more", nargs="*", default=[], help="further words for fit, without their dashes")
    options = parser.parse_args(arguments)
    if options.rows < 1000 or options.columns < 4 or options.trees < 1:
        parser.error("at least 1000 rows, 4 columns and a tree are needed")
    try:
        with tempfile.TemporaryDirectory() as folder:
            rows = measure(Path(folder), options)
    except (BenchmarkError, OSError) as error:
        print(f"{parser.prog}: error: {error}", file=sys.stderr)
        return 1
    for row in rows:
        print(f"{row.what}: {row.value:.3g} {row.unit} {row.verdict} {row.note}".rstrip())
    return 0


def table(n_rows: int, n_columns: int, seed: int = 0) -> pd.DataFrame:
    """Generate rows with columns that are very, slightly or not informative; two columns hold text."""
    rng = np.random.default_rng(seed)
    n_numbers = n_columns - 3
    X = rng.normal(size=(n_rows, n_numbers))
    X[:, 1::3] += 0.7 * X[:, [0]]
    towns, kinds = rng.integers(12, size=n_rows), rng.integers(4, size=n_rows)
    strength = 1 / np.arange(1, n_numbers + 1)
    risk = X @ strength + X[:, 0] * X[:, -1] + rng.normal(size=12)[towns] + 0.5 * (kinds == 2)
    y = rng.random(n_rows) < 1 / (1 + np.exp(-1.5 * risk))
    frame = pd.DataFrame(X.round(2), columns=[f"test {k}" for k in range(n_numbers)])
    frame = frame.mask(rng.random(frame.shape) < 0.05)
    for name in [name for k, name in enumerate(frame) if k % 3]:
        frame[name] = (10 * frame[name]).round().astype("Int64")
    return frame.assign(
        town=np.array([f"t{k}" for k in range(12)])[towns],
        kind=np.array(list("abcd"))[kinds],
        ill=np.where(y, "yes", "no"),
    )


def measure(folder: Path, options: Any) -> list[Row]:
    """Time both, one after the other."""
    data, few = folder / "data.csv", folder / "few.csv"
    with stage(f"writing {options.rows:,} rows"):
        frame = table(options.rows, options.columns)
        frame.to_csv(data, index=False)
        frame.head(1000).to_csv(few, index=False)
    more = [f"--{word}" if word[:1].isalpha() else word for word in options.more]
    fit(few, folder, ["--trees", "4", "--budget", str(options.budget), *more])
    trees = ["--trees", str(options.trees), "--budget", str(options.budget), *more]
    trees += ["--max-features", str(options.max_features)]
    begun = processor_seconds(resource.RUSAGE_CHILDREN)
    with stage("budgetprune fit"):
        ours, told = seconds(lambda: fit(data, folder, trees))
    busy = processor_seconds(resource.RUSAGE_CHILDREN) - begun
    numbers = [
        pd.factorize(frame[name])[0] if name in ("town", "kind") else frame[name].astype(np.float32)
        for name in frame.columns.drop("ill")
    ]
    X = np.column_stack(numbers).astype(np.float32)
    n_jobs = len(os.sched_getaffinity(0))
    forest = RandomForestClassifier(
        options.trees, max_features=options.max_features, random_state=0, n_jobs=n_jobs
    )
    begun = processor_seconds(resource.RUSAGE_SELF)
    with stage("the plain forest"):
        plain, _ = seconds(lambda: forest.fit(X, frame["ill"]))
    peer_busy = processor_seconds(resource.RUSAGE_SELF) - begun
    chosen, whole = (told["compared"][name] for name in ("chosen", "whole"))
    size = (folder / "model.budgetprune").stat().st_size
    scores = [f"accuracy {figures['score']:.3f} for {figures['cost']:.2f}" for figures in (chosen, whole)]
    return [
        Row("table", "the table", data.stat().st_size / MB, unit="MB"),
        Row("plain", "the plain forest on all rows", plain, unit="s"),
        Row("fit", "budgetprune fit", ours, unit="s", note=f"{scores[0]}; the full forest: {scores[1]}"),
        Row("ratio", "budgetprune fit / the plain forest", ours / plain, bar=BAR),
        # On a shared machine, processor time is more informative.
        Row(
            "busy", "the same, in processor time", busy / peer_busy, note=f"{busy:.0f} s / {peer_busy:.0f} s"
        ),
        Row("file", "the model file", size / MB, unit="MB"),
    ]


def processor_seconds(whose: int) -> float:
    """Processor time that this process, or those that it has waited for, have taken so far."""
    usage = resource.getrusage(whose)
    return usage.ru_utime + usage.ru_stime


def fit(data: Path, folder: Path, words: Sequence[str]) -> Any:
    """Run the tool in a separate process, and return its JSON output."""
    command = [sys.executable, "-m", "budgetprune", "fit", str(data), "--target", "ill", "--json", *words]
    command += ["--model", "random-forest"]
    done = subprocess.run(
        [*command, "--out", str(folder / "model.budgetprune")], stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        raise BenchmarkError(f"budgetprune fit ended with {done.returncode}")
    return json.loads(done.stdout)


if __name__ == "__main__":
    sys.exit(main())
