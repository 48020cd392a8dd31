"""A few of the files that `make fuzz` tries."""

from __future__ import annotations

from ..persistence.fuzz_model_file import fuzz
from .fuzz_staged_file import MODULE


def test_a_few_hundred_broken_files(tmp_path):
    """`make fuzz` tries 20,000, and checks the bounds of arrays in kernels too."""
    reasons = fuzz(250, tmp_path, module=MODULE)
    assert sum(reasons.values()) >= 250
    assert len(reasons) > 20  # many checks are reached
    assert reasons[""] > 3  # and some files are fine
