"""Measure the cold start: processor time and memory of first calls in a fresh environment.

Run ``python -m benchmarks.cold``. It creates a virtual environment, installs this checkout in it, and runs
each command with an empty home folder, as in a new container.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.measure import MB, ROOT, BenchmarkError, stage
from benchmarks.report import Row
from budgetprune.demo import write_tables

MODEL = ROOT / "tests" / "golden" / "averaged-1.budgetprune"
HEADER = "age,TSH,T3,Größe,town\n"
# The environment holds these for scikit-learn's sake, with what it depends on; the core is everything else.
SHARED = (
    "numpy",
    "scipy",
    "sklearn",
    "scikit_learn",
    "joblib",
    "threadpoolctl",
    "narwhals",
    "pip",
    "setuptools",
)
# CMake refuses a build folder that was made in another place.
LEFT_OUT = shutil.ignore_patterns(".*", "output", "build", "dist", "__pycache__", "tests")
READY_IN = 120.0  # seconds until the service must answer


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark from a terminal."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cold", description=__doc__)
    parser.add_argument(
        "--python", type=Path, help="interpreter of an existing environment, instead of a new one"
    )
    options = parser.parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory() as folder:
            rows = measure(Path(folder), options.python)
    except (BenchmarkError, OSError) as error:
        print(f"{parser.prog}: error: {error}", file=sys.stderr)
        return 1
    for row in rows:
        print(f"{row.what}: {row.value:.3g} {row.unit} {row.verdict} {row.note}".rstrip())
    return 0


def measure(folder: Path, python: Path | None) -> list[Row]:
    """Measure all rows; without an interpreter, in a new environment."""
    size = None
    if python is None:
        python, size = new_environment(folder)
    table = folder / "rows.csv"
    table.write_text(HEADER + "30,1,1,1,\n" * 100, encoding="utf-8")
    environment = {**os.environ, "HOME": str(folder)}

    def seconds(*words: str | Path) -> float:
        return processor_seconds([str(python), *map(str, words)], environment)

    with stage("imports"):
        for module in ("budgetprune", "sklearn"):
            seconds("-c", f"import {module}")  # writes the bytecode
        ours, theirs = (seconds("-c", f"import {module}") for module in ("budgetprune", "sklearn"))
        bare = seconds("-c", "pass")
    with stage("budgetprune --help"):
        seconds("-m", "budgetprune", "--help")
        shown = seconds("-m", "budgetprune", "--help")
    with stage("the first budgetprune predict"):
        words = ("-m", "budgetprune", "predict", MODEL, table, "--out", folder / "out.csv")
        first = seconds(*words)
        warm = seconds(*words)
    with stage("training the model of the demo"):
        trained = demo_model(folder)
    with stage("budgetprune serve"):
        ready, memory = serve(python, environment, trained)
    rows = [
        Row("import", "import budgetprune / import sklearn", (ours - bare) / (theirs - bare), bar=0.3),
        Row("help", "budgetprune --help", shown, bar=0.4, unit="s"),
        Row("predict", "first budgetprune predict", first, bar=1.5, unit="s", note=f"again: {warm:.2f} s"),
        Row(
            "serve",
            "memory of serve, model of the demo",
            memory,
            bar=120,
            unit="MB",
            note=f"ready in {ready:.1f} s",
        ),
    ]
    if size is not None:
        what = "size of the core without scikit-learn and its dependencies"
        rows.append(Row("size", what, size, bar=15, unit="MB"))
    return rows


def new_environment(folder: Path) -> tuple[Path, float]:
    """Create a virtual environment with this checkout; return its interpreter and the size of the core."""
    source, python = folder / "source", folder / "venv" / "bin" / "python"
    copy_source(source)
    with stage("installing"):
        run([sys.executable, "-m", "venv", str(folder / "venv")])
        run([str(python), "-m", "pip", "install", "--quiet", str(source)])
        size = installed_size(python)
        run([str(python), "-m", "pip", "install", "--quiet", f"{source}[serve]"])
    return python, size


def copy_source(folder: Path) -> None:
    """Copy this checkout without what was built or installed in it."""
    shutil.copytree(ROOT, folder, ignore=LEFT_OUT)


def demo_model(folder: Path) -> Path:
    """Train a model on the tables of the demo, with the packages of this environment."""
    patients, _, costs = write_tables(folder)
    model = folder / "diagnosis.budgetprune"
    words = ["fit", str(patients), "--target", "diagnosis", "--costs", str(costs), "--budget", "3"]
    run([sys.executable, "-m", "budgetprune", *words, "--out", str(model)])
    return model


def run(words: Sequence[str]) -> None:
    """Run a command; raise BenchmarkError if it fails."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchmarkError(f"{' '.join(words)} failed: {done.stderr.strip()[-500:]}")


def processor_seconds(words: Sequence[str], environment: Mapping[str, str]) -> float:
    """Processor time of a command, with that of its children."""

    def used() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = used()
    done = subprocess.run(words, env=dict(environment), capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchmarkError(f"{' '.join(words)} failed: {done.stderr.strip()[-500:]}")
    return used() - before


def serve(python: Path, environment: Mapping[str, str], model: Path) -> tuple[float, float]:
    """Start the service; return seconds until it listens, and its memory in MB."""
    words = [str(python), "-m", "budgetprune", "serve", str(model), "--port", "0"]
    start = time.perf_counter()
    with subprocess.Popen(
        words, env=dict(environment), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            assert process.stdout is not None
            wait_for(lambda line: "http://" in line, process.stdout.readline)
            return time.perf_counter() - start, resident_megabytes(process.pid)
        finally:
            process.terminate()


def wait_for(is_ready: Callable[[str], bool], next_line: Callable[[], str]) -> None:
    """Read lines until one shows that the service is ready."""
    until = time.perf_counter() + READY_IN
    while time.perf_counter() < until:
        line = next_line()
        if is_ready(line):
            return
        if not line:
            break
    raise BenchmarkError(f"the service did not start within {READY_IN:.0f} s")


def resident_megabytes(pid: int) -> float:
    """Resident memory of a process, in MB (Linux)."""
    n_pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return n_pages * resource.getpagesize() / MB


def installed_size(python: Path) -> float:
    """Size in MB of all installed packages but `SHARED`."""
    site = next((python.parents[1] / "lib").glob("python*/site-packages"))
    return (
        sum(
            file.stat().st_size
            for entry in site.iterdir()
            if not entry.name.startswith(SHARED)
            for file in (entry.rglob("*") if entry.is_dir() else [entry])
            if file.is_file()
        )
        / MB
    )


if __name__ == "__main__":
    sys.exit(main())
