"""Settings of all tests."""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip files without a test for the pass with the JIT off: importing them takes longer than that pass."""
    if config.getoption("markexpr") != "nojit" or collection_path.suffix != ".py":
        return None
    return True if "mark.nojit" not in collection_path.read_text(encoding="utf-8") else None
