"""Logistic regression with an l1 penalty per coefficient, by a proximal Newton method.

There are many rows and few features here. A step therefore forms the Hessian once, and the rest of the
step works on that small matrix. Solvers that pass over the rows for every coefficient take a hundred times
as long if columns are correlated.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve

from budgetprune.baselines.kernels import coordinate_descent
from budgetprune.utils.special import expit

Floats = NDArray[np.float64]

_N_SWEEPS = 10  # sweeps over the coefficients within a step
_MOST_CHANGES = 10  # sign changes per coefficient and step
_CURVATURE = 1e-10  # added to the second derivatives, as a fraction: where classes are separable, they vanish
_DECREASE = 1e-4  # required decrease, as a fraction of the predicted one (Armijo)
_LEAST_SHARE = 1e-12  # of a class without weight, so that logarithms are finite
_ROUNDING = 1e-14  # relative rounding error of the objective
_SHORTEST = 1e-10  # shortest step that the line search tries


class Fit(NamedTuple):
    """Coefficients and convergence of the solver."""

    coef: Floats
    intercept: float
    n_iter: int
    has_converged: bool


def fit_l1_logistic(
    columns: Floats, target: NDArray[np.bool_], weight: Floats, penalty: Floats, tol: float, max_iter: int
) -> Fit:
    """Minimise ``sum of weight * logistic loss + sum of penalty * |coefficient|``; the intercept is free.

    Parameters
    ----------
    columns : float64 array of shape (n_rows, n_features), best with mean 0 and deviation 1
    target : bool array of shape (n_rows,)
    weight : float64 array of shape (n_rows,)
    penalty : float64 array of shape (n_features,), at least 0
    tol : float
        The search ends when no partial derivative is larger than this fraction of the sum of all weights.
    max_iter : int
    """
    with_ones = np.column_stack([columns, np.ones(len(columns))])
    strength = np.append(penalty, 0.0)
    coef = np.zeros(strength.size)
    share = np.clip(np.average(target, weights=weight), _LEAST_SHARE, 1 - _LEAST_SHARE)
    coef[-1] = np.log(share / (1 - share))  # optimal if all coefficients are 0
    sign = np.where(target, 1.0, -1.0)
    score = np.full(len(columns), coef[-1])
    value = _objective(score, sign, weight, coef, strength)
    accuracy = tol * weight.sum()
    for n_iter in range(1, max_iter + 1):
        probability = expit(score)
        gradient = with_ones.T @ (weight * (probability - target))
        # Leave out features whose coefficient is 0 and would stay 0.
        moves = np.flatnonzero((coef != 0) | (np.abs(gradient) > strength))
        moves = np.union1d(moves, [coef.size - 1])
        if np.abs(_slope(gradient, coef, strength)).max() <= accuracy:
            return Fit(coef[:-1], float(coef[-1]), n_iter, True)
        some = with_ones[:, moves]
        hessian = (some * (weight * probability * (1 - probability))[:, np.newaxis]).T @ some
        flattest = max(_CURVATURE * np.trace(hessian), np.finfo(np.float64).tiny)
        hessian[np.diag_indices_from(hessian)] += flattest
        other = best_of_quadratic(hessian, gradient[moves], coef[moves], strength[moves], 0.1 * accuracy)
        step = np.zeros_like(coef)
        step[moves] = other - coef[moves]
        predicted = gradient @ step + strength @ (np.abs(coef + step) - np.abs(coef))
        if -predicted <= _ROUNDING * value:  # too small to change the objective
            coef[moves] = other
            return Fit(coef[:-1], float(coef[-1]), n_iter, True)
        direction, length = some @ step[moves], 1.0
        while length > _SHORTEST:
            # Exactly `other` for a full step, so that its zeros stay exact.
            new = np.copy(coef)
            new[moves] = other if length == 1.0 else coef[moves] + length * step[moves]
            new_value = _objective(score + length * direction, sign, weight, new, strength)
            if new_value <= value + _DECREASE * length * predicted:
                coef, value, score = new, new_value, score + length * direction
                break
            length /= 2
        else:
            return Fit(coef[:-1], float(coef[-1]), n_iter, False)
    return Fit(coef[:-1], float(coef[-1]), max_iter, False)


def _objective(score: Floats, sign: Floats, weight: Floats, coef: Floats, strength: Floats) -> float:
    return float(weight @ np.logaddexp(0.0, -sign * score) + strength @ np.abs(coef))


def _slope(gradient: Floats, coef: Floats, strength: Floats) -> Floats:
    """Partial derivatives; at a coefficient of 0, the descent derivative, or 0 if there is none."""
    at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - strength, 0.0)
    return np.where(coef == 0, at_zero, gradient + strength * np.sign(coef))


# --- One step -----------------------------------------------------------------------------------------------


def best_of_quadratic(
    hessian: Floats, gradient: Floats, coef: Floats, strength: Floats, accuracy: float
) -> Floats:
    """Minimise the quadratic model around `coef` plus the penalties, exactly (feature-sign search).

    For a given set of nonzero coefficients and their signs, the minimum solves a linear system. The search
    moves to this solution unless signs change on the way; then to the best point where they do. Violating
    zero coefficients are added one by one. (With correlated columns, coordinate descent converges too
    slowly; a few sweeps only provide the starting point.)
    """
    best = coordinate_descent(hessian, gradient, coef, strength, _N_SWEEPS)
    slope = gradient + hessian @ (best - coef)
    is_free = strength == 0
    sign = np.sign(best)
    for _ in range(_MOST_CHANGES * best.size):
        on = np.flatnonzero((sign != 0) | is_free)
        gradient_on = slope[on] + strength[on] * sign[on]
        if np.abs(gradient_on).max(initial=0.0) > accuracy:
            move = np.zeros_like(best)
            move[on] = -solve(hessian[np.ix_(on, on)], gradient_on, assume_a="pos")
            best = _move(best, move, slope, hessian, strength)
            sign = np.sign(best)
            slope = gradient + hessian @ (best - coef)
            continue
        violation = np.where(sign == 0, np.abs(slope) - strength, 0.0)
        k = int(np.argmax(violation))
        if violation[k] <= accuracy:
            break
        sign[k] = -np.sign(slope[k])
    return best


def _move(best: Floats, move: Floats, slope: Floats, hessian: Floats, strength: Floats) -> Floats:
    """Move to the end of a segment, or to the best point on it where a coefficient becomes 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = -best / move
    crossing[(strength == 0) | ~((crossing > 0) & (crossing < 1))] = np.inf
    lengths = np.append(crossing[np.isfinite(crossing)], 1.0)
    linear, square = slope @ move, move @ hessian @ move
    penalties = np.abs(best + lengths[:, np.newaxis] * move) @ strength
    length = lengths[np.argmin(linear * lengths + square * lengths**2 / 2 + penalties)]
    return np.where(crossing == length, 0.0, best + length * move)
