"""Run the test suite as other machines would: ``python -m tests.portable [CONDITION ...]``.

Each condition is one run of the suite. It changes what differs between machines and must not change a result:
instruction sets, the number of threads, the hash seed, the order of tests, the load, and the versions of the
dependencies. Conditions are combined, so that a few runs cover all of them.

The output of each run goes to ``output/portable/``.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from benchmarks.measure import busy_cores

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "output" / "portable"

THREADS = ("BUDGETPRUNE_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


@dataclass(frozen=True)
class Condition:
    """One run of the suite.

    Attributes
    ----------
    what : for people
    environment : variables that choose instruction sets
    threads : of kernels, OpenMP and OpenBLAS; None leaves them alone
    shuffle : seed of the order of the tests and of Python's hashes; None leaves both alone
    busy : whether every core has other work, too
    versions : "installed", or the "oldest" or "newest" that pyproject.toml allows
    needs : a flag of /proc/cpuinfo that the processor must have
    """

    what: str
    environment: dict[str, str] = field(default_factory=dict)
    threads: int | None = None
    shuffle: int | None = None
    busy: bool = False
    versions: str = "installed"
    needs: str = ""


CONDITIONS = {
    "sse": Condition(
        "no AVX in numpy and OpenBLAS, 1 thread, shuffled",
        {
            "OPENBLAS_CORETYPE": "Prescott",
            "NPY_DISABLE_CPU_FEATURES": "X86_V4 X86_V3",
        },
        threads=1,
        shuffle=1,
    ),
    "avx2": Condition(
        "no AVX-512, 4 threads, shuffled",
        {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": "X86_V4"},
        threads=4,
        shuffle=2,
    ),
    "avx512-busy": Condition(
        "OpenBLAS for AVX-512, 2 threads, all cores busy, shuffled",
        {"OPENBLAS_CORETYPE": "SkylakeX"},
        threads=2,
        shuffle=3,
        busy=True,
        needs="avx512f",
    ),
    "oldest": Condition("the oldest dependencies, shuffled", shuffle=4, versions="oldest"),
    "newest": Condition("the newest dependencies", versions="newest"),
}


def main(arguments: list[str] | None = None) -> int:
    """Run the conditions one after the other, and print a line for each."""
    parser = argparse.ArgumentParser(prog="python -m tests.portable", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="CONDITION", help=f"some of: {', '.join(CONDITIONS)}")
    names = parser.parse_args(arguments).names or list(CONDITIONS)
    if unknown := sorted(set(names) - set(CONDITIONS)):
        parser.error(f"unknown conditions: {', '.join(unknown)}; choose from {', '.join(CONDITIONS)}")
    results = [run(name, CONDITIONS[name]) for name in names]
    return 0 if all(results) else 1


def run(name: str, condition: Condition) -> bool:
    """Run the suite under one condition; True if it passed, or cannot be run on this processor."""
    print(f"{name}: {condition.what}", flush=True)
    if condition.needs and condition.needs not in _processor_flags():
        print(f"  not run: this processor has no {condition.needs}", flush=True)
        return True
    python = _python(condition.versions)
    log = OUT / f"{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    command = [python, "-m", "pytest", "-n", "2", "--dist", "loadfile", "-q", "-p", "no:cacheprovider"]
    if condition.shuffle is not None:
        command += ["--shuffle", str(condition.shuffle)]
    start = perf_counter()
    n_busy = (os.cpu_count() or 1) if condition.busy else 0
    with log.open("w") as output, busy_cores(n_busy):
        status = subprocess.run(
            command,
            cwd=ROOT,
            env=environment(condition, _version_of_numpy(python)),
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        ).returncode
    lines = log.read_text(errors="replace").splitlines()
    for line in lines:
        if line.startswith(("FAILED", "ERROR")):
            print(f"  {line}")
    print(f"  {lines[-1] if lines else 'no output'} ({perf_counter() - start:.0f} s, {log})", flush=True)
    return status == 0


def environment(condition: Condition, numpy: tuple[int, ...]) -> dict[str, str]:
    """Variables of a run: those of this process, and those of the condition."""
    chosen = dict(os.environ) | {"OMP_WAIT_POLICY": "passive"} | condition.environment
    if numpy < (2, 4) and "NPY_DISABLE_CPU_FEATURES" in chosen:
        chosen["NPY_DISABLE_CPU_FEATURES"] = _by_older_names(chosen["NPY_DISABLE_CPU_FEATURES"])
    if condition.threads is not None:
        chosen |= dict.fromkeys(THREADS, str(condition.threads))
    if condition.shuffle is not None:
        chosen["PYTHONHASHSEED"] = str(condition.shuffle)
    return chosen


def _by_older_names(features: str) -> str:
    """Name the instruction sets that numpy 2.4 groups, as earlier versions do."""
    older = {"X86_V4": "AVX512F AVX512CD AVX512_SKX", "X86_V3": "AVX2 FMA3"}
    return " ".join(older[feature] for feature in features.split())


# --- Versions of the dependencies ---------------------------------------------------------------------------


def oldest_versions() -> list[str]:
    """Pin every requirement of pyproject.toml to its lower bound."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    listed = {*project["dependencies"], *(each for extra in needed(extras, "test") for each in extras[extra])}
    pins = []
    for requirement in sorted(listed):
        if requirement.startswith("budgetprune["):
            continue
        found = re.fullmatch(r"([\w.-]+(?:\[[\w,]+\])?)>=([\w.]+)(; .*)?", requirement)
        if found is None:
            raise ValueError(f"pyproject.toml: {requirement!r} has no lower bound (name>=version).")
        pins.append(f"{found[1]}=={found[2]}{found[3] or ''}")
    return pins


def needed(extras: dict[str, list[str]], extra: str) -> set[str]:
    """Find the extras that an extra includes, and itself."""
    found = {extra}
    for requirement in extras[extra]:
        if requirement.startswith("budgetprune["):
            names = requirement.removeprefix("budgetprune[").removesuffix("]").split(",")
            found |= {each for name in names for each in needed(extras, name)}
    return found


def _python(versions: str) -> str:
    """Return the interpreter of an environment with these versions; make the environment if need be."""
    if versions == "installed":
        return sys.executable
    home = ROOT / f".venv-{versions}"
    python = str(home / "bin" / "python")
    if not home.exists():
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
    install = [python, "-m", "pip", "install", "--quiet", "--editable", ".[test]"]
    install += oldest_versions() if versions == "oldest" else ["--upgrade", "--upgrade-strategy", "eager"]
    subprocess.run(install, cwd=ROOT, check=True)
    return python


def _version_of_numpy(python: str) -> tuple[int, ...]:
    code = "import numpy; print(numpy.__version__)"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return tuple(int(part) for part in done.stdout.split(".")[:2])


def _processor_flags() -> set[str]:
    if platform.system() != "Linux":
        return set()
    flags = re.search(r"^flags\s*: (.*)$", Path("/proc/cpuinfo").read_text(), flags=re.MULTILINE)
    return set(flags[1].split()) if flags else set()


if __name__ == "__main__":
    sys.exit(main())
