"""What tests of solvers share."""

from collections.abc import Iterator

import pytest

from budgetprune.utils.threads import kernel_threads


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Run kernels on one thread: on tiny problems, threads mostly wait for each other."""
    with kernel_threads(1):
        yield
