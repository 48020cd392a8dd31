"""One service for all tests of a process that need one."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from .models import predictor
from .servers import Running, running

# Small limits are reached by small requests.
MAX_BODY, MAX_BATCH, MAX_BATCH_BODY = 4000, 20, 10_000


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    model = tmp_path_factory.mktemp("model") / "classes.budgetprune"
    predictor("classes").save(model)
    limits = {"--max-body": MAX_BODY, "--max-batch": MAX_BATCH, "--max-batch-body": MAX_BATCH_BODY}
    with running(model, *(str(word) for pair in limits.items() for word in pair)) as found:
        yield found


@pytest.fixture(scope="session")
def client(service: Running) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=service.url, timeout=60) as found:
        yield found
