"""Translation of `CategoryNumbers`."""

from __future__ import annotations

from typing import Any

import numpy as np

from budgetprune.preprocessing.operations import Lookup
from budgetprune.preprocessing.translate.builder import Builder


def category_numbers(
    builder: Builder, name: str, transformer: Any, inputs: list[int], is_flat: bool
) -> list[int]:
    """Translate a `CategoryNumbers`."""
    del is_flat
    found = []
    for column, labels in zip(inputs, transformer.labels_, strict=True):
        if labels is None:
            found.append(column)
            continue
        numbers = (*map(float, range(len(labels))), np.nan)
        found += builder.add(
            Lookup((column,), (*labels, None), builder.place(column, name), (numbers,), (np.nan,))
        )
    return found
