"""Images that several tests describe."""

from __future__ import annotations

import pytest

from budgetprune_experiments.descriptors.images import load_large_digits


@pytest.fixture(scope="module")
def images():
    return load_large_digits(30)[0]
