"""Kernels are compiled and cached by one decorator, and work where nothing can be cached."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import budgetprune

PACKAGE = Path(budgetprune.__file__).parent

KERNEL = """
from jit import njit

@njit(cache=True)
def double(x):
    return 2 * x

@njit(cache=True)
def first(fields):
    return fields.x
"""


def child(code: str, *, cwd: Path, **environment: str) -> str:
    """Run code in a separate process, and return what it printed."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    # A copy of the package in `cwd` is found first: `-c` puts that folder before all others.
    done = subprocess.run(
        [sys.executable, "-B", "-c", code],
        cwd=cwd,
        env=inherited | {"PYTHONPATH": os.pathsep.join([str(cwd), str(PACKAGE.parent)])} | environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def nowhere(tmp_path):
    """Environment in which no user-wide cache folder can be made, whoever the user is."""
    (tmp_path / "file").write_text("")
    below = str(tmp_path / "file" / "cache")
    return {"HOME": below, "XDG_CACHE_HOME": below, "LOCALAPPDATA": below, "NUMBA_CACHE_DIR": below}


def write_kernel(folder: Path) -> None:
    """Write a module with a kernel, and the decorator beside it: importing the package takes longer."""
    folder.mkdir(exist_ok=True)
    shutil.copy(PACKAGE / "utils" / "jit.py", folder)
    (folder / "doubling.py").write_text(KERNEL)


def without_cache_folders(folder: Path) -> None:
    """Put files where ``__pycache__`` would be: nothing can be written there, even by root."""
    for each in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
        (each / "__pycache__").write_text("")


def test_a_kernel_works_without_any_cache_folder(tmp_path, nowhere):
    place = tmp_path / "place"
    write_kernel(place)
    without_cache_folders(place)
    code = "from doubling import double; print(double(2), double.signatures)"
    assert child(code, cwd=place, **nowhere) == "4 [(int64,)]\n"


def test_a_cache_folder_that_fails_after_import(tmp_path):
    """A full disk, say: the kernel is compiled, and its result is returned."""
    write_kernel(tmp_path)
    code = (
        "import shutil, pathlib; from doubling import double\n"
        "cache = pathlib.Path('cache'); shutil.rmtree(cache); cache.write_text('')\n"
        "print(double(2), double(2.5))"
    )
    assert child(code, cwd=tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache")) == "4 5.0\n"


def test_damaged_files_in_the_cache(tmp_path):
    write_kernel(tmp_path)
    cache = tmp_path / "cache"
    code = "from doubling import double; print(double(2))"
    child(code, cwd=tmp_path, NUMBA_CACHE_DIR=str(cache))
    written = [file for file in cache.rglob("*") if file.is_file()]
    assert written
    for content in (b"", b"damaged"):
        for file in written:
            file.write_bytes(content)
        assert child(code, cwd=tmp_path, NUMBA_CACHE_DIR=str(cache)) == "4\n"


def test_a_class_that_was_renamed_since(tmp_path):
    """Files of an older version refer to it; they are replaced."""
    write_kernel(tmp_path)
    hits = []
    for name in ("Old", "New", "New"):
        (tmp_path / "types_of_kernel.py").write_text(
            f"from typing import NamedTuple\nclass {name}(NamedTuple):\n    x: int\n"
        )
        code = (
            f"from doubling import first; from types_of_kernel import {name}\n"
            f"print(first({name}(2)), sum(first.stats.cache_hits.values()))"
        )
        hits.append(child(code, cwd=tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache")))
    assert hits == ["2 0\n", "2 0\n", "2 1\n"]


def test_compiled_code_serves_other_processes(tmp_path):
    write_kernel(tmp_path)
    code = "from doubling import double; double(2); print(sum(double.stats.cache_hits.values()))"
    hits = [child(code, cwd=tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache")) for _ in range(2)]
    assert hits == ["0\n", "1\n"]


def test_kernels_run_uncompiled(tmp_path):
    write_kernel(tmp_path)
    code = "from doubling import double; print(type(double).__name__, double(2))"
    assert child(code, cwd=tmp_path, NUMBA_DISABLE_JIT="1") == "function 4\n"


@pytest.mark.uncompiled
def test_all_kernels_are_declared_with_our_decorator():
    compilers = {"jit", "njit", "prange", "vectorize", "guvectorize", "stencil", "cfunc", "generated_jit"}
    found = []
    for file in PACKAGE.rglob("*.py"):
        if file == PACKAGE / "utils" / "jit.py":
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "numba":
                names = {each.name for each in node.names}
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                names = {node.attr} if node.value.id in ("numba", "nb") else set()
            else:
                continue
            found += [f"{file.relative_to(PACKAGE)}:{node.lineno}: {name}" for name in names & compilers]
    assert not found, "import these from budgetprune.utils.jit"
