"""Label rules of the original libraries, including ties of probabilities.

LightGBM and XGBoost compare probabilities, not scores, and XGBoost does so in single precision. Scores that
differ by less than the last bit of a probability give equal ones, and then the first class wins.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from budgetprune.forest.forest import Forest


def label_numbers(forest: Forest, scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Class index of each row, by the label rule of a forest.

    Parameters
    ----------
    forest : a classifier
    scores : of shape (n_rows, n_outputs)
    """
    with np.errstate(over="ignore", invalid="ignore"):  # scores beyond single precision become infinite
        scores = scores.astype(forest.label_dtype, copy=False)
        if forest.link != "logistic":
            if forest.label_rule == "nonnegative":
                return (scores[:, 1] >= scores[:, 0]).astype(np.intp)
            first = np.argmax(scores, axis=1)
            return _first_of_ties(scores, first) if forest.label_rule == "likeliest" else first
        score, cut = scores[:, 0], label_cut(forest)
        return (score >= cut if forest.label_rule == "nonnegative" else score > cut).astype(np.intp)


def label_cut(forest: Forest) -> float:
    """Score up to which (below which, for "nonnegative") the first of two classes is the label.

    Let 1 - 2 u be the largest number below 1. Then 1 + (1 - 2 u) is halfway between two numbers and becomes
    2, so that 1 / (1 + exp(-s)) exceeds one half only if exp(-s) is rounded to at most 1 - 4 u. That is so if
    s exceeds 3 u.
    """
    if forest.label_rule != "likeliest":
        return 0.0
    return 3 * _half_step(forest)


def tie_margin(forest: Forest, largest: float) -> float:
    """Margin between two scores above which rounding cannot change the label.

    Parameters
    ----------
    forest : a classifier with a score for each class
    largest : bound of the absolute values of all scores
    """
    u = 2 * _half_step(forest)
    rounding = 4 * u * largest if forest.label_dtype == np.float32 else 0.0
    return rounding + (8 * u if forest.label_rule == "likeliest" else 0.0)


def _half_step(forest: Forest) -> float:
    return float(np.finfo(forest.label_dtype).epsneg) / 2


def _first_of_ties(scores: NDArray[Any], best: NDArray[np.intp]) -> NDArray[np.intp]:
    """First class with the largest probability after rounding; `best` has the largest score."""
    top = np.take_along_axis(scores, best[:, np.newaxis], axis=1)
    near = top - scores <= 16 * np.finfo(scores.dtype).epsneg
    for i in np.flatnonzero(near.argmax(axis=1) < best):
        best[i] = np.argmax(_softmax(scores[i]))
    return best


def _softmax(scores: NDArray[Any]) -> NDArray[Any]:
    """Probabilities as LightGBM and XGBoost compute them, with the exponential of the C library."""
    kind = scores.dtype.type
    share = np.array([math.exp(min(s, 0.0)) for s in (scores - scores.max()).tolist()], dtype=kind)
    total = 0.0  # in double precision, one after the other
    for one in share.tolist():
        total += one
    return np.asarray(share / kind(total))
