"""Boosting as the books have it, row by row and split by split: what GreedyMiser must be."""

from __future__ import annotations

import numpy as np


def boosted_scores(X, target, weight, n_rounds, learning_rate, max_depth, *, classes=None):
    """Scores of the rows that are trained on, after some rounds without any cost.

    `classes` is the number of classes (more than two: one ensemble for each), or None for squared loss.
    """
    n = len(target)
    y = np.eye(classes)[target] if classes is not None and classes > 2 else target[:, np.newaxis]
    mean = np.average(y, axis=0, weights=weight)
    start = mean if classes is None else np.log(mean / (1 - mean)) if classes == 2 else np.log(mean)
    score = np.tile(start, (n, 1))
    for _ in range(n_rounds):
        probability = _probability(score, classes)
        residual = y - probability
        curvature = np.ones_like(score) if classes is None else probability * (1 - probability)
        for k in range(score.shape[1]):
            for rows in _leaves(X, residual[:, k], weight, list(range(n)), max_depth):
                slope = sum(weight[i] * residual[i, k] for i in rows)
                step = slope / sum(weight[i] * curvature[i, k] for i in rows)
                if score.shape[1] > 1:
                    step *= (classes - 1) / classes
                score[rows, k] += learning_rate * step
    return score


def _probability(score, classes):
    if classes is None:
        return score.copy()
    if classes == 2:
        return 1 / (1 + np.exp(-score))
    return np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)


def _leaves(X, residual, weight, rows, depth):
    """Rows of each leaf of the least-squares tree."""
    if depth == 0:
        return [rows]
    best = None
    for k in range(X.shape[1]):
        for value in sorted(set(X[rows, k]))[:-1]:
            left = [i for i in rows if X[i, k] <= value]
            right = [i for i in rows if X[i, k] > value]
            loss = _squares(residual[left], weight[left]) + _squares(residual[right], weight[right])
            if best is None or loss < best[0]:
                best = loss, left, right
    if best is None or best[0] >= _squares(residual[rows], weight[rows]) - 1e-12:
        return [rows]
    return [leaf for side in best[1:] for leaf in _leaves(X, residual, weight, side, depth - 1)]


def _squares(residual, weight):
    mean = (residual * weight).sum() / weight.sum()
    return float((weight * (residual - mean) ** 2).sum())
