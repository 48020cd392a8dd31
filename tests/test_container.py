"""The Dockerfile: its stages and files, and the command that it starts. ``make test-container`` runs more."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from . import container

ROOT = container.ROOT
BUILD, FINAL = container.stages((ROOT / "Dockerfile").read_text(encoding="utf-8"))
IGNORED = (ROOT / ".dockerignore").read_text(encoding="utf-8")
KNOWN = {"FROM", "RUN", "WORKDIR", "COPY", "ENV", "USER", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD"}


def test_instructions_are_known():
    assert {keyword for keyword, _ in [*BUILD, *FINAL]} <= KNOWN


def test_the_compiler_stays_in_the_first_stage():
    assert any("gcc" in command for command in container.arguments_of(BUILD, "RUN"))
    assert not any(
        "apt-get" in command or "pip" in command for command in container.arguments_of(FINAL, "RUN")
    )
    (copied,) = container.arguments_of(FINAL, "COPY")
    assert copied == f"--from=build {container.INSTALLED} {container.INSTALLED}"
    assert container.arguments_of(BUILD, "FROM")[0].endswith(" AS build")


def test_the_service_is_not_run_by_root():
    (user,) = container.arguments_of(FINAL, "USER")
    assert int(user) > 0
    assert any(f"--uid {user}" in command for command in container.arguments_of(FINAL, "RUN"))
    names = [keyword for keyword, _ in FINAL]
    assert names.index("USER") < names.index("ENTRYPOINT")


def test_files_that_are_copied_exist_and_are_sent(tmp_path):
    container.copy_context(BUILD, tmp_path)
    for argument in container.arguments_of(BUILD, "COPY"):
        *sources, _ = argument.split()
        for source in sources:
            assert (tmp_path / source).exists(), source
    packed = {file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*") if file.is_file()}
    assert "src/budgetprune/forest/kernels.py" in packed
    assert "src/budgetprune/forest/__init__.pyi" in packed
    assert not any(name.endswith(".so") or "__pycache__" in name for name in packed)
    declared = {"README.md", "LICENSE", "CMakeLists.txt"}  # read by the build
    assert declared <= packed


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("src/budgetprune/cli.py", True),
        ("pyproject.toml", True),
        ("src/budgetprune/__pycache__/cli.cpython-313.pyc", False),
        ("src/budgetprune/forest/kernels.cpython-313-x86_64-linux-gnu.so", False),
        (".git/config", False),
        ("tests/golden/averaged-1.budgetprune", False),
        (".env", False),
    ],
)
def test_ignored_files(name, expected):
    assert container.is_sent(name, IGNORED) == expected


def test_the_entry_point_serves_and_its_health_check_tells(tmp_path):
    """In this environment instead of the container's, on a free port of loopback."""
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    model = ROOT / "tests" / "golden" / "averaged-1.budgetprune"
    with container.served(FINAL, model, environment) as check:
        assert check() == 0
    assert check() != 0
