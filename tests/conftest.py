"""Settings of all tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip files without a test for the uncompiled pass: importing them takes longer than that pass."""
    if config.getoption("markexpr") != "uncompiled" or collection_path.suffix != ".py":
        return None
    return True if "mark.uncompiled" not in collection_path.read_text(encoding="utf-8") else None


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let `make test-portable` change the order of tests."""
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run the tests in a random order")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Shuffle; every process shuffles alike, as pytest-xdist asks for."""
    seed = config.getoption("--shuffle")
    if seed is not None:
        Random(seed).shuffle(items)


@pytest.fixture(scope="session", autouse=True)
def short_training(request: pytest.FixtureRequest) -> Iterator[None]:
    """Train staged models shortly; the uncompiled pass trains none."""
    if request.config.getoption("markexpr") == "uncompiled":
        yield
        return
    from .training import short_training

    with short_training():
        yield


@pytest.fixture
def full_training() -> Iterator[None]:
    """Train staged models as users do, for tests of accuracy and of what is trained."""
    from .training import full_training

    with full_training():
        yield
