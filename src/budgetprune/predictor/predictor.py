"""`BudgetPredictor`: acquire one source at a time, and stop when the label is certain."""

from __future__ import annotations

import copy
import inspect
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import ROUNDING, CostTable, FeatureCosts
from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.persistence import StoredSections, open_sections, save_sections
from budgetprune.predictor.checks import check_look_ahead, check_max_cost, check_number, check_on_error
from budgetprune.predictor.concurrent import acquire_concurrently
from budgetprune.predictor.decision import Decision, Simulation
from budgetprune.predictor.encoded import EncodedEngine
from budgetprune.predictor.engine import Engine
from budgetprune.predictor.example import Example
from budgetprune.predictor.residuals import RESIDUALS, Residuals
from budgetprune.predictor.rules import Order, check_decision_rule
from budgetprune.predictor.values import as_mapping
from budgetprune.preprocessing import InputColumns, Preprocessing, PricedPreprocessing
from budgetprune.utils.registry import Registry

# Settings stored in a file with the forest and its prices.
SETTINGS = ("slack", "max_cost", "threshold", "tolerance", "order", "look_ahead")


NO_RESIDUALS = (
    "this model has no residuals on rows that it was not trained on, so it has no intervals. Fit or prune it "
    "again with this release, for this budget, with at least 20 validation rows and without queries: then "
    "they are recorded with the model."
)


class Restorer(NamedTuple):
    """Function that creates the predictor of a file that has the section `name`."""

    name: str
    restore: Callable[[StoredSections], BudgetPredictor]


RESTORERS: Registry[Restorer] = Registry("restorer", ("budgetprune.staged.prediction.predictor:RESTORERS",))


class BudgetPredictor:
    """Predict without acquiring sources that cannot change the label.

    An ensemble's score is a sum over trees. A tree that waits for a source can only return the value of a
    leaf that it can still reach, so the score has a lower and an upper bound. As soon as these allow only one
    label, the prediction is decided. The label is the same as with all features, at a lower cost.

    Parameters
    ----------
    forest : Forest
        Pruned or not, averaged or boosted, for classification or regression.
    costs : FeatureCosts or its argument, or CostTable
        None: 1 per feature. With a `preprocessing`, these are costs of its raw columns.
    slack : float in [0, 0.5)
        Share of each waiting tree's range that is removed at both ends, so that predictions stop a little
        before certainty. 0: labels are always those of the plain forest.
    max_cost : float, optional
        Largest cost of one example. Sources that exceed the remaining limit are not considered. An example
        that is not decided by then gets the best guess, and is marked as undecided.
    threshold : float, optional
        Two classes only: predict the second if its probability is at least this. None: the rule of the
        library that the forest came from.
    tolerance : float, optional
        Regression only: decided once the interval of possible targets is no wider than this. None: 0.

    order : {"look-ahead", "range", "waiting"}
        Definition of the need. The next source is the one with the greatest need per unit of cost, among
        those that some tree waits for; so no example pays more than its full cost. ``"waiting"``: a tree
        needs the feature that it waits for. ``"range"``: the same, times the range of the tree's possible
        values. ``"look-ahead"``: a tree needs each feature that it may test soon, with the probability
        estimated from training rows, times that range.
    look_ahead : int from 0 to 6
        Number of unknown splits that a tree looks past, for its bounds in any order: beyond them, known
        features exclude leaves. On MiniBooNE and Covertype, 2 makes predictions 1 to 4 % cheaper than 1, and
        takes 1.3 to 1.4 times as long; 0 makes them 6 to 12 % more expensive.
    preprocessing : Preprocessing, optional
        Computes the features of the forest from raw columns. Rows, values and sources are then those of raw
        columns, and a feature is known as soon as all raw columns that it needs are.

    residuals : Residuals, optional
        Regression only: recorded residuals, for `predict_interval`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = RandomForestClassifier(20, random_state=0).fit(X[:400], y[:400])
    >>> predictor = BudgetPredictor(Forest.from_model(model))
    >>> decision = predictor.decide(X.iloc[500].to_dict())
    >>> bool(decision.label == model.predict(X[500:501])[0]), decision.reason
    (True, 'certain')
    >>> decision.cost < 30
    True
    """

    # Of predictors that an earlier release has pickled, too.
    _priced: PricedPreprocessing | None = None

    def __init__(
        self,
        forest: Forest,
        costs: Any = None,
        *,
        slack: float = 0.0,
        max_cost: float | None = None,
        threshold: float | None = None,
        tolerance: float | None = None,
        order: Order = "look-ahead",
        look_ahead: int = 1,
        preprocessing: Preprocessing | None = None,
        residuals: Residuals | None = None,
    ) -> None:
        if not isinstance(forest, Forest):
            raise InvalidInputError(
                f"forest must be a Forest, not {type(forest).__name__}; use Forest.from_model(model)."
            )
        self.forest = forest
        if preprocessing is not None:
            self._priced = PricedPreprocessing.of(preprocessing.for_forest(forest), costs)
            costs = self._priced.costs
        self.costs = _cost_table(costs, forest)
        self.slack = check_number("slack", slack)
        if not 0 <= self.slack < 0.5:
            raise InvalidInputError(f"slack must be at least 0 and below 0.5, not {slack!r}.")
        self.max_cost = check_max_cost(max_cost)
        self.threshold = None if threshold is None else check_number("threshold", threshold)
        self.tolerance = None if tolerance is None else check_number("tolerance", tolerance)
        check_decision_rule(forest, self.threshold, self.tolerance, order)
        self.order: Order = order
        self.look_ahead = check_look_ahead(look_ahead)
        self.residuals = residuals
        self._engine = self._encoded(self._make_engine())

    def _encoded(self, engine: Any) -> Any:
        """Return the engine for raw columns, if there is a preprocessing."""
        return engine if self._priced is None else EncodedEngine(engine, self._priced, self.forest)

    def _make_engine(self) -> Engine:
        return Engine(
            self.forest,
            self.costs,
            slack=self.slack,
            threshold=self.threshold,
            tolerance=self.tolerance,
            order=self.order,
            look_ahead=self.look_ahead,
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: part for name, part in self.__dict__.items() if name != "_engine"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        # Pickle does not keep arrays read-only, and writable arrays would need another compilation.
        self._engine = self._encoded(self._make_engine())

    def __repr__(self) -> str:
        given = self._settings()
        usual = {"slack": 0.0, "order": "look-ahead", "look_ahead": 1}
        shown = "".join(f", {name}={value!r}" for name, value in given.items() if value != usual.get(name))
        return f"BudgetPredictor({self.forest!r}, {self.costs.n_sources} sources{shown})"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features, or raw columns; ``x0``, ``x1``, ... if the forest has none."""
        names: tuple[str, ...] = self._engine.values.names
        return names

    @property
    def preprocessing(self) -> Preprocessing | None:
        """Preprocessing that computes the features of the forest from raw columns."""
        return None if self._priced is None else self._priced.preprocessing

    @property
    def feature_costs(self) -> CostTable:
        """Costs of what `feature_names` lists: of the features, or of the raw columns."""
        return self.costs if self._priced is None else self._priced.raw_costs

    def encode(self, X: Any) -> Any:
        """Return the features of the forest for raw rows; without a preprocessing, these are the rows."""
        return self.encode_for(self.forest, X)

    def encode_for(self, forest: Forest, X: Any) -> Any:
        """Do the same for another forest with the same features, such as the unpruned one."""
        return X if self.preprocessing is None else self.preprocessing.rows_for(forest, X)

    def inputs(self, forest: Forest | None = None) -> Forest | InputColumns:
        """Describe the columns that rows must have: those of a forest (None: its own), or raw columns."""
        forest = self.forest if forest is None else forest
        return forest if self.preprocessing is None else InputColumns.of(self.preprocessing, forest)

    def without_preprocessing(self) -> Self:
        """Return the same predictor for encoded rows."""
        other = copy.copy(self)
        if self._priced is not None:
            other._priced, other._engine = None, self._engine.inner
        return other

    @property
    def source_names(self) -> tuple[str, ...]:
        """Names of the sources."""
        return self.costs.source_names

    def features_of(self, source: str) -> tuple[str, ...]:
        """Return the features that need a source (or a free feature, by its name)."""
        columns = self._engine.gives(self._engine.source(source))
        return tuple(self.feature_names[k] for k in columns.tolist())

    def with_threshold(self, threshold: float) -> BudgetPredictor:
        """Return the same predictor with another threshold.

        Parameters
        ----------
        threshold : float
            Two classes only: the smallest probability at which the second one is predicted.
        """
        check_decision_rule(self.forest, check_number("threshold", threshold), None, self.order)
        other = copy.copy(self)
        other.threshold = float(threshold)
        other._engine = other._encoded(other._make_engine())
        return other

    # --- One example ----------------------------------------------------------------------------------------

    def step(
        self,
        values: Mapping[str, Any],
        *,
        known: Mapping[str, Any] | None = None,
        acquired: Iterable[str] = (),
        unavailable: Iterable[str] = (),
        max_cost: float | None = None,
    ) -> Decision:
        """Decide an example from known values, or return the next source.

        This is a pure function, without I/O.

        Parameters
        ----------
        values : mapping (also a pandas Series) from features to values
            Paid values: all sources that they need count as acquired, in this order.
        known : mapping from features to values, optional
            Free values; the sources that they need are free as well. If such a source has other features, it
            may be requested again, at no cost.
        acquired : paid sources that no value in `values` needs
        unavailable : sources that cannot be acquired
        max_cost : float, optional
            Instead of the predictor's.

        Returns
        -------
        decision : Decision
            Its `next` is the source to acquire next; None if it is decided, or if no source is left.
        """
        example = self._example(as_mapping(known), max_cost)
        example.take_paid(as_mapping(values))
        paid, lost = self._numbers(acquired, "acquired"), self._numbers(unavailable, "unavailable")
        for s in paid:
            example.request(s, is_named=True)
        for s in paid:
            example.arrive(s)
        for s in lost:
            example.mark_unavailable(s)
        return example.decision()

    def decide(
        self,
        fetch: Callable[[str], Any] | Mapping[str, Any],
        *,
        known: Mapping[str, Any] | None = None,
        max_cost: float | None = None,
        on_error: Literal["raise", "skip"] = "raise",
    ) -> Decision:
        """Acquire one source at a time until the example is decided.

        Parameters
        ----------
        fetch : callable, or mapping (also a pandas Series) from features to values
            Called with the name of a source (or of a free feature). Returns the value of the feature that
            needs it, a mapping from features to values, or None if the source has no value itself, such as a
            blood draw. Values of features that need further sources are kept until those have been acquired.
            If `fetch` is a mapping, only needed values are looked up and charged.
        known : mapping from features to values, optional
            Free values; the sources that they need are free as well. If such a source has other features, it
            may be requested again, at no cost. A callable `fetch` is called for free features only once a
            tree waits for them, so pass values that are already known here.
        max_cost : float, optional
            Instead of the predictor's.
        on_error : {"raise", "skip"}
            If a callable `fetch` raises an error: raise an `AcquisitionError`, or treat the source as
            unavailable. An invalid value always raises.

        Raises
        ------
        AcquisitionError
            If `fetch` fails; its `decision` is the last one before the failure.
        """
        check_on_error(on_error)
        fetch, known = as_mapping(fetch), as_mapping(known)
        if isinstance(fetch, Mapping):
            row = None if known else self._engine.values.read_all(fetch)
            if row is None:
                return self._example(known, max_cost).finish(fetch)
            # All values are plain numbers: the kernel can run all steps at once.
            decision: Decision = self._engine.finish(row, self._cost_limit(max_cost) * ROUNDING)
            return decision
        if not callable(fetch):
            raise InvalidInputError(
                f"fetch must be callable or a mapping from features to values, not {type(fetch).__name__}."
            )
        example = self._example(known, max_cost)
        while (s := example.next_source()) is not None:
            example.request(s)
            try:
                fetched = fetch(self._engine.source_names[s])
            except Exception as error:
                if on_error == "skip":
                    example.mark_unavailable(s)
                    continue
                raise example.error(s, error) from error
            if inspect.iscoroutine(fetched):
                fetched.close()
                raise InvalidInputError("fetch is a coroutine function; use adecide.")
            example.receive(s, fetched)
        return example.decision()

    async def adecide(
        self,
        fetch: Callable[[str], Awaitable[Any]],
        *,
        known: Mapping[str, Any] | None = None,
        max_cost: float | None = None,
        concurrency: int = 4,
        timeout: float | None = None,
        on_error: Literal["raise", "skip"] = "raise",
    ) -> Decision:
        """Acquire several sources at once until the example is decided, and cancel unneeded requests.

        Parameters
        ----------
        fetch : coroutine function
            As in `decide`. It is called only for sources that some tree waits for. A request is charged when
            it starts.
        known, max_cost : see `decide`
        concurrency : int
            Largest number of pending requests. 1 costs least; more take less time.
        timeout : float, optional
            Seconds after which a request is cancelled, and counts as failed. All requests have ended before
            this returns or raises; it waits for a request that ignores cancellation.
        on_error : {"raise", "skip"}
            If a request fails or times out: raise an `AcquisitionError`, or treat the source as unavailable.
            An invalid value always raises.

        Raises
        ------
        AcquisitionError
            If a request fails; its `decision` is the last one before the failure.
        """
        return await acquire_concurrently(
            self._example(as_mapping(known), max_cost), fetch, concurrency, timeout, on_error
        )

    def _example(self, known: Mapping[str, Any] | None, max_cost: float | None) -> Example:
        return Example(self._engine, known, self._cost_limit(max_cost))

    def _numbers(self, sources: Iterable[str], what: str) -> list[int]:
        if isinstance(sources, str) or not isinstance(sources, Iterable):
            raise InvalidInputError(f"{what} must be a list of names of sources, not {sources!r}.")
        return [self._engine.source(source) for source in sources]

    def _cost_limit(self, max_cost: float | None) -> float:
        cost_limit = self.max_cost if max_cost is None else check_max_cost(max_cost)
        return np.inf if cost_limit is None else cost_limit

    # --- Many rows ------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the label of each row, or its target, from all features."""
        labels: NDArray[Any] = self._engine.answers(self.forest.scores(self.encode(X)))
        return labels

    def predict_interval(self, X: Any, level: float = 0.9) -> NDArray[np.float64]:
        """Return intervals that contain the targets of a share `level` of new rows, of shape (n_rows, 2).

        They are around the predictions of `simulate`. Split-conformal intervals from residuals that were
        recorded when the model was fitted, on rows that no tree and no leaf value was learnt from: the share
        holds on average over rows from the same distribution, whatever that is. Regression only.

        Parameters
        ----------
        X : rows, in any form accepted by `Forest.prepare_rows`
        level : float
            Above 0 and below 1.
        """
        self.check_intervals(level)
        return self.intervals(self.simulate(X), level)

    def intervals(self, simulation: Simulation, level: float = 0.9) -> NDArray[np.float64]:
        """Return the intervals of `predict_interval` around simulated predictions.

        The simulation must have no other limit of the cost, and no other known sources, than the predictor.
        """
        self.check_intervals(level)
        half = self._half_width(simulation, level)
        return np.column_stack([simulation.label - half, simulation.label + half])

    def check_intervals(self, level: float) -> None:
        """Raise unless there are intervals of a level."""
        if self.forest.is_classifier:
            raise InvalidInputError("intervals are for regression; a classifier has probabilities.")
        self._half_width(None, level)

    def _half_width(self, simulation: Simulation | None, level: float) -> Any:
        """Return half the width of intervals; None checks that there are any."""
        if self.residuals is None:
            raise InvalidInputError(NO_RESIDUALS)
        return self.residuals.quantile(level)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Estimate the probability of each class from all features, of shape (n_rows, n_classes)."""
        return self.forest.predict_proba(self.encode(X))

    def simulate(self, X: Any, *, known: Iterable[str] = (), max_cost: float | None = None) -> Simulation:
        """Simulate acquisition for each row, one source at a time, and compute its cost.

        Parameters
        ----------
        X : rows, in any form accepted by `Forest.prepare_rows`; raw rows, if there is a preprocessing
        known : sources that are free for all rows
        max_cost : float, optional
            Instead of the predictor's.
        """
        at_hand = self._engine.is_free.copy()
        at_hand[self._numbers(known, "known")] = True
        found: Simulation = self._engine.simulate(X, at_hand, self._cost_limit(max_cost))
        return found

    # --- Files ----------------------------------------------------------------------------------------------

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the forest, its prices and the settings to one file, without pickle.

        The format is described in docs/model-format.md. The original model is not stored.
        """
        save_sections(file, self.sections())

    def sections(self) -> dict[str, Any]:
        """Return the parts that a model file holds, by the names of their sections."""
        found = {"forest": self.forest, "costs": self.costs, "options": self._settings()}
        return found | self._further_sections()

    def _further_sections(self) -> dict[str, Any]:
        """Return the sections of a preprocessing and of residuals, if there are any."""
        found: dict[str, Any] = {} if self._priced is None else {"preprocessing": self._priced}
        return found if self.residuals is None else found | {RESIDUALS: self.residuals}

    def _settings(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in SETTINGS}

    @classmethod
    def load(cls, file: str | os.PathLike[str]) -> BudgetPredictor:
        """Read a file written by `save`. Untrusted files are safe: only numbers and names are read."""
        with open_sections(file) as stored:
            return cls.from_sections(stored)

    @classmethod
    def from_sections(cls, stored: StoredSections) -> BudgetPredictor:
        """Create a predictor from the sections of a model file."""
        stored.need("forest", "costs", "options")
        for restorer in RESTORERS:
            if restorer.name in stored:
                return restorer.restore(stored)
        forest, costs, settings = stored["forest"], stored["costs"], stored["options"]
        unknown = settings.keys() - set(SETTINGS)
        if unknown:
            raise InvalidInputError(f"its settings {', '.join(sorted(unknown))} are unknown.")
        priced: PricedPreprocessing | None = stored.get("preprocessing")
        found = cls(forest, costs, **settings, residuals=stored.get(RESIDUALS))
        if priced is not None:
            found._priced = priced
            found._engine = found._encoded(found._engine)
        return found


def _cost_table(costs: Any, forest: Forest) -> CostTable:
    if not isinstance(costs, CostTable):
        return FeatureCosts.of(costs).resolve(forest.n_features, forest.feature_names)
    if costs.n_features != forest.n_features:
        raise InvalidInputError(
            f"the costs are for {costs.n_features} features, but the forest has {forest.n_features}."
        )
    return costs
