"""A few odd connections; `make fuzz` tries more."""

from __future__ import annotations

from .fuzz_connections import fuzz


def test_a_few_cases():
    outcomes = fuzz(25, seed=0)
    assert outcomes.total() == 26  # one more for the end
    assert outcomes["ended"] == 1
    assert outcomes["answered"]
