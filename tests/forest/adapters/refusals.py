"""Check that damaged models are refused, and training rows for such models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from budgetprune import Forest, InvalidInputError

X = np.random.default_rng(0).normal(size=(120, 4))
X[:, 3] = np.arange(120) % 5
Y = (X[:, 0] + X[:, 1] * (X[:, 3] % 2) > 0).astype(int)


def refuse(model: Any, words: str) -> None:
    with pytest.raises(InvalidInputError, match=f"this model is damaged: .*{words}"):
        Forest.from_model(model)
