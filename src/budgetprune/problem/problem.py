"""`PruningProblem`: forest, node errors, prices and the rows that pay them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from budgetprune.costs import FeatureCosts
from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.problem.boosted import boosted_errors, check_boosted, check_recorded_gains
from budgetprune.problem.bounds import universal_bounds
from budgetprune.problem.certificate import Certificate, dual_value
from budgetprune.problem.checks import check_computation_weight, check_multipliers
from budgetprune.problem.errors import check_estimate, check_loss, check_needs, node_errors
from budgetprune.problem.estimate import ErrorRows
from budgetprune.problem.pruning import Pruning
from budgetprune.problem.rows import RoutedRows, route
from budgetprune.problem.solver import find_path_solver, find_solver
from budgetprune.problem.tally import reached_weight
from budgetprune.problem.targets import Labels, read_class_weight
from budgetprune.problem.tradeoff import costs_along
from budgetprune.problem.tree_errors import TreeErrors
from budgetprune.problem.uses import acquire, first_uses
from budgetprune.utils.arrays import frozen
from budgetprune.utils.numbers import all_at_least_zero, at_least_zero
from budgetprune.utils.row_values import as_weights

if TYPE_CHECKING:
    from budgetprune.path import PruningPath


class PruningProblem(TreeErrors):
    """Pruning problem: minimise ``error + lam * (cost + computation)``.

    This is program (IP) of the paper, as arrays. A pruning is a mask `keep` of the splits that stay, closed
    under "parent". The problem evaluates prunings and checks optimality certificates; the solvers find the
    best pruning.

    Parameters
    ----------
    forest : Forest
    X_cost : array-like of shape (n_examples, n_features)
        Rows whose costs are counted; best not those that the trees were grown on.
    y_cost : array-like of shape (n_examples,), optional
        Their labels or targets, for held-out and pooled errors.
    costs : FeatureCosts, or anything that `FeatureCosts.of` takes
        None means 1 per feature.
    error : {"in-bag", "out-of-bag", "held-out", "pooled"}, or the name of a registered error estimate
        Rows on which a node's error is measured: those its tree was grown on (the paper), the training rows
        its tree has not seen, those of `X_cost`, or the latter two together. Boosted trees use all
        training rows: none are out-of-bag, and pooled means training rows and those of `X_cost`.
    loss : {"misclassification", "brier", "squared"}, or the name of a registered node loss, optional
        Loss of a node; None means misclassification for classifiers, squared for regressors. Boosted
        ensembles use the loss that they were trained on.
    X_train, y_train : array-like, optional
        The rows that the model was trained on, in their order, for out-of-bag and pooled errors (and for
        in-bag ones if the model does not record enough).
    sample_weight : array-like of shape (n_examples,), optional
        Weights of the rows of `X_cost`, for costs and for held-out errors.
    sample_weight_train : array-like, optional
        Weights of the rows of `X_train`, as in training. In-bag errors weigh rows as the trees saw them.
    class_weight : "balanced", mapping of labels to weights, or array of shape (n_classes,), optional
        Weights of classes in errors, in addition to those of the model; costs do not depend on them.
        ``"balanced"`` balances `y_cost`.
    computation_weight : float
        Price of one more split on an example's path, in units of cost; summed over trees.

    Attributes
    ----------
    costs : CostTable
    n_examples, n_sources, n_uses, n_incidences : int
    lost : float64 array of shape (n_nodes,)
        Weight that a node loses if it is a leaf (e_h of the paper), exact if weights are integers.
    counted : float64 array of shape (n_trees,)
        Weight on which it is measured in each tree; 1 where a boosted model recorded averages.
    denominator : float64 array of shape (n_trees,)
        ``counted * n_trees``; for boosted trees `counted`, as they add up.
    error : float64 array of shape (n_nodes,)
        ``lost / denominator``: the error of a pruning is its sum over the leaves. For boosted trees,
        `lost` is the sum of the gains of the splits below, so the error is the increase of the ensemble's
        loss by pruning, to second order: 0 for the unpruned one, negative if pruned splits are harmful.
    gain, lost_gain : float64 arrays of shape (n_nodes,)
        Improvement by a split: `error` (`lost`) of the node minus that of its children; 0 at leaves.
    row_weight : float64 array of shape (n_examples,)
        Share of each example in the average cost; sums to 1.
    order : int32 array of shape (n_trees, n_examples)
    row_start, row_stop : int32 arrays of shape (n_nodes,)
        Examples in the order of the leaves that they reach, ascending within a leaf: node `h` of tree `t` is
        reached by ``order[t, row_start[h]:row_stop[h]]`` (S_h of the paper).
    use_node, use_source : int32 arrays of shape (n_uses,)
        First uses (u_tki of the paper): the split's feature needs the source, and no split above does. Only
        sources with a price; sorted by node, then by source.
    use_start : int64 array of shape (n_uses + 1,)
        Incidence ``use_start[k] + q`` is use `k` by the example ``order[t, row_start[use_node[k]] + q]``.
    use_tree_start : int64 array of shape (n_trees + 1,)
        Offsets of each tree's uses.
    computation : float64 array of shape (n_nodes,)
        `computation_weight` times the share of the examples that reach a split; 0 at leaves. Average depth,
        as the paper counts it, is the sum of that share over the splits that stay.
    """

    def __init__(
        self,
        forest: Forest,
        X_cost: Any,
        y_cost: Any = None,
        *,
        costs: Any = None,
        error: str = "in-bag",
        loss: str | None = None,
        X_train: Any = None,
        y_train: Any = None,
        sample_weight: Any = None,
        sample_weight_train: Any = None,
        class_weight: Any = None,
        computation_weight: float = 0.0,
    ) -> None:
        if not isinstance(forest, Forest):
            raise InvalidInputError(
                f"forest must be a Forest, not {type(forest).__name__}; write Forest.from_model(model)."
            )
        estimate = check_estimate(error)
        given = {"y_cost": y_cost is not None, "X_train": X_train is not None, "y_train": y_train is not None}
        of_class = read_class_weight(class_weight, forest, y_cost)
        if forest.is_boosted:
            check_recorded_gains(forest, estimate, of_class)
            check_boosted(forest, estimate, loss, has_train=given["X_train"] and given["y_train"])
        check_needs(estimate, given)
        node_loss = None if forest.is_boosted else check_loss(forest, loss)
        computation_weight = check_computation_weight(computation_weight)
        self.forest = forest
        self.costs = FeatureCosts.of(costs).resolve(forest.n_features, forest.feature_names)
        X = forest.prepare_rows(X_cost, "X_cost")
        weight = as_weights(sample_weight, len(X), "sample_weight")
        rows = route(forest, X)
        self._set_rows(rows, weight)
        data = ErrorRows(
            rows,
            Labels(y_cost, weight, "y_cost", "sample_weight", of_class),
            X_train,
            Labels(y_train, sample_weight_train, "y_train", "sample_weight_train", of_class),
        )
        if node_loss is None:
            errors = boosted_errors(forest, estimate, data)
        else:
            errors = node_errors(forest, estimate, node_loss, data)
        self._set_errors(errors)
        share = reached_weight(forest, rows, weight) / weight.sum() if computation_weight else 0.0
        self.computation = frozen(np.where(forest.is_split, computation_weight * share, 0.0))

    @classmethod
    def of_sample(cls, whole: TreeErrors, rows: RoutedRows, weight: NDArray[np.float64]) -> PruningProblem:
        """Create the problem that has the errors of another one, but counts costs on fewer rows.

        Parameters
        ----------
        whole : TreeErrors
            Problem with many rows.
        rows : RoutedRows
            Some of them, routed through the trees.
        weight : float64 array
            Weights of these rows.
        """
        problem = cls.__new__(cls)
        problem.forest, problem.costs = whole.forest, whole.costs
        problem._set_rows(rows, weight)
        for name in ("lost", "lost_gain", "counted", "denominator", "error", "gain", "computation"):
            setattr(problem, name, getattr(whole, name))
        return problem

    def _set_rows(self, rows: RoutedRows, weight: NDArray[np.float64]) -> None:
        self.row_weight = frozen(weight / weight.sum())
        self.order, self.row_start, self.row_stop = rows.order, rows.start, rows.stop
        uses = first_uses(self.forest, self.costs, rows)
        self.use_node, self.use_source = uses.node, uses.source
        self.use_start, self.use_tree_start = uses.start, uses.tree_start

    def __repr__(self) -> str:
        return (
            f"PruningProblem({self.forest!r}, {self.n_examples} examples, {self.n_sources} sources, "
            f"{self.n_incidences} incidences)"
        )

    @property
    def n_examples(self) -> int:
        return len(self.row_weight)

    @property
    def n_incidences(self) -> int:
        return int(self.use_start[-1])

    # --- Evaluating a pruning -------------------------------------------------------------------------------

    def acquired(self, keep: ArrayLike) -> NDArray[np.bool_]:
        """Sources that each example acquires (w_ki of the paper), of shape (n_examples, n_sources).

        Every source on its paths through all pruned trees, except those without a price.
        """
        acquired: NDArray[np.bool_] = acquire(
            self.check_keep(keep),
            self.order,
            self.row_start,
            self.row_stop,
            self.use_node,
            self.use_source,
            self.use_tree_start,
            self.n_sources,
        )
        return acquired

    def cost_of(self, keep: ArrayLike) -> float:
        """Average cost of an example's sources (full cost)."""
        return float(self.row_weight @ self.costs.total(self.acquired(keep)))

    def _costs_along(
        self, critical_lambda: NDArray[np.float64], lams: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        return costs_along(self, critical_lambda, lams)

    # --- Bounds and certificates ----------------------------------------------------------------------------

    def bound(self, beta: ArrayLike, lam: float) -> float:
        """Lower bound on the objective of every pruning, from any multipliers (the Lagrangian dual).

        Parameters
        ----------
        beta : float64 array of shape (n_incidences,), at least 0
            Payment of a tree at each incidence. If all trees together pay more than the price of a source for
            a row, the bound is lowered by the excess, so any `beta` gives a valid bound.
        lam : float
        """
        return dual_value(self, check_multipliers(beta, self.n_incidences, "beta"), at_least_zero(lam, "lam"))

    def bounds(self, flow: ArrayLike, level: ArrayLike, lams: ArrayLike) -> NDArray[np.float64]:
        """Lower bounds for many `lams`, from one flow: ``bound(flow * min(1, lam / level), lam)`` for each.

        Parameters
        ----------
        flow : float64 array of shape (n_incidences,), at least 0
        level : float64 array of shape (n_nodes,)
            The lambda up to which a node's payments grow: positive (or infinite) where there is flow, and the
            same for all nodes that pay for one source of one example.
        lams : float64 array, in any order
        """
        flow = check_multipliers(flow, self.n_incidences, "flow")
        level = np.ascontiguousarray(level, dtype=np.float64)
        if level.shape != (self.forest.n_nodes,):
            raise InvalidInputError(f"level must have one entry for each of {self.forest.n_nodes} nodes.")
        points, place = np.unique(all_at_least_zero(lams, "lam"), return_inverse=True)
        return universal_bounds(self, flow, level, points)[place]

    def certify(self, pruning: Pruning, dual: ArrayLike | None = None) -> Certificate:
        """Certify a pruning, independently of the solver that found it.

        Parameters
        ----------
        pruning : Pruning
        dual : float64 array of shape (n_incidences,), optional
            Multipliers for the bound; by default the pruning's own.
        """
        beta = pruning.dual if dual is None else dual
        if beta is None:
            raise InvalidInputError(
                "this pruning has no dual to compute a bound from; pass "
                "dual=problem.solve(pruning.lam).dual, "
                "or let the path certify its points: problem.path(certify=True)."
            )
        return Certificate.of(
            objective=self.objective(pruning.keep, pruning.lam),
            bound=self.bound(beta, pruning.lam),
            scale=self.scale,
        )

    # --- Solving --------------------------------------------------------------------------------------------

    def solve(self, lam: float, solver: str = "parametric", **options: Any) -> Pruning:
        """Find the best pruning for one `lam`.

        Parameters
        ----------
        lam : float
            Price of a unit of cost, in units of error.
        solver : {"parametric", "primal-dual", "lp"}, or the name of a registered solver
        **options
            Options of the solver.

        Returns
        -------
        Pruning
            With a `dual` that `certify` can use.
        """
        return find_solver(solver).solve(self, lam, **options)

    def path(self, solver: str = "parametric", **options: Any) -> PruningPath:
        """Find the best prunings for all `lam`; for the options see `budgetprune.solvers.path`.

        Parameters
        ----------
        solver : str
            Name of a registered solver that computes paths.
        **options
            Options of the solver.
        """
        return find_path_solver(solver).path(self, **options)
