"""Short training of staged models: most tests are not about accuracy, and a fit trains hundreds of models.

Only tests with the fixture `full_training`, and commands in processes of their own, train as users do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace

import pytest

from budgetprune.staged.fitting import pipeline
from budgetprune.staged.training import settings

_choose_extent = pipeline.choose_training_extent


def _few_chains(*arguments):
    """Return the extent with one setting for each stage, and no chains beyond those that every fit needs."""
    return replace(_choose_extent(*arguments), single_setting=True, n_chains=1)


# Module, name, and value of short training.
_SHORT = [
    (pipeline, "MOST_SPLITS", 1),
    (pipeline, "choose_training_extent", _few_chains),
    (settings, "N_ROUNDS", 30),
]
_FULL = [(module, name, getattr(module, name)) for module, name, _ in _SHORT]


def short_training() -> AbstractContextManager[None]:
    """Train shortly within this context."""
    return _with_values(_SHORT)


def full_training() -> AbstractContextManager[None]:
    """Train as users do within this context, for fixtures of modules."""
    return _with_values(_FULL)


@contextmanager
def _with_values(values) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for each in values:
            patch.setattr(*each)
        yield
