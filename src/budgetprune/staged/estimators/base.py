"""`BudgetEstimator`: base class of `BudgetClassifier` and `BudgetRegressor`."""

from __future__ import annotations

import copy
import warnings
from abc import abstractmethod
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from budgetprune.costs import ROUNDING, CostTable, FeatureCosts
from budgetprune.errors import BudgetWarning, InvalidInputError
from budgetprune.forest import as_shares
from budgetprune.predictor import check_number
from budgetprune.preprocessing import PricedPreprocessing
from budgetprune.staged.curve.points import Score
from budgetprune.staged.curve.risk import TEST_SHARE, certify_risk, check_risk
from budgetprune.staged.data.columns import FeatureSchema, columns_of
from budgetprune.staged.data.folds import (
    Fold,
    checked_folds,
    enough_folds,
    even_folds,
    folds_of_some,
    in_new_order,
)
from budgetprune.staged.data.preprocessed import encode_training
from budgetprune.staged.data.rows import TrainingRows, queries_of, unit_weights
from budgetprune.staged.data.sample import LearningSample
from budgetprune.staged.fitting.pipeline import fit_staged_model
from budgetprune.staged.fitting.spec import FitSpec
from budgetprune.staged.learners.registry import LEARNERS, LearnerCandidates, has_lightgbm
from budgetprune.staged.learners.remote import check_engine, on_engine, tasks_at_once
from budgetprune.staged.model.objective import Objective
from budgetprune.staged.model.staged_model import StagedModel, Stages
from budgetprune.staged.model.tradeoff import StagedTradeOff
from budgetprune.staged.prediction.predictor import StagedPredictor
from budgetprune.staged.training.deadline import Deadline
from budgetprune.utils.numbers import at_least_zero
from budgetprune.utils.threads import available_cores
from budgetprune.utils.validation import labels_of, refuse_infinities, rows_of, weights_of


class BudgetEstimator(BaseEstimator):  # type: ignore[misc]
    """Train a staged model for a budget; see `BudgetClassifier`."""

    def __init__(
        self,
        costs: Any = None,
        *,
        budget: float | None = None,
        error_costs: Any = None,
        max_cost: float | None = None,
        risk: tuple[float, float] | None = None,
        scoring: Any = None,
        time_limit: float | None = None,
        learner: str = "auto",
        cv: Any = 5,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        preprocessing: Any = None,
        needs: Any = None,
        engine: str | None = None,
    ) -> None:
        self.costs = costs
        self.budget = budget
        self.error_costs = error_costs
        self.max_cost = max_cost
        self.risk = risk
        self.scoring = scoring
        self.time_limit = time_limit
        self.learner = learner
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.preprocessing = preprocessing
        self.needs = needs
        self.engine = engine

    # Computes features from raw columns, with `preprocessing`.
    _priced: PricedPreprocessing | None = None

    # --- Fitting --------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, qid: Any = None) -> Self:
        """Train on rows and their labels.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars table of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
            Classes; for a regressor, numbers.
        sample_weight : array-like of shape (n_rows,), optional
        qid : array-like of shape (n_rows,), optional
            Query of each row, for ranking. All rows of a query are in the same fold, and queries are passed
            to a `scoring` such as `budgetprune.ranking.ap_scorer`. The default score of a regressor is then
            NDCG.
        """
        self._check_parameters()
        self.__dict__.pop("model_", None)  # an interrupted fit must not leave the previous model
        X = rows_of(self, X, reset=True, may_hold_text=self.preprocessing is not None)
        refuse_infinities(X)
        labels = labels_of(self, X, y)
        weight = unit_weights(weights_of(X, sample_weight))
        names = tuple(self.feature_names_in_) if hasattr(self, "feature_names_in_") else None
        self._prices: CostTable = FeatureCosts.of(self.costs).resolve(self.n_features_in_, names)
        self._priced = None
        qid = queries_of(X, qid)
        if self.preprocessing is None:
            self._columns: FeatureSchema = columns_of(X, names)
        else:
            trained = encode_training(self.preprocessing, X, labels, weight, self.costs, self.needs)
            self._columns, self._priced, X = trained.schema, trained.priced, trained.rows
            self._prices = trained.priced.costs
        given = TrainingRows(self._columns.read(X), labels, weight, qid)
        random = check_random_state(self.random_state)
        divided = None if isinstance(self.cv, Integral) else self._given_folds(given)
        if weight is not None and not weight.all():
            # Rows of weight 0 are removed, from the folds too.
            counts = weight > 0
            given = given.take(np.flatnonzero(counts))
            divided = None if divided is None else folds_of_some(divided, counts)
        if len(given) < 2:
            raise InvalidInputError(
                f"X has n_samples={len(given)} rows of positive weight; at least 2 are needed."
            )
        # Rows may be sorted, for example by class. Later steps take the first rows as a sample, so shuffle.
        order = random.permutation(len(given))
        given = given.take(order)
        divided = None if divided is None else in_new_order(divided, order)
        tested = None
        if self.risk is not None:
            given, tested = self._hold_out(given, random)
        sample = self._sample(given.rows, given.labels, given.weight)
        folds = divided or enough_folds(even_folds(random, int(self.cv), self._strata(sample), given.qid))
        objective = self._make_objective()
        spec = FitSpec(
            sample=sample,
            row_weight=np.ones(len(given)) if given.weight is None else given.weight,
            classes=getattr(self, "classes_", None),
            costs=self._prices,
            folds=folds,
            objective=objective,
            fallback=self._fallback(),
            score=self._make_score(sample, given, objective),
            candidates=on_engine(self._candidates(), self.engine),
            budget=np.inf if self.budget is None else self.budget,
            max_cost=np.inf if self.max_cost is None else self.max_cost,
            has_error_costs=self.error_costs is not None,
            keeps_full_point=self.risk is not None,
            records_residuals=not is_classifier(self) and given.qid is None,
            deadline=Deadline(self.time_limit),
            seed=int(random.randint(2**30)),
            n_jobs=self._n_threads(),
            verbose=bool(self.verbose),
        )
        self._check_score(spec)
        fitted = fit_staged_model(spec)
        self.learner_, self.settings_ = fitted.learner.name, fitted.settings
        curve = fitted.trade_off
        is_by_probabilities = fitted.objective is not objective
        best = len(curve) - 1 if is_by_probabilities else int(np.argmax(curve.score))
        if self.error_costs is not None:
            best = curve.cheapest_in_all()
        model = StagedModel(
            chains=fitted.chains,
            trade_off=curve,
            best=best,
            point=best,
            objective=fitted.objective,
            costs=self._prices,
            classes=spec.classes,
            answer=getattr(self, "_answer", None),
            residuals=fitted.residuals,
        )
        if tested is not None:
            self.risk_ = certify_risk(model, tested.rows, *check_risk(self.risk))
        self.model_ = self._select_point(model, self.budget)
        self._warn_if_nothing_fits()
        if is_by_probabilities:
            warnings.warn(
                "no source makes predictions more accurate than the same label for all rows, so points are "
                "selected by the log loss of the probabilities. In Python, scoring='roc_auc' or "
                "class_weight='balanced' gives rare classes more weight.",
                BudgetWarning,
                stacklevel=3,
            )
        return self

    def _warn_if_nothing_fits(self) -> None:
        """Warn if the model acquires nothing because all sources are too expensive."""
        price = self._prices.price_alone
        limit = min(np.inf if each is None else each for each in (self.budget, self.max_cost))
        if not np.any(price <= limit * ROUNDING):
            warnings.warn(
                f"the model acquires nothing and gives the same answer for all rows: the cheapest feature "
                f"costs {price.min():.4g}, more than budget or max_cost allow ({limit:.4g}).",
                BudgetWarning,
                stacklevel=4,
            )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def _hold_out(
        self, given: TrainingRows, random: np.random.RandomState
    ) -> tuple[TrainingRows, TrainingRows]:
        """Hold out rows for the test of `risk`, where they are used only."""
        check_risk(self.risk)
        if not is_classifier(self):
            raise InvalidInputError(
                "risk is about labels that differ; a regressor has no labels: leave it out."
            )
        if not isinstance(self.cv, Integral) or given.qid is not None:
            raise InvalidInputError("risk needs held-out rows; give cv as a number, and no qid.")
        order = random.permutation(len(given))
        n_tested = max(1, round(TEST_SHARE * len(given)))
        return given.take(np.sort(order[n_tested:])), given.take(order[:n_tested])

    def _select_point(self, model: StagedModel, budget: float | None) -> StagedModel:
        """Select the point for a budget, with `risk` among the certified points."""
        found = model.within(budget)
        if self.risk is None:
            return found
        certified = np.flatnonzero(self.risk_.is_certified)
        affordable = certified[certified <= found.point] if budget is not None else certified
        if not affordable.size:
            limit = f" below a cost of {model.cost(certified[0]):.4g}" if certified.size else ""
            bound = self.risk_.bound(found.point)
            warnings.warn(
                f"no model{limit} is certified for risk={self.risk!r}; at this budget, the share of "
                f"labels that differ is at most {bound:.3g}. Give a larger budget, or more rows.",
                BudgetWarning,
                stacklevel=3,
            )
            return found
        if self.error_costs is not None:
            curve = model.trade_off
            total = (curve.cost + curve.loss)[affordable]
            return model.at(int(affordable[np.argmin(total)]))
        return model.at(int(affordable[-1] if budget is not None else affordable[0]))

    @property
    def tradeoff_(self) -> StagedTradeOff:
        """Trade-off curve: cost and score for each budget."""
        check_is_fitted(self)
        return self.model_.trade_off

    @abstractmethod
    def _sample(
        self, rows: NDArray[np.float64], labels: NDArray[Any], weight: NDArray[np.float64] | None
    ) -> LearningSample:
        """Return rows, numeric targets and weights in the form that learners need."""

    @abstractmethod
    def _make_objective(self) -> Objective:
        """Return the loss that stopping rules minimise."""

    def _fallback(self) -> Objective | None:
        """Objective for points and rules if no source improves the score; None: no fallback."""
        return None

    @abstractmethod
    def _make_score(self, sample: LearningSample, given: TrainingRows, objective: Objective) -> Score:
        """Return a function that scores outputs of some rows."""

    @abstractmethod
    def _constant_outputs(self, sample: LearningSample) -> NDArray[np.float64]:
        """Outputs of a constant model."""

    def _check_score(self, spec: FitSpec) -> None:
        """Score a constant model, so that an unsuitable `scoring` raises before training."""
        try:
            spec.score(spec.folds[0][1], self._constant_outputs(spec.sample)[spec.folds[0][1]])
        except (TypeError, ValueError) as error:
            raise InvalidInputError(f"scoring={self.scoring!r} cannot score these rows: {error}") from error

    def _strata(self, sample: LearningSample) -> NDArray[np.intp]:
        """Strata of the folds, one number per row."""
        return np.zeros(len(sample), dtype=np.intp)

    def _given_folds(self, given: TrainingRows) -> list[Fold]:
        """Return the folds of the splitter `cv`."""
        splitter = check_cv(self.cv, given.labels, classifier=is_classifier(self))
        return checked_folds(splitter.split(given.rows, given.labels, given.qid), len(given))

    def _candidates(self) -> LearnerCandidates:
        """Return the candidate learners. Forests of scikit-learn do not support categories."""
        found, categories = LEARNERS[self.learner](), self._columns.categories
        if categories is None:
            return found
        if found.is_forest_required:
            k = next(k for k, each in enumerate(categories) if each is not None)
            name = k if self._columns.names is None else repr(self._columns.names[k])
            raise InvalidInputError(
                f"learner='forest' does not support categories, but column {name} has some; encode them as "
                "numbers, or choose another learner."
            )
        return replace(found, forest=None)

    def _n_threads(self) -> int:
        if not (self.n_jobs is None or isinstance(self.n_jobs, Integral)):
            raise InvalidInputError(f"n_jobs must be an integer or None, not {self.n_jobs!r}.")
        if self.n_jobs is None:
            return available_cores() if self.engine is None else tasks_at_once()
        return effective_n_jobs(self.n_jobs) if self.engine is None or self.n_jobs < 0 else int(self.n_jobs)

    def _check_parameters(self) -> None:
        check_engine(self.engine)
        for name in ("budget", "max_cost", "time_limit"):
            if getattr(self, name) is not None:
                at_least_zero(check_number(name, getattr(self, name)), name)
        if not isinstance(self.learner, str) or self.learner not in LEARNERS:
            raise InvalidInputError(f"learner must be one of {', '.join(LEARNERS)}; not {self.learner!r}.")
        if self.learner == "lightgbm" and not has_lightgbm():
            raise ImportError("learner='lightgbm' needs LightGBM: pip install 'budgetprune[lightgbm]'")
        if isinstance(self.cv, bool | float | str | None) or (isinstance(self.cv, Integral) and self.cv < 2):
            raise InvalidInputError(
                f"cv must be an integer of at least 2, or a splitter of scikit-learn; not {self.cv!r}."
            )
        is_fitted = isinstance(self.preprocessing, FrozenEstimator)
        if self.risk is not None and self.preprocessing is not None and not is_fitted:
            raise InvalidInputError(
                "risk is tested on rows that are used for nothing else, but the preprocessing would be "
                "fitted to "
                "all of them: fit it to other rows, and write preprocessing=FrozenEstimator(preprocessing)."
            )

    # --- Predictions ----------------------------------------------------------------------------------------

    def _follow(self, X: Any) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        check_is_fitted(self)
        X = rows_of(self, X, may_hold_text=self._priced is not None)
        rows = self._columns.read(X if self._priced is None else self._priced.preprocessing.transform(X))
        return self.model_.chain.follow(rows, self.model_.thresholds, self.model_.objective)

    def acquisition_cost(self, X: Any) -> NDArray[np.float64]:
        """Compute the cost of each row: of all sources up to the stage where it stops; shape (n_rows,)."""
        stage, _ = self._follow(X)
        return self.model_.paid[stage]

    def predictor(self) -> StagedPredictor:
        """Return a predictor that acquires sources one after the other, and can be saved to a file.

        With `risk`, it contains only the certified points, unless the selected point is not certified.
        """
        check_is_fitted(self)
        model = self.model_
        if self.risk is not None and self.risk_.is_certified[model.point]:
            model = model.only(np.flatnonzero(self.risk_.is_certified))
        return StagedPredictor(model, max_cost=self.max_cost, preprocessing=self._priced)

    def with_budget(self, budget: float | None) -> Self:
        """Return the same model at another budget, without training.

        Parameters
        ----------
        budget : float or None
            Average cost of a prediction; None: no limit.
        """
        check_is_fitted(self)
        other = copy.copy(self)
        other.budget = budget
        other._check_parameters()
        other.model_ = other._select_point(self.model_, budget)
        return other

    @property
    def stages_(self) -> Stages:
        """Stages at this budget: sources, prices, shares of the rows that reach them and stop, and scores."""
        check_is_fitted(self)
        return self.model_.stages()

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each feature in the explained variance of the scores, at this budget; they sum to 1.

        Splits of each tree explain variance as in scikit-learn's importances. Each stage counts for the
        share of rows that stop there, and earlier trees with their weight in its scores. A feature that no
        row acquires at this budget has 0, as it has if prices keep it from being bought. With
        `preprocessing`, the features are raw columns: what an encoded feature explains is divided equally
        among the columns that it needs.
        """
        check_is_fitted(self)
        explained = self.model_.explained_variances()
        if self._priced is not None:
            explained = self._priced.preprocessing.by_raw_column(explained)
        return as_shares(explained)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags
