"""Bootstrap samples: the training rows of each tree."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError


def in_bag_counts(model: Any, n_rows: int) -> NDArray[np.int32]:
    """Count how often each of `n_rows` training rows is in each tree's sample, of shape (n_trees, n_rows).

    Ensembles redraw their samples from stored seeds (`estimators_samples_`); a single tree uses every row
    once.
    """
    is_single_tree = not hasattr(model, "estimators_samples_")
    n_trained = int(model.tree_.n_node_samples[0]) if is_single_tree else model._n_samples
    if n_rows != n_trained:
        raise InvalidInputError(
            f"the {type(model).__name__} was trained on {n_trained} rows, but {n_rows} were given; "
            "pass exactly the rows it was trained on, in their order."
        )
    if is_single_tree:
        return np.ones((1, n_rows), dtype=np.int32)
    samples = model.estimators_samples_
    counts = np.empty((len(samples), n_rows), dtype=np.int32)
    for row, sample in zip(counts, samples, strict=True):
        row[:] = np.bincount(sample, minlength=n_rows)
    return counts
