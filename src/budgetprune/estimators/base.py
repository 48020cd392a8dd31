"""`BudgetPruneBase`: base class of the estimators that prune an ensemble."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import check_scoring
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from budgetprune.costs import FeatureCosts
from budgetprune.errors import InvalidInputError, UnsupportedModelError
from budgetprune.estimators.parameters import (
    check_estimate_possible,
    check_parameters,
    check_queries,
    check_scorer,
)
from budgetprune.estimators.preprocessed import Preprocessed, with_categories
from budgetprune.forest import Forest
from budgetprune.preprocessing import join_pipeline, split_pipeline
from budgetprune.problem import read_class_weight
from budgetprune.refit import Sample
from budgetprune.selection import (
    DecidedCounting,
    FinalModel,
    FinalModelBuilder,
    FitContext,
    LabelledRows,
    PrunedModel,
    SelectionOptions,
    select_pruning,
    set_open_parameters,
    split_rows,
    train,
    with_names,
)
from budgetprune.utils.threads import kernel_threads
from budgetprune.utils.validation import labels_of, rows_of, weights_of


class BudgetPruneBase(PrunedModel, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Prune an ensemble of trees for a budget; see `BudgetPruneClassifier`."""

    # Kept to refit leaves and to count decided costs for another budget; not part of pickles.
    _sample: Sample | None
    _counting: DecidedCounting | None
    _preprocessed: Preprocessed | None = None
    error_weight: Any = None  # a parameter of the classifier

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
        needs: Any = None,
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
        self.needs = needs

    # --- Differences between classifiers and regressors -----------------------------------------------------

    _by_class: ClassVar[bool]  # whether rows are divided class by class
    _refits: ClassVar[tuple[str, ...]]
    _default_scorer: ClassVar[Callable[..., float]]

    @abstractmethod
    def _default_estimator(self) -> Any:
        """Create the ensemble that is grown if no estimator is given."""

    @abstractmethod
    def _check_y(self, y: NDArray[Any]) -> NDArray[Any]:
        """Return labels or targets, or raise if they are invalid."""

    def _encode_labels(self, model: Any, y: NDArray[Any]) -> NDArray[Any]:
        """Return labels or targets in the form that the model's library takes."""
        return y

    def _restore_labels(self, forest: Forest) -> Forest:
        """Return the forest with the user's labels."""
        return forest

    def _check_same_labels(self, train: LabelledRows, val: LabelledRows | None) -> None:
        """Raise if validation rows have labels that no training row has."""

    @abstractmethod
    def _check_type(self, estimator_type: str | None, name: str) -> None:
        """Raise unless a model of this type can be pruned by this estimator."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        model = self._default_estimator() if self.estimator is None else self.estimator
        if isinstance(model, FrozenEstimator):
            model = model.estimator
        # A Booster of another library has no tags. A class instead of an instance is refused later.
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
            Validation rows, to measure costs and to make choices.
        qid, qid_val : array-like, optional
            The query that each row belongs to; queries are never divided. They are for a scorer of
            `budgetprune.ranking`. The default score of a regressor is then NDCG.
        """
        # The estimator counts as fitted only when all is done, even if it was fitted before.
        for name in ("_pruned", "_class_names", "_priced", "_preprocessed"):
            self.__dict__.pop(name, None)
        check_parameters(self)
        scorer = self._scorer(has_queries=qid is not None)
        check_scorer(self, scorer)
        check_queries(self, qid)
        given = self._check_labelled(X, y, sample_weight, qid, reset=True)
        extra = self._check_extra(X_val, y_val, sample_weight_val, qid_val, with_qid=qid is not None)
        self._check_same_labels(given, extra)
        check_estimate_possible(self, has_train=extra is not None)
        random = check_random_state(self.random_state)
        with kernel_threads(self.n_jobs):
            train, val, model = self._grow(given, extra, random)
            tables = [rows.X for rows in (train, val) if rows is not None]
            forest = self._import_forest(model, has_queries=qid is not None).with_categories_of(*tables)
            costs = self.costs
            if self._preprocessed is not None:
                done = self._preprocessed.finish(forest, costs, train, val)
                forest, costs, train, val, self._priced = done
            context = FitContext.of(forest, costs, train, val, self._options(), scorer)
            selected = select_pruning(context, random)
        self._prices = context.prices
        self.path_, self.tradeoff_, self.choices_ = selected.path, selected.tradeoff, selected.choices
        self.refit_, self.slack_ = selected.choices.refit, selected.choices.slack
        self._sample, self._counting = selected.refit_sample, selected.counting
        self._tried_costs = selected.useful_costs
        self._residuals = selected.residuals
        self._store(selected.final)
        return self

    def with_budget(self, budget: float, X: Any = None, y: Any = None, sample_weight: Any = None) -> Self:
        """Return a copy of the estimator for another budget: path and choices stay, leaves are refitted.

        Parameters
        ----------
        budget : float
            Average cost per prediction, full or decided as given by `counting`. The slack stays as it is.
        X, y, sample_weight : array-like, optional
            Rows to refit the leaves on and to count decided costs. Needed only after the estimator was
            pickled (pickles hold no rows), and only if leaves are refitted or decided costs count.
        """
        check_is_fitted(self)
        if budget is None:
            raise InvalidInputError("with_budget needs a number: the average cost of a prediction.")
        if not self.path_.complete:
            raise InvalidInputError(
                f"solver={self.solver!r} computes one point of the path only; fit with 'parametric' to get "
                "others."
            )
        other: Self = copy.copy(self).set_params(budget=budget, lam=None)
        check_parameters(other)
        refit = self.choices_.refit_spec
        counts_decided = self.counting == "decided"
        if X is not None:
            rows = self._check_labelled(X, y, sample_weight, None, reset=False)
            if self._priced is not None:
                rows = replace(rows, X=self._priced.preprocessing.rows_for(self.path_.forest, rows.X))
            of_class = read_class_weight(self.error_weight, self.path_.forest, rows.y)
            other._sample = Sample.of(self.path_.forest, rows.X, rows.y, rows.weight, of_class)
            if counts_decided and self._counting is None:
                other._counting = DecidedCounting(self._prices, self.threshold, self.tolerance, rows, rows)
        for lacks, what in (
            (refit.kind is not None and other._sample is None, "refit the leaves on"),
            (counts_decided and other._counting is None, "count decided costs on"),
        ):
            if lacks:
                raise InvalidInputError(
                    f"this estimator was pickled, and pickles hold no rows to {what}; "
                    "write with_budget(budget, X, y) with the rows it was fitted on."
                )
        builder = FinalModelBuilder(self.path_, self.tradeoff_, refit, other._sample, other._counting)
        with kernel_threads(self.n_jobs):
            other._store(builder.build(budget=budget, lam=None))
        if other.lambda_ != self.lambda_:
            other._residuals = None  # they are those of another pruning
        return other

    def _useful_costs(self) -> list[float]:
        """Costs of the cheapest points that acquire something which is not free, by several paths."""
        refit = self.choices_.refit_spec
        builder = FinalModelBuilder(self.path_, self.tradeoff_, refit, self._sample, self._counting)
        return [*self._tried_costs, builder.useful_cost]

    def _store(self, final: FinalModel) -> None:
        self.lambda_, self.cost_ = final.pruning.lam, final.cost
        self._pruned = final.pruned
        self.refit_gradient_norm_ = None if final.refit is None else final.refit.gradient_norm

    def _check_labelled(self, X: Any, y: Any, weight: Any, qid: Any, *, reset: bool) -> LabelledRows:
        """Return rows that can be divided; tables stay tables, so that the ensemble sees their columns."""
        X = rows_of(self, X, reset=reset, may_hold_text=self._has_preprocessing())
        y = self._check_y(labels_of(self, X, y))
        weight = weights_of(X, weight)
        if qid is not None:
            qid = column_or_1d(qid)
            check_consistent_length(y, qid)
        return LabelledRows(X, y, weight, qid)

    def _check_extra(self, X: Any, y: Any, weight: Any, qid: Any, *, with_qid: bool) -> LabelledRows | None:
        """Return the validation rows that were passed to `fit`, or None."""
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
        return self._check_labelled(X, y, weight, qid, reset=False)

    def _grow(
        self, given: LabelledRows, extra: LabelledRows | None, random: np.random.RandomState
    ) -> tuple[LabelledRows | None, LabelledRows, Any]:
        """Divide the rows into T and V, and train the ensemble on T unless it is frozen.

        With a preprocessing, the rows that are returned are encoded. Also set `estimator_`.
        """
        if isinstance(self.estimator, FrozenEstimator):
            whole = self.estimator_ = self.estimator.estimator
            transformer, model = split_pipeline(whole)
            # All rows stay in T, with a weight or without: the recorded bootstrap counts refer to them.
            rows, val = None if extra is None else given, (extra or given).with_weight()
            if transformer is not None:
                self._preprocessed = Preprocessed.of(whole, transformer, val.X, self.needs)
                rows, val = self._preprocessed.encode(rows), self._preprocessed.encode(val)
            return rows, val, model
        FeatureCosts.of(self.costs).resolve(self.n_features_in_, self._own_names())
        whole = self._default_estimator() if self.estimator is None else clone(self.estimator)
        transformer, model = split_pipeline(whole)
        if transformer is None:
            whole, given = with_categories(model, given, is_classifier=self._by_class)
            transformer, model = split_pipeline(whole)
        set_open_parameters(model, None if self.random_state is None else random, self.n_jobs)
        given = given.with_weight()
        if extra is None:
            rows, val = split_rows(given, self.validation_fraction, random, by_class=self._by_class)
        else:
            rows, val = given, extra.with_weight()
        if transformer is not None:
            raw, rows = rows, replace(rows, X=transformer.fit_transform(rows.X, rows.y))
            self._preprocessed = Preprocessed.of(whole, transformer, raw.X, self.needs)
            val = self._preprocessed.encode(val)
        train(model, rows.X, self._encode_labels(model, rows.y), rows.weight)
        self.estimator_ = model if transformer is None else join_pipeline(whole, transformer, model)
        return rows, val, model

    def _has_preprocessing(self) -> bool:
        """Whether rows are raw columns, which a pipeline encodes."""
        frozen = isinstance(self.estimator, FrozenEstimator)
        return split_pipeline(self.estimator.estimator if frozen else self.estimator)[0] is not None

    def _own_names(self) -> tuple[str, ...] | None:
        return tuple(self.feature_names_in_) if hasattr(self, "feature_names_in_") else None

    def _import_forest(self, model: Any, *, has_queries: bool) -> Forest:
        """Convert the trained ensemble into a forest with the user's feature names and labels."""
        try:
            forest = Forest.from_model(model)
        except UnsupportedModelError as error:
            if len(getattr(model, "classes_", ())) == 1:
                raise InvalidInputError(f"y has a single class: {error}") from error
            raise
        kind = "classifier" if forest.is_classifier else "regressor"
        self._check_type(kind, type(model).__name__)
        if self._preprocessed is None:
            forest = with_names(forest, self._own_names())
        return self._restore_labels(forest)

    def _options(self) -> SelectionOptions:
        return SelectionOptions(
            budget=None if self.budget is None else float(self.budget),
            lam=None if self.lam is None else float(self.lam),
            error=self.error,
            loss=self.loss,
            refit=self.refit,
            ridge=self.ridge if isinstance(self.ridge, str) else float(self.ridge),
            counting=self.counting,
            slack=self.slack if isinstance(self.slack, str) else float(self.slack),
            threshold=self.threshold,
            tolerance=self.tolerance,
            solver=self.solver,
            verbose=bool(self.verbose),
            class_weight=self.error_weight,
        )

    # --- Scoring --------------------------------------------------------------------------------------------

    def _scorer(self, *, has_queries: bool = False) -> Callable[..., float]:
        if self.scoring is None:
            return self._default_scorer
        scorer: Callable[..., float] = check_scoring(self, scoring=self.scoring)
        return scorer

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, qid: Any = None) -> float:
        """Score predictions: by `scoring` if it was given, else accuracy; for regression R^2, or NDCG.

        Parameters
        ----------
        X, y : array-like
        sample_weight : array-like, optional
        qid : array-like, optional
            The query that each row belongs to, for a scorer of `budgetprune.ranking` and for NDCG.
        """
        extras = {"sample_weight": sample_weight, "qid": qid}
        given = {name: value for name, value in extras.items() if value is not None}
        return float(self._scorer(has_queries=qid is not None)(self, X, y, **given))

    # --- Conversion and copies ------------------------------------------------------------------------------

    def to_sklearn(self) -> Any:
        """Convert the pruned ensemble to an ordinary estimator of scikit-learn, of the class it was before.

        For a pipeline, this is a fitted pipeline with the same preprocessing.

        Not possible after ``refit="softmax"``, because no forest of scikit-learn sums logarithms, nor with a
        `threshold`, which only this estimator has. For ensembles of other libraries, use
        ``forest_.to_lightgbm()`` and ``forest_.to_xgboost()``.
        """
        check_is_fitted(self)
        if self.threshold is not None:
            raise UnsupportedModelError(
                "forests of scikit-learn have no threshold; write FixedThresholdClassifier(FrozenEstimator("
                f"model.forest_.to_sklearn()), threshold={self.threshold!r}) of sklearn.model_selection."
            )
        model = self.forest_.to_sklearn()
        return model if self._preprocessed is None else self._preprocessed.join(model)

    def __copy__(self) -> Self:
        # `__getstate__` leaves out the rows; copies keep them.
        copied = type(self).__new__(type(self))
        copied.__dict__.update(self.__dict__)
        return copied

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        copied = type(self).__new__(type(self))
        memo[id(self)] = copied
        copied.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return copied

    def __getstate__(self) -> dict[str, Any]:
        # Pickles hold no rows: rows are large, and may be confidential where a model is sent.
        state = cast(dict[str, Any], super().__getstate__()).copy()
        state |= {name: None for name in ("_sample", "_counting") if name in state}
        return state
