"""`refit`: joint refit of the remaining leaves."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from budgetprune.errors import InvalidInputError, UnsupportedModelError
from budgetprune.forest import Forest, mean_of_leaves
from budgetprune.problem import Pruning
from budgetprune.refit.leaves import Array, Leaves
from budgetprune.refit.minimum import Minimum
from budgetprune.refit.newton import minimise
from budgetprune.refit.sample import Sample
from budgetprune.refit.simplex import minimise_on_simplex
from budgetprune.utils.numbers import at_least_zero

Kind: TypeAlias = Literal["squared", "softmax", "own"]

# Probabilities below this are raised to it before logarithms are taken.
CLIP = 1e-3
TOLERANCE = 1e-3


@dataclass(frozen=True, eq=False)
class Refit:
    """Refitted forest, with convergence information.

    Attributes
    ----------
    forest : Forest
    kind, ridge
        The arguments of `refit`.
    gradient_norm : float
        Length of the final gradient, as a share of that at the old values. (For ``"squared"``
        classification, of the step that the constraints allow.)
    converged : bool
        Whether `gradient_norm` is within the tolerance.
    n_steps : int
        Steps of Newton's method, or sweeps over the trees.
    shift : float64 array of shape (n_nodes, n_values)
        New minus old contributions of the nodes to the score: a warm start for another refit.
    """

    forest: Forest = field(repr=False)
    kind: Kind
    ridge: float
    gradient_norm: float
    converged: bool
    n_steps: int
    shift: NDArray[np.float64] = field(repr=False)


def kinds_for(forest: Forest) -> tuple[Kind, ...]:
    """List the kinds of refit that fit a forest."""
    if forest.loss is not None:
        return ("own",)
    if forest.is_boosted:
        return ()
    return ("squared", "softmax") if forest.is_classifier else ("squared",)


def refit(
    forest: Forest,
    X: Any,
    y: Any,
    *,
    kind: Kind,
    ridge: float,
    sample_weight: Any = None,
    tolerance: float = TOLERANCE,
) -> Refit:
    """Fit the values of all leaves jointly, to minimise the loss of the *sum* of the trees.

    Each leaf of a forest is fitted to its own rows alone, and a pruned forest has fewer, larger leaves. The
    new values minimise the loss of the summed score on the given rows, plus ``ridge / 2`` times the squared
    distance of the leaves' contributions to the score from the old ones. Inner nodes get the mean of the
    leaves below them, weighted by the rows that stop there.

    Parameters
    ----------
    forest : Forest
    X, y : array-like
        Rows and their labels or targets.
    kind : {"squared", "softmax", "own"}
        ``"squared"``: least squares; a classifier's values stay probabilities, so that the forest can be
        exported to scikit-learn. ``"softmax"``: values become logarithms of probabilities, and the
        log-likelihood of the softmax of their mean is maximised. ``"own"``: the loss that a boosted
        ensemble was trained with.
    ridge : float
        In units of rows: a leaf with that many rows moves about half as far as without a ridge.
    sample_weight : array-like, optional
        Only ratios matter: rows that count at all have an average weight of 1. The class weights that a
        model was trained with are multiplied into it.
    tolerance : float
        Stop at this `Refit.gradient_norm`. If it is not reached, a `ConvergenceWarning` is issued.
    """
    check_kind(forest, kind)
    whole = Pruning(forest, forest.is_split, np.nan, np.nan, np.nan)
    found = refit_pruning(whole, Sample.of(forest, X, y, sample_weight), kind, ridge, tolerance=tolerance)
    if not found.converged:
        warnings.warn(
            f"the refit ended after {found.n_steps} steps with a gradient of {found.gradient_norm:.1e}, not "
            f"{tolerance:.1e}, of the first one; use a larger ridge or tolerance.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return found


def refit_pruning(
    pruning: Pruning,
    sample: Sample,
    kind: Kind,
    ridge: float,
    *,
    start: NDArray[np.float64] | None = None,
    tolerance: float = TOLERANCE,
) -> Refit:
    """Refit the leaves of a pruned forest, on rows that are routed already; see `refit`.

    Parameters
    ----------
    start : array of shape (n_nodes, n_values), optional
        `Refit.shift` of the same pruning with another ridge, as a warm start: the result is the same up to
        the tolerance.
    """
    ridge, tolerance = at_least_zero(ridge, "ridge"), at_least_zero(tolerance, "tolerance")
    forest = pruning.forest
    check_kind(forest, kind)
    if start is not None and np.shape(start) != forest.value.shape:
        raise InvalidInputError(
            f"start has the shape {np.shape(start)}, but the values of the pruned forest have the shape "
            f"{forest.value.shape}; use the shift of a refit of the same pruning."
        )
    leaves = sample.leaves(pruning, with_logarithms(forest) if kind == "softmax" else forest)
    weight = with_mean_1(sample.weight)
    settings: dict[str, Any] = {
        "start": np.zeros_like(leaves.value) if start is None else start[leaves.node],
        "tolerance": tolerance,
    }
    if kind == "squared" and forest.is_classifier:
        found = minimise_on_simplex(leaves, sample.target, weight, ridge, **settings)
    else:
        found = minimise(leaves, leaves.forest.loss or "squared", sample.target, weight, ridge, **settings)
    return _refitted(leaves, found, kind, ridge, weight, tolerance)


def with_mean_1(weight: Array) -> Array:
    """Scale weights so that rows that count at all have an average weight of 1."""
    share = weight / weight.max()  # sums of tiny weights might underflow
    return np.asarray(share * (np.count_nonzero(share) / share.sum()))


def check_kind(forest: Forest, kind: str) -> None:
    """Raise unless this kind of refit fits the forest."""
    kinds = kinds_for(forest)
    if kind not in kinds:
        if not kinds:
            raise UnsupportedModelError(
                "the leaves of this boosted ensemble cannot be refitted: its loss is not one that "
                "budgetprune supports (log loss, squared error, Poisson, gamma); use refit=None."
            )
        raise InvalidInputError(
            f"a refit of kind {kind!r} does not fit this forest; use {' or '.join(map(repr, kinds))}."
        )


def with_logarithms(forest: Forest) -> Forest:
    """Turn a forest that averages probabilities into one that takes the softmax of averaged logarithms."""
    return replace(forest, value=np.log(np.maximum(forest.value, CLIP)), link="softmax", loss="softmax")


def _refitted(
    leaves: Leaves, found: Minimum, kind: Kind, ridge: float, weight: Array, tolerance: float
) -> Refit:
    forest = leaves.forest
    value = forest.value.copy()
    value[leaves.node] = found.value
    shift = np.zeros_like(value)
    shift[leaves.node] = (found.value - leaves.value) / forest.divisor
    stopped = np.zeros(forest.n_nodes)
    stopped[leaves.node] = leaves.weights(weight)
    return Refit(
        # Variances and gains of the old values do not hold for the new ones.
        forest=replace(
            forest, value=mean_of_leaves(forest.right, value, stopped), variance=None, split_gain=None
        ),
        kind=kind,
        ridge=ridge,
        gradient_norm=found.gradient_norm,
        converged=found.gradient_norm <= tolerance,
        n_steps=found.n_steps,
        shift=mean_of_leaves(forest.right, shift, stopped),
    )
