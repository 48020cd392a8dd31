"""Sums of leaves over rows and of rows over leaves: by definition, and on any number of threads."""

import numpy as np
import pytest

from budgetprune.refit.sums import add_scores, add_sums

from .threads import on_threads

N_TREES, N_ROWS, N_LEAVES = 5, 40, 7  # N_LEAVES of each tree


def trees(n_outputs, one_output_each):
    """Leaves of rows, their values, amounts of rows, and the output that each tree adds to."""
    rng = np.random.default_rng(0)
    stop = rng.integers(0, N_LEAVES, (N_TREES, N_ROWS)) + N_LEAVES * np.arange(N_TREES)[:, np.newaxis]
    output = np.arange(N_TREES) % n_outputs if one_output_each else np.full(N_TREES, -1)
    value = rng.normal(size=(N_TREES * N_LEAVES, 1 if one_output_each else n_outputs))
    return stop.astype(np.int32), output.astype(np.int32), value, rng.normal(size=(N_ROWS, n_outputs))


@pytest.mark.uncompiled
@pytest.mark.parametrize("one_output_each", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 2, 3])
def test_sums_are_added(n_outputs, one_output_each):
    stop, output, value, amount = trees(n_outputs, one_output_each)
    scores, sums = np.full_like(amount, 10.0), np.full_like(value, 20.0)
    add_scores(stop, value, output, scores)
    add_sums(stop, amount, output, sums)
    expected_scores, expected_sums = np.full_like(amount, 10.0), np.full_like(value, 20.0)
    for t in range(N_TREES):
        columns = slice(output[t], output[t] + 1) if one_output_each else slice(None)
        expected_scores[:, columns] += value[stop[t]]
        np.add.at(expected_sums, stop[t], amount[:, columns])
    assert np.array_equal(scores, expected_scores)
    assert np.array_equal(sums, expected_sums)


def test_sums_do_not_depend_on_threads():
    stop, output, value, amount = trees(3, one_output_each=False)

    def both():
        scores, sums = np.zeros_like(amount), np.zeros_like(value)
        add_scores(stop, value, output, scores)
        add_sums(stop, amount, output, sums)
        return scores, sums

    for one, two in zip(on_threads(1, both), on_threads(2, both), strict=True):
        assert np.array_equal(one, two)
