"""A few of the files that `make fuzz` tries."""

import pytest

from ..persistence.fuzz_model_file import fuzz
from . import fuzz_npz, fuzz_path_file


@pytest.mark.parametrize("module", [fuzz_path_file.MODULE, fuzz_npz.MODULE])
def test_a_few_hundred_broken_files(tmp_path, module):
    """`make fuzz` tries 20,000, and checks the bounds of arrays in kernels too."""
    reasons = fuzz(300, tmp_path, module=module)
    assert sum(reasons.values()) >= 300
    assert len(reasons) > 20  # many checks are reached
    assert reasons[""] > 3  # and some files are fine
