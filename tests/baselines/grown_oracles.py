"""Slow, obvious twins of the grower: every feature, every edge, both sides for what is missing."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

import numpy as np

from budgetprune.baselines.binning import MISSING

CLOSE = 1e-9


def entropy(weights, a):
    total = sum(weights)
    bits = -sum(w / total * math.log2(w / total) for w in weights if w > 0)
    return bits if bits >= a - 1e-12 else 0.0  # half and half is a whole bit, however it is rounded


def pairs(weights, a):
    """Exact, if weights and threshold are fractions."""

    def positive(x):
        return max(x, 0)

    return sum(positive(positive(m - a) * positive(n - a) - a * a) for m, n in combinations(weights, 2))


class Candidate(NamedTuple):
    """A feature, how much its best split lowers, and the splits that do: the rows that go left."""

    feature: int
    decrease: float
    lefts: tuple[frozenset[int], ...]


def splits(code, n_bins, rows, min_samples_leaf):
    """Every way in which an edge between bins, or one around the missing values, divides some rows."""
    for edge in range(n_bins):
        for missing_left in (False, True):
            left = frozenset(int(i) for i in rows if code[i] <= edge or (missing_left and code[i] == MISSING))
            if min_samples_leaf <= len(left) <= len(rows) - min_samples_leaf:
                yield left


def candidates(bins, rows, min_samples_leaf, before, after):
    """The best split of every feature that lowers anything.

    Parameters
    ----------
    bins : Bins
    rows : numbers of the node's rows
    before : what the node loses as a leaf
    after : callable
        What it loses with some rows on the left, and others on the right.
    """
    for k in range(bins.n_bins.size):
        worth = {
            left: after(left, frozenset(map(int, rows)) - left)
            for left in splits(bins.code[k], bins.n_bins[k], rows, min_samples_leaf)
        }
        if worth and before - min(worth.values()) > CLOSE:
            least = min(worth.values())
            yield Candidate(k, before - least, tuple(left for left, w in worth.items() if w <= least + CLOSE))


def impurity_after(label, weight, n_classes, measure, rule, a):
    """What rows lose as one node, and as two, by the definition."""

    def class_weights(rows):
        exact = [Fraction(0)] * n_classes
        for i in rows:
            exact[label[i]] += Fraction(float(weight[i]))
        return exact

    def of(rows):
        weights = class_weights(rows)
        if measure == "pairs":
            return float(pairs(weights, Fraction(a)))
        return entropy([float(w) for w in weights], a)

    def after(left, right):
        if rule == "minimax":
            return max(of(left), of(right))
        w_left, w_right = (float(sum(class_weights(side))) for side in (left, right))
        return (w_left * of(left) + w_right * of(right)) / (w_left + w_right)

    return of, after


def squared_after(target, weight):
    """The same for squared loss around the mean."""

    def of(rows):
        rows = sorted(rows)
        mean = np.average(target[rows], weights=weight[rows])
        return float(np.sum(weight[rows] * (target[rows] - mean) ** 2))

    return of, lambda left, right: of(left) + of(right)


def rows_of_nodes(tree, bins, rows):
    """Send rows down a tree as it was grown; return those that reach each node."""
    reached = {0: np.asarray(rows)}
    for h in np.flatnonzero(tree.feature >= 0):
        here = reached[h]
        code = bins.code[tree.feature[h], here]
        is_left = (code <= tree.bin[h]) | ((code == MISSING) & tree.missing_left[h])
        reached[tree.left[h]], reached[tree.right[h]] = here[is_left], here[~is_left]
    return [reached[h] for h in range(tree.feature.size)]
