"""Expected scores of trees if some features are unknown."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetprune.forest import Forest, PackedTrees, goes_left, numba_pack
from budgetprune.utils.jit import njit


def expected_values(
    forest: Forest, rows: NDArray[np.float64], known: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum the expected values of the trees; at tests of unknown features, both sides are averaged.

    Parameters
    ----------
    forest : Forest
    rows : of shape (n_rows, n_features)
    known : bool array of shape (n_features,)

    Returns
    -------
    scores : of shape (n_rows, n_outputs), with the base, without the divisor
    deviation : of the same shape
        Sum of the standard deviations of the trees. This is an upper bound of the standard deviation of the
        score, reached if the errors of all trees are fully correlated; they are correlated, because the trees
        lack the same features.
    """
    scores, deviation = np.tile(forest.base, (len(rows), 1)), np.zeros((len(rows), forest.base.size))
    _add_expected(
        rows,
        known,
        numba_pack(forest),
        forest.right,
        forest.weight,
        forest.value,
        forest.tree_output,
        scores,
        deviation,
    )
    return scores, deviation


@njit(cache=True)
def _add_expected(
    rows: NDArray[np.float64],
    known: NDArray[np.bool_],
    trees: PackedTrees,
    right: NDArray[np.int32],
    weight: NDArray[np.float64],
    value: NDArray[np.float64],
    tree_output: NDArray[np.int32],
    scores: NDArray[np.float64],
    deviation: NDArray[np.float64],
) -> None:
    longest = 0
    for t in range(tree_output.size):
        longest = max(longest, trees.tree_start[t + 1] - trees.tree_start[t])
    waiting, share = np.empty(longest, np.int64), np.empty(longest)
    mean, square = np.empty(scores.shape[1]), np.empty(scores.shape[1])
    for i in range(rows.shape[0]):
        for t in range(tree_output.size):
            waiting[0], share[0] = trees.tree_start[t], 1.0
            n_waiting = 1
            mean[:], square[:] = 0.0, 0.0
            while n_waiting > 0:
                n_waiting -= 1
                h, part = waiting[n_waiting], share[n_waiting]
                k = trees.node[h]["feature"]
                if k < 0:
                    if tree_output[t] >= 0:
                        mean[tree_output[t]] += part * value[h, 0]
                        square[tree_output[t]] += part * value[h, 0] ** 2
                    else:
                        for c in range(scores.shape[1]):
                            mean[c] += part * value[h, c]
                            square[c] += part * value[h, c] ** 2
                elif known[k]:
                    left = goes_left(
                        rows[i, k],
                        h,
                        trees.threshold,
                        trees.missing_left,
                        trees.category_set,
                        trees.category_start,
                        trees.category_bits,
                        trees.zero_is_missing,
                    )
                    waiting[n_waiting], share[n_waiting] = (h + 1 if left else right[h]), part
                    n_waiting += 1
                else:
                    on_left, on_right = weight[h + 1], weight[right[h]]
                    # Smoothed training weights, so that no side has probability 0.
                    portion = (on_left + 1) / (on_left + on_right + 2)
                    waiting[n_waiting], share[n_waiting] = right[h], part * (1 - portion)
                    waiting[n_waiting + 1], share[n_waiting + 1] = h + 1, part * portion
                    n_waiting += 2
            for c in range(scores.shape[1]):
                scores[i, c] += mean[c]
                deviation[i, c] += np.sqrt(max(square[c] - mean[c] ** 2, 0.0))
