"""What tests of solvers share."""

from collections.abc import Iterator

import numba
import pytest


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Run kernels on one thread: on tiny problems, threads mostly wait for each other."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(before)
