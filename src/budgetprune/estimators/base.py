"""What both estimators share: rows in, a pruned forest out."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import check_scoring
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
)

from budgetprune.costs import FeatureCosts
from budgetprune.errors import InvalidInputError
from budgetprune.estimators.parameters import (
    check_estimate_possible,
    check_parameters,
    check_queries,
    check_scorer,
)
from budgetprune.estimators.pruned import Known, PrunedForest
from budgetprune.forest import Forest
from budgetprune.problem.boosting import recompute
from budgetprune.problem.pruning import Pruning
from budgetprune.refit import Refit, Sample, check_kind
from budgetprune.selection import LabelledRows, set_open_parameters, split_rows, train, with_names
from budgetprune.selection.context import Repair, Workshop
from budgetprune.selection.fit import Wishes, fit_workshop
from budgetprune.selection.judge import Decided, Judge
from budgetprune.selection.settle import Settled, settle
from budgetprune.selection.stopping import Stopping
from budgetprune.utils.threads import kernel_threads
from budgetprune.utils.validation import labels_of, weights_of


class BudgetPruneBase(PrunedForest, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Prune an ensemble of trees for a budget; see `BudgetPruneClassifier`."""

    def __init__(
        self,
        estimator: Any = None,
        *,
        costs: Any = None,
        budget: float | None = None,
        lam: float | None = None,
        error: str = "auto",
        loss: str | None = None,
        refit: str | None = "auto",
        ridge: float | str = "auto",
        counting: str = "full",
        slack: float | str = 0.0,
        validation_fraction: float = 0.3,
        scoring: Any = None,
        solver: str = "parametric",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.costs = costs
        self.budget = budget
        self.lam = lam
        self.error = error
        self.loss = loss
        self.refit = refit
        self.ridge = ridge
        self.counting = counting
        self.slack = slack
        self.validation_fraction = validation_fraction
        self.scoring = scoring
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # --- What differs between classifiers and regressors ----------------------------------------------------

    _by_class: bool  # whether rows are divided class by class
    _refits: tuple[str, ...]

    @abstractmethod
    def _usual_score(self, X: Any, y: Any, sample_weight: Any) -> float:
        """Score predictions if no scorer is given."""

    @abstractmethod
    def _default_estimator(self) -> Any:
        """What is grown if no estimator is given."""

    @abstractmethod
    def _check_y(self, y: NDArray[Any]) -> NDArray[Any]:
        """Return labels or targets, or say what is wrong with them."""

    def _spelled_for(self, model: Any, y: NDArray[Any]) -> NDArray[Any]:
        """Labels or targets as a model wants to see them."""
        return y

    def _check_same_labels(self, train: LabelledRows, val: LabelledRows | None) -> None:
        """Raise if validation rows have labels that nobody can learn."""

    @abstractmethod
    def _check_type(self, estimator_type: str | None, name: str) -> None:
        """Raise if a model predicts what this estimator does not."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        model = self._default_estimator() if self.estimator is None else self.estimator
        if isinstance(model, FrozenEstimator):
            model = model.estimator
        # A Booster of another library has none, and a class is refused elsewhere.
        if hasattr(model, "__sklearn_tags__") and not isinstance(model, type):
            inner = get_tags(model).input_tags
            tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags

    # --- Fitting --------------------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        qid: Any = None,
        qid_val: Any = None,
    ) -> Self:
        """Grow the ensemble (unless it is frozen), and prune it.

        Parameters
        ----------
        X, y : array-like
            Training rows; part of them is kept for validation, unless `X_val` is given. If the estimator is
            frozen and `X_val` is not given, all of them are for validation. If it is, these are the rows that
            the frozen estimator was trained on.
        sample_weight : array-like, optional
        X_val, y_val, sample_weight_val : array-like, optional
            Validation rows: they count costs and make choices.
        qid, qid_val : array-like, optional
            The query that each row belongs to, for a scorer of `budgetprune.ranking`; queries are never
            divided.
        """
        # Until all is done, the estimator is not fitted, whatever it was before.
        for name in ("_made", "_names_of_numbers"):
            self.__dict__.pop(name, None)
        check_parameters(self)
        scorer = self._scorer()
        check_scorer(self, scorer)
        check_queries(self, qid)
        given = self._check_rows(X, y, sample_weight, qid, reset=True)
        extra = self._check_extra(X_val, y_val, sample_weight_val, qid_val, with_qid=qid is not None)
        self._check_same_labels(given, extra)
        check_estimate_possible(self, has_train=extra is not None)
        random = check_random_state(self.random_state)
        with kernel_threads(self.n_jobs):
            train, val, self.estimator_ = self._grow(given, extra, random)
            workshop = self._workshop(train, val, scorer)
            fitted = fit_workshop(workshop, self._wishes(), random)
        self.path_, self.tradeoff_, self.choices_ = fitted.path, fitted.tradeoff, fitted.choices
        self.refit_, self.slack_ = fitted.choices.refit, fitted.choices.slack
        self._sample: Sample | None = workshop.refit_sample
        self._stopping = fitted.stopping
        self._settle(fitted.settled)
        return self

    def with_budget(self, budget: float, X: Any = None, y: Any = None, sample_weight: Any = None) -> Self:
        """Make the same estimator for another budget: path and choices stay, leaves are refitted.

        Parameters
        ----------
        budget : float
            Average cost per prediction, of the kind that counts (`counting`). The slack stays too.
        X, y, sample_weight : array-like, optional
            Rows to refit the leaves on. Needed only after the estimator was pickled (pickles hold no rows),
            and only if leaves are refitted, or decided costs count: then these rows count them.
        """
        check_is_fitted(self)
        if budget is None:
            raise InvalidInputError("with_budget needs a number: the average cost of a prediction.")
        if not self.path_.complete:
            raise InvalidInputError(
                f"solver={self.solver!r} knows one point of the path only; fit with 'parametric' for others."
            )
        other: Self = copy.copy(self).set_params(budget=budget, lam=None)
        check_parameters(other)
        repair = Repair(self.choices_.refit, self.choices_.ridge, self.choices_.slack)
        counts_decided = self.counting == "decided"
        if X is not None:
            rows = self._check_rows(X, y, sample_weight, None, reset=False)
            other._sample = Sample.of(self.path_.forest, rows.X, rows.y, rows.weight)
            if counts_decided and self._stopping is None:
                other._stopping = Stopping(self._prices, self._threshold, self._tolerance, rows, rows)
        for lacks, what in (
            (repair.kind is not None and other._sample is None, "refit the leaves on"),
            (counts_decided and other._stopping is None, "count decided costs on"),
        ):
            if lacks:
                raise InvalidInputError(
                    f"this estimator was pickled, and pickles hold no rows to {what}; "
                    "write with_budget(budget, X, y) with the rows it was fitted on."
                )
        with kernel_threads(self.n_jobs):
            settled = settle(
                self.path_,
                self.tradeoff_,
                repair,
                other._sample,
                other._stopping,
                budget=budget,
                lam=None,
            )
        other._settle(settled)
        return other

    def _settle(self, settled: Settled) -> None:
        self.lambda_, self.cost_ = settled.pruning.lam, settled.cost
        self._made = settled.made
        self.refit_gradient_norm_ = None if settled.refit is None else settled.refit.gradient_norm

    def _check_rows(self, X: Any, y: Any, weight: Any, qid: Any, *, reset: bool) -> LabelledRows:
        """Return rows that can be divided; tables stay tables, so that the ensemble sees their columns."""
        X = self._rows(X, reset=reset)
        y = self._check_y(labels_of(self, X, y))
        weight = weights_of(X, weight)
        if qid is not None:
            qid = column_or_1d(qid)
            check_consistent_length(y, qid)
        return LabelledRows(X, y, weight, qid)

    def _check_extra(self, X: Any, y: Any, weight: Any, qid: Any, *, with_qid: bool) -> LabelledRows | None:
        """Return the validation rows, if there are any of their own."""
        if X is None and y is None:
            if weight is not None or qid is not None:
                raise InvalidInputError(
                    "sample_weight_val and qid_val belong to X_val and y_val; pass those."
                )
            return None
        if X is None or y is None:
            raise InvalidInputError("X_val and y_val belong together; pass both, or neither.")
        if with_qid != (qid is not None):
            raise InvalidInputError("qid and qid_val belong together; pass both, or neither.")
        return self._check_rows(X, y, weight, qid, reset=False)

    def _grow(
        self, given: LabelledRows, extra: LabelledRows | None, random: np.random.RandomState
    ) -> tuple[LabelledRows | None, LabelledRows, Any]:
        """Say which rows are T and which are V, and grow the ensemble on T if it is not frozen."""
        if isinstance(self.estimator, FrozenEstimator):
            # Its bootstrap counted all of its training rows, with a weight or without.
            return None if extra is None else given, (extra or given).with_weight(), self.estimator.estimator
        FeatureCosts.of(self.costs).resolve(self.n_features_in_, self._own_names())
        model = self._default_estimator() if self.estimator is None else clone(self.estimator)
        set_open_parameters(model, None if self.random_state is None else random, self.n_jobs)
        given = given.with_weight()
        if extra is None:
            rows, val = split_rows(given, self.validation_fraction, random, by_class=self._by_class)
        else:
            rows, val = given, extra.with_weight()
        return rows, val, train(model, rows.X, self._spelled_for(model, rows.y), rows.weight)

    def _own_names(self) -> tuple[str, ...] | None:
        return tuple(self.feature_names_in_) if hasattr(self, "feature_names_in_") else None

    def _translate(self) -> Forest:
        """Turn the fitted ensemble into a forest whose features are called what the user calls them."""
        forest = Forest.from_model(self.estimator_)
        kind = "classifier" if forest.is_classifier else "regressor"
        self._check_type(kind, type(self.estimator_).__name__)
        return with_names(forest, self._own_names())

    def _workshop(
        self, train: LabelledRows | None, val: LabelledRows, scorer: Callable[..., float]
    ) -> Workshop:
        forest = self._translate()
        if self.refit not in (None, "auto"):
            check_kind(forest, self.refit)
        if forest.is_boosted and self.loss is not None:
            raise InvalidInputError(
                f"loss={self.loss!r} is for averaged trees; boosted ones have a loss of their own: loss=None."
            )
        if forest.is_boosted and forest.split_gain is None and forest.loss is not None and train is not None:
            forest = recompute(forest, train.X, train.y, train.weight)
        costs = FeatureCosts.of(self.costs)
        self._prices = costs.resolve(forest.n_features, forest.feature_names)
        return Workshop(
            forest=forest,
            costs=costs,
            prices=self._prices,
            train=train,
            val=val,
            train_sample=None if train is None else Sample.of(forest, train.X, train.y, train.weight),
            val_sample=Sample.of(forest, val.X, val.y, val.weight),
            judge=Judge(scorer, self._pose),
        )

    def _wishes(self) -> Wishes:
        return Wishes(
            budget=None if self.budget is None else float(self.budget),
            lam=None if self.lam is None else float(self.lam),
            error=self.error,
            loss=self.loss,
            refit=self.refit,
            ridge=self.ridge if isinstance(self.ridge, str) else float(self.ridge),
            counting=self.counting,
            slack=self.slack if isinstance(self.slack, str) else float(self.slack),
            threshold=self._threshold,
            tolerance=self._tolerance,
            solver=self.solver,
            verbose=bool(self.verbose),
        )

    # --- Judging --------------------------------------------------------------------------------------------

    def _scorer(self) -> Callable[..., float]:
        if self.scoring is None:
            return lambda fitted, X, y, sample_weight=None: fitted._usual_score(X, y, sample_weight)
        scorer: Callable[..., float] = check_scoring(self, scoring=self.scoring)
        return scorer

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, qid: Any = None) -> float:
        """Score predictions: by `scoring` if it was given, else accuracy, or R^2 for regression.

        Parameters
        ----------
        X, y : array-like
        sample_weight : array-like, optional
        qid : array-like, optional
            The query that each row belongs to, for a scorer of `budgetprune.ranking`.
        """
        extras = {"sample_weight": sample_weight, "qid": qid}
        given = {name: value for name, value in extras.items() if value is not None}
        return float(self._scorer()(self, X, y, **given))

    def _pose(
        self, made: Pruning | Refit, X: Any, scores: NDArray[np.float64], decided: Decided | None
    ) -> Self:
        """Make a fitted estimator of what was made, whose scores on `X` are known already."""
        posed = copy.copy(self)
        posed._made, posed._known = made, Known(X, scores, None if decided is None else decided.labels)
        posed.slack_ = 0.0 if decided is None else decided.slack
        return posed
