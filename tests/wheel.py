"""Test the wheel of a folder in a clean environment: ``python -m tests.wheel dist``."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# What tests read besides the package.
BESIDE = (
    "tests",
    "pyproject.toml",
    "Makefile",
    "Dockerfile",
    ".dockerignore",
    "mkdocs.yml",
    "README.md",
    "CHANGELOG.md",
    "docs",
    "experiments",
    "benchmarks",
)


def main(arguments: list[str] | None = None) -> int:
    """Install the wheel without a checkout at hand, then run its checks and the small tests."""
    parser = argparse.ArgumentParser(prog="python -m tests.wheel", description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder with one wheel of budgetprune")
    wheels = sorted(parser.parse_args(arguments).folder.glob("budgetprune-*.whl"))
    if len(wheels) != 1:
        parser.error(
            f"one wheel is expected there, but there are {len(wheels)}: {', '.join(map(str, wheels))}"
        )
    wheel = wheels[0].resolve()
    with tempfile.TemporaryDirectory() as folder:
        place, python = Path(folder), Path(folder) / "venv" / "bin" / "python"
        run([sys.executable, "-m", "venv", place / "venv"], place)
        run([python, "-m", "pip", "install", "--quiet", wheel], place)
        run([python, ROOT / "tests" / "installed.py"], place)
        run([python, "-m", "pip", "install", "--quiet", f"{wheel}[test]"], place)
        copy_tests(place / "project")
        # Experiments are no part of the wheel.
        options = ["-q", "-m", "uncompiled", "--ignore=tests/experiments", "-p", "no:cacheprovider"]
        run([python, "-m", "pytest", *options], place / "project")
    print(f"{wheel.name} passed its tests ({wheel.stat().st_size / 2**20:.1f} MB)")
    return 0


def copy_tests(project: Path) -> None:
    """Copy the tests and what they read, but no source that could be imported instead of the wheel."""
    project.mkdir()
    for name in BESIDE:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, project / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, project)


def run(words: list[str | Path], folder: Path) -> None:
    """Run a command in a folder; its failure ends this program."""
    print("$", *words, flush=True)
    status = subprocess.run(list(map(str, words)), cwd=folder, check=False).returncode
    if status:
        sys.exit(status)


if __name__ == "__main__":
    sys.exit(main())
