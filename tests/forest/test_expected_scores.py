"""Expected scores if some features are unknown, against a recursion in plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from budgetprune import Forest
from budgetprune.forest import expected_scores
from budgetprune.forest.expected_scores import expected_values
from budgetprune.utils.threads import kernel_threads

from ..predictor.forests import KINDS, random_forest
from ..predictor.oracles import child

pytestmark = pytest.mark.uncompiled


def leaves_of(forest: Forest, h: int, row: np.ndarray, known: np.ndarray, share: float) -> dict[int, float]:
    """Leaves below a node with the probability to reach each of them."""
    k = forest.feature[h]
    if k < 0:
        return {h: share}
    if known[k]:
        return leaves_of(forest, child(forest, h, row[k]), row, known, share)
    left, right = int(forest.left[h]), int(forest.right[h])
    on_left = (forest.weight[left] + 1) / (forest.weight[left] + forest.weight[right] + 2)
    found = leaves_of(forest, left, row, known, share * on_left)
    return found | leaves_of(forest, right, row, known, share * (1 - on_left))


def expected(forest: Forest, row: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    mean, deviation = forest.base.copy(), np.zeros_like(forest.base)
    for t, root in enumerate(forest.tree_start[:-1]):
        found = leaves_of(forest, int(root), row, known, 1.0)
        output = forest.tree_output[t]
        fed = np.arange(forest.n_outputs) if output < 0 else [output]
        values = forest.value[list(found)] if output < 0 else forest.value[list(found), :1]
        share = np.array(list(found.values()))
        mean[fed] += share @ values
        deviation[fed] += np.sqrt(np.maximum(share @ values**2 - (share @ values) ** 2, 0.0))
    return mean, deviation


@pytest.mark.parametrize("kind", KINDS)
def test_mean_and_deviation(kind):
    rng = np.random.default_rng(1)
    forest = random_forest(rng, kind, 4, 3)
    rows = rng.integers(0, 4, (5, 4)).astype(float)
    for known in (np.zeros(4, bool), np.arange(4) < 2, np.ones(4, bool)):
        scores, deviation = expected_values(forest, rows, known)
        for i, row in enumerate(rows):
            mean, spread = expected(forest, row, known)
            np.testing.assert_allclose(scores[i], mean, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(deviation[i], spread, rtol=1e-6, atol=1e-6)


def test_threads_do_not_matter(monkeypatch):
    monkeypatch.setattr(expected_scores, "BLOCK", 2)
    rng = np.random.default_rng(1)
    forest = random_forest(rng, "averaged, three classes", 4, 3)
    rows, known = rng.integers(0, 4, (7, 4)).astype(float), np.arange(4) < 2
    found = []
    for n_threads in (1, 2):
        with kernel_threads(n_threads):
            found.append(expected_values(forest, rows, known))
    np.testing.assert_array_equal(found[0], found[1])
