"""The benchmark of the cold start runs in this environment."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from benchmarks import cold
from benchmarks.measure import BenchmarkError


def test_a_command_that_fails_is_an_error():
    assert cold.processor_seconds([sys.executable, "-c", "pass"], os.environ) >= 0
    with pytest.raises(BenchmarkError, match="no_such_module"):
        cold.processor_seconds([sys.executable, "-c", "import no_such_module"], os.environ)


def test_size_leaves_out_what_is_shared(tmp_path):
    site = tmp_path / "lib" / "python3.11" / "site-packages"
    for name in ("mine", "numpy", "scipy.libs", "narwhals"):
        (site / name).mkdir(parents=True)
        (site / name / "file").write_bytes(b"0" * 2_000_000)
    assert cold.installed_size(tmp_path / "bin" / "python") == pytest.approx(2.0)


def test_what_was_built_elsewhere_is_not_copied(tmp_path, monkeypatch):
    checkout, copy = tmp_path / "checkout", tmp_path / "copy"
    kept = ["pyproject.toml", "src/budgetprune/cli.py"]
    for file in ("build/wheel/CMakeCache.txt", ".venv/pyvenv.cfg", *kept):
        (checkout / file).parent.mkdir(parents=True, exist_ok=True)
        (checkout / file).touch()
    monkeypatch.setattr(cold, "ROOT", checkout)
    cold.copy_source(copy)
    assert sorted(str(file.relative_to(copy)) for file in copy.rglob("*.*")) == kept


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_the_service_starts_and_has_memory():
    ready, memory = cold.serve(Path(sys.executable), os.environ, cold.MODEL)
    assert ready > 0
    assert 20 < memory < 5000


def test_a_service_that_does_not_start_is_an_error():
    lines = iter(["starting", ""])
    with pytest.raises(BenchmarkError, match="did not start"):
        cold.wait_for(lambda line: "http://" in line, lambda: next(lines))
