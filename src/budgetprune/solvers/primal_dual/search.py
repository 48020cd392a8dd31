"""Iterations of the primal-dual solver: the part that knows the trees, but no rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable
from budgetprune.forest import Forest
from budgetprune.problem import Certificate
from budgetprune.solvers.primal_dual.potentials import levels, step_length
from budgetprune.solvers.primal_dual.tree_kernels import prune_trees
from budgetprune.utils.parts import in_parts

# Least weight of the newest usage in the average over iterations.
NEWEST = 0.1
# Iterations without a better bound that count as a stall. Then steps get shorter, and the minima less soft.
PATIENCE = 3
# Trees are divided into this many parts.
PARTS = 16
# Classes of levels: each is a candidate.
N_CLASSES = 64
LEVELS_PER_CLASS = 4
# A node of a tree takes as long as this many simple steps.
STEPS_PER_NODE = 8


class Trees(Protocol):
    """What the iterations need to know of a problem: the names are those of `PruningProblem`."""

    @property
    def forest(self) -> Forest: ...
    @property
    def costs(self) -> CostTable: ...
    @property
    def error(self) -> NDArray[np.float64]: ...
    @property
    def gain(self) -> NDArray[np.float64]: ...
    @property
    def computation(self) -> NDArray[np.float64]: ...
    @property
    def use_node(self) -> NDArray[np.int32]: ...
    @property
    def use_source(self) -> NDArray[np.int32]: ...
    @property
    def scale(self) -> float: ...


class RowSums(NamedTuple):
    """Sums over all rows, in units of weight.

    Attributes
    ----------
    paid : int64 array of shape (n_relevant,)
        Payment of each use, if the price of its source is 1.
    counts : int64 array of shape (n_sources, N_CLASSES + 1)
        Weight of the rows by the highest class among their uses of a source; class 0: no use has a level.
    """

    paid: NDArray[np.int64]
    counts: NDArray[np.int64]


class Rows(Protocol):
    """The part of the problem that knows the rows, wherever they are. It holds the potentials."""

    @property
    def n_units(self) -> int:
        """Total weight of the rows."""
        ...

    def share(self, level: NDArray[np.uint8], step: int) -> RowSums:
        """Increase the potential of each use by `step` times its level, share the prices, and add up."""
        ...

    def restart(self, potential: NDArray[np.int32]) -> None:
        """Set the potentials."""
        ...

    def count(self, level: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Weight of the rows by source and highest level among their uses, of shape (n_sources, 256)."""
        ...


class Target:
    """Best pruning and best bound so far for one lambda.

    Attributes
    ----------
    lam : float
    most_cost : float
        Prunings of a larger cost are not taken.
    keep : bool array of shape (n_nodes,)
    objective, bound, gap : float
    potential : int32 array of shape (n_relevant,), or None
        The potentials of the best bound.
    """

    def __init__(self, lam: float, keep: NDArray[np.bool_], objective: float, scale: float) -> None:
        self.lam, self.keep, self.objective, self._scale = lam, keep, objective, scale
        self.most_cost, self.bound = np.inf, -np.inf
        self.potential: NDArray[np.int32] | None = None

    @property
    def gap(self) -> float:
        return Certificate.of(self.objective, self.bound, self._scale).gap

    def offer_bound(self, bound: float, potential: NDArray[np.int32]) -> bool:
        """Take a bound if it is better."""
        if bound > self.bound:
            self.bound, self.potential = bound, potential
            return True
        return False


class Iterate:
    """State of the iterations for one lambda: all that is needed to go on later, with the same bits.

    Attributes
    ----------
    potential : int32 array of shape (n_relevant,)
    usage : float64 array of shape (n_nodes,)
        Average of the probabilities with which splits are kept.
    age, n_waiting, n_stalls : int
        Iterations so far; those since the bound was improved, or the last stall; stalls.
    step : int
        Length of the next step.
    """

    def __init__(self, potential: NDArray[np.int32], n_nodes: int) -> None:
        self.potential = potential
        self.usage = np.zeros(n_nodes)
        self.age = self.n_waiting = self.n_stalls = self.step = 0


class Search:
    """Iterations that improve prunings and bounds for some lambdas.

    Parameters
    ----------
    trees : PruningProblem, or another object with the same attributes
    relevant : int64 array
        Uses that some pruning may pay for, see `relevant_uses`.
    rows : Rows
    lams : floats
    """

    def __init__(self, trees: Trees, relevant: NDArray[np.int64], rows: Rows, lams: Sequence[float]) -> None:
        self.trees, self._rows = trees, rows
        self._node = trees.use_node[relevant]
        self._source = trees.use_source[relevant]
        self._at_stake = at_stake(trees)
        roots = np.zeros(trees.forest.n_nodes, dtype=np.bool_)
        self._at_roots = float(trees.error[trees.forest.tree_start[:-1]].sum())
        self.targets = [Target(lam, roots, self._at_roots, trees.scale) for lam in lams]

    def start(self, like: Iterate | None = None) -> Iterate:
        """Begin with even shares, or with the potentials and the usage of iterations on other rows."""
        at = Iterate(np.zeros(self._node.size, dtype=np.int32), self.trees.forest.n_nodes)
        if like is not None:
            at.potential, at.usage = like.potential, like.usage
            at.age, at.n_stalls = like.age, like.n_stalls
        self._rows.restart(at.potential)
        return at

    def resume(self, at: Iterate) -> None:
        """Go on with iterations that were interrupted."""
        self._rows.restart(at.potential)

    def iterate(self, at: Iterate, focus: Target) -> None:
        """Share prices, prune every tree on its own, and prepare the next step."""
        level = levels(at.usage)
        use_level = level[self._node]
        potential = at.potential + at.step * use_level.astype(np.int32)
        sums = self._rows.share(use_level, at.step)
        self._offer_candidates(level, sums.counts)
        payment = self.payments(sums.paid)
        for target in self.targets:
            if target is not focus:
                target.offer_bound(self.bound(target.lam, payment), potential)
        if at.age and focus.potential is None:
            # The gap is needed for the temperature, and iterations on other rows do not tell it.
            focus.offer_bound(self.bound(focus.lam, payment), potential)
        temperature = min(focus.gap, 1.0) / (1 + at.n_stalls) * self._at_stake
        value, keep, probability = self._prune(focus.lam, payment, temperature)
        improved = focus.offer_bound(self._sum_of_roots(value), potential)
        if at.age == 0:
            self._offer_own(focus, keep)
        at.potential = potential
        self._step(at, probability, improved)

    def payments(self, paid: NDArray[np.int64]) -> NDArray[np.float64]:
        """Payment at each node for lambda 1 (B_h)."""
        amount = self.trees.costs.price[self._source] * (paid / self._rows.n_units)
        return bins(self._node, amount, self.trees.forest.n_nodes)

    def bound(self, lam: float, payment: NDArray[np.float64]) -> float:
        """Lower bound from the payments for lambda 1, if no pair pays more than its price."""
        return self._sum_of_roots(self._prune(lam, payment, np.zeros(payment.size))[0])

    def _offer_candidates(self, level: NDArray[np.uint8], counts: NDArray[np.int64]) -> None:
        """Evaluate the prunings that keep the splits above each level."""
        trees = self.trees
        of_node = (level.astype(np.int64) + LEVELS_PER_CLASS - 1) // LEVELS_PER_CLASS
        cost = from_top(trees.costs.price @ (counts / self._rows.n_units))
        gain = from_top(bins(of_node, trees.gain, N_CLASSES + 1))
        computation = from_top(bins(of_node, trees.computation, N_CLASSES + 1))
        for target in self.targets:
            objective = self._at_roots - gain + target.lam * (cost + computation)
            objective[cost > target.most_cost] = np.inf
            best = int(np.argmin(objective))
            if objective[best] < target.objective:
                target.keep, target.objective = of_node >= N_CLASSES - best, float(objective[best])

    def _offer_own(self, focus: Target, keep: NDArray[np.bool_]) -> None:
        """Evaluate the trees' own prunings: optimal already if the trees share no source."""
        trees = self.trees
        counts = self._rows.count(keep[self._node].astype(np.uint8))
        cost = float(trees.costs.price @ (counts[:, 1:].sum(axis=1) / self._rows.n_units))
        charged = focus.lam * (cost + float(trees.computation[keep].sum()))
        objective = self._at_roots - float(trees.gain[keep].sum()) + charged
        if objective < focus.objective and cost <= focus.most_cost:
            focus.keep, focus.objective = keep, objective

    def _step(self, at: Iterate, probability: NDArray[np.float64], improved: bool) -> None:
        at.age += 1
        # Along each path both terms never increase, and neither does their rounded sum. So the splits whose
        # usage exceeds a level are a pruning.
        newest = max(NEWEST, 2 / (at.age + 1))
        at.usage = (1 - newest) * at.usage + newest * probability
        at.n_waiting = 0 if improved else at.n_waiting + 1
        if at.n_waiting == PATIENCE:
            at.n_waiting, at.n_stalls = 0, at.n_stalls + 1
        at.step = step_length(at.n_stalls)

    def _sum_of_roots(self, value: NDArray[np.float64]) -> float:
        return float(value[self.trees.forest.tree_start[:-1]].sum())

    def _prune(
        self, lam: float, payment: NDArray[np.float64], temperature: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
        return prune(self.trees, lam * (self.trees.computation + payment), temperature)


def prune(
    trees: Trees, charge: NDArray[np.float64], temperature: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
    """Prune every tree on its own, given its charges: V, the kept splits, and each split's probability."""
    forest, error = trees.forest, trees.error
    value, probability = np.empty((2, forest.n_nodes))
    keep = np.empty(forest.n_nodes, np.bool_)
    bounds = np.unique(np.linspace(0, forest.n_trees, PARTS + 1).astype(int)).tolist()

    def work(part: tuple[int, int]) -> None:
        prune_trees(
            forest.tree_start,
            *part,
            forest.parent,
            forest.right,
            error,
            charge,
            temperature,
            value,
            keep,
            probability,
        )

    in_parts(work, list(pairwise(bounds)), STEPS_PER_NODE * forest.n_nodes)
    return value, keep, probability


def bins(number: NDArray[np.integer], amount: NDArray[np.float64], n_bins: int) -> NDArray[np.float64]:
    """Add up an amount by number."""
    return np.asarray(np.bincount(number, amount, minlength=n_bins), dtype=np.float64)


def from_top(amount: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add up the last entry, the last two, and so on; the first entry is left out."""
    return np.cumsum(amount[:0:-1])


def at_stake(trees: Trees) -> NDArray[np.float64]:
    """Gain of each subtree if all sources are free."""
    free = np.zeros(trees.forest.n_nodes)
    return trees.error - prune(trees, free, free)[0]


def relevant_uses(trees: Trees) -> NDArray[np.int64]:
    """Number the uses source by source, without those of splits that are pruned even if free."""
    use = np.flatnonzero(at_stake(trees)[trees.use_node] > 0)
    return use[np.argsort(trees.use_source[use], kind="stable")]
