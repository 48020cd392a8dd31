"""`BudgetPredictor`: acquire one source at a time, stop when the answer is certain."""

from __future__ import annotations

import inspect
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import ROUNDING, CostTable, FeatureCosts
from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.persistence.container import blamed_on
from budgetprune.persistence.model_file import STAGED, Sections, load_model_and_stages, save_model
from budgetprune.predictor.aim import Order, check_aim
from budgetprune.predictor.checks import check_look_ahead, check_max_cost, check_number, check_on_error
from budgetprune.predictor.concurrent import acquire_concurrently
from budgetprune.predictor.decision import Decision, Simulation
from budgetprune.predictor.engine import Engine
from budgetprune.predictor.example import Example

# What a file holds beside the forest and its prices.
SETTINGS = ("slack", "max_cost", "threshold", "tolerance", "order", "look_ahead")


Restorer = Callable[[Forest, CostTable, dict[str, Any], Sections], "BudgetPredictor"]
_RESTORERS: dict[str, Restorer] = {}


def register_restorer(kind: str, restorer: Restorer) -> None:
    """Say what makes a predictor of the files of other kinds of models."""
    _RESTORERS[kind] = restorer


class BudgetPredictor:
    """Predict without buying what cannot matter.

    An ensemble's score is a sum over trees. While some of them still wait for a source, each can only answer
    what is at the leaves that it can still reach, so the score has a lower and an upper bound. As soon as
    these allow only one label, the prediction is decided: the same label as with all features, for less.

    Parameters
    ----------
    forest : Forest
        Pruned or not, averaged or boosted, for classification or regression.
    costs : FeatureCosts or what it takes, or CostTable
        None: 1 per feature.
    slack : float in [0, 0.5)
        Takes this share of each waiting tree's range off both its ends, so that it stops a little before
        certainty. 0: labels are those of the plain forest, always.
    max_cost : float, optional
        What one example may cost at most. Sources that do not fit into the rest are not considered; an
        example that is not decided by then gets the best guess, and is marked.
    threshold : float, optional
        Two classes only: predict the second if its probability is at least that. None: the rule of the
        library that the forest came from.
    tolerance : float, optional
        Regression only: decided once the interval of what is possible is no wider. None: 0.

    order : {"look-ahead", "range", "waiting"}
        Which source is next: the one with the greatest need per unit of cost, among those that some tree
        stands at right now; so no example ever pays more than its full cost. ``"waiting"``: a tree needs the
        feature it stands at. ``"range"``: the same, times the range of what the tree can still answer.
        ``"look-ahead"``: a tree needs each feature that it may meet soon, as probably as training rows met
        it, times that range.
    look_ahead : int from 0 to 6
        How many unknown splits a tree looks past, for its bounds in any order: beyond them, features that are
        known already exclude leaves. On MiniBooNE and Covertype, 2 makes predictions 1 to 4 % cheaper than 1,
        and takes 1.3 to 1.4 times as long; 0 makes them 6 to 12 % dearer.

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
    ) -> None:
        if not isinstance(forest, Forest):
            raise InvalidInputError(
                f"forest must be a Forest, not {type(forest).__name__}; use Forest.from_model(model)."
            )
        self.forest = forest
        self.costs = _cost_table(costs, forest)
        self.slack = check_number("slack", slack)
        if not 0 <= self.slack < 0.5:
            raise InvalidInputError(f"slack must be at least 0 and below 0.5, not {slack!r}.")
        self.max_cost = check_max_cost(max_cost)
        self.threshold = None if threshold is None else check_number("threshold", threshold)
        self.tolerance = None if tolerance is None else check_number("tolerance", tolerance)
        check_aim(forest, self.threshold, self.tolerance, order)
        self.order: Order = order
        self.look_ahead = check_look_ahead(look_ahead)
        self._engine = self._make_engine()

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
        # Pickles forget that arrays are read-only, and kernels would be compiled once more for those.
        self._engine = self._make_engine()

    def __repr__(self) -> str:
        given = self._settings()
        usual = {"slack": 0.0, "order": "look-ahead", "look_ahead": 1}
        shown = "".join(f", {name}={value!r}" for name, value in given.items() if value != usual.get(name))
        return f"BudgetPredictor({self.forest!r}, {self.costs.n_sources} sources{shown})"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """What values are called: names of the features, or ``x0``, ``x1``, ..."""
        return self._engine.values.names

    @property
    def source_names(self) -> tuple[str, ...]:
        """What is paid for."""
        return self.costs.source_names

    def features_of(self, source: str) -> tuple[str, ...]:
        """Features that need a source (or a feature that needs none, by its own name)."""
        columns = self._engine.gives(self._engine.source(source))
        return tuple(self.feature_names[k] for k in columns.tolist())

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
        """These values are known: is it decided, or which source is next?

        A pure function, without any input or output of its own.

        Parameters
        ----------
        values : mapping from features to values
            That were paid for: all sources that they need count as acquired, in this order.
        known : mapping from features to values, optional
            That are known for free, as are the sources that they need. If such a source gives other features
            as well, it may be asked for again, at no cost.
        acquired : sources that were paid for, though no value in `values` needs them
        unavailable : sources that cannot be had
        max_cost : float, optional
            Instead of the predictor's.

        Returns
        -------
        decision : Decision
            Its `next` is the source to acquire next; None if it is decided, or if nothing can be done.
        """
        example = self._example(known, max_cost)
        example.take_paid(values)
        paid, lost = self._numbers(acquired, "acquired"), self._numbers(unavailable, "unavailable")
        for s in paid:
            example.request(s, is_named=True)
        for s in paid:
            example.arrive(s)
        for s in lost:
            example.give_up(s)
        return example.decision()

    def decide(
        self,
        fetch: Callable[[str], Any] | Mapping[str, Any],
        *,
        known: Mapping[str, Any] | None = None,
        max_cost: float | None = None,
        on_error: Literal["raise", "skip"] = "raise",
    ) -> Decision:
        """Acquire source after source until it is decided.

        Parameters
        ----------
        fetch : callable, or mapping from features to values
            Called with the name of a source (or of a feature that needs none). Returns the value of the
            feature that needs it, or a mapping from features to values, or None if it gives no value by
            itself, as a blood draw does. Values of features that need further sources are kept until those
            have been acquired. A mapping is looked up for what is needed, and only that is charged.
        known : mapping from features to values, optional
            What is known already, for free, as are the sources that it needs. If such a source gives other
            features as well, it may be asked for again, at no cost. A callable is asked for free features
            only once a tree waits for them: what is at hand had better be given here.
        max_cost : float, optional
            Instead of the predictor's.
        on_error : {"raise", "skip"}
            What happens if a callable `fetch` raises an error: an `AcquisitionError`, or the source counts as
            unavailable. An invalid value is an error in any case.

        Raises
        ------
        AcquisitionError
            If `fetch` fails; its `decision` says what was learned before.
        """
        check_on_error(on_error)
        if isinstance(fetch, Mapping):
            row = None if known else self._engine.values.read_all(fetch)
            if row is None:
                return self._example(known, max_cost).finish(fetch)
            # All are plain numbers: the kernel can take all steps at once.
            return self._engine.finish(row, self._money(max_cost) * ROUNDING)
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
                    example.give_up(s)
                    continue
                raise example.error(s, error) from error
            if inspect.iscoroutine(fetched):
                fetched.close()
                raise InvalidInputError("fetch is a coroutine function, which takes adecide.")
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
        """Acquire several sources at once until it is decided, and cancel what is no longer needed.

        Parameters
        ----------
        fetch : coroutine function
            Like `decide`'s. It is asked only for sources that some tree waits for; a request is charged
            once started.
        known, max_cost : see `decide`
        concurrency : int
            How many requests may be under way at once. 1 costs least; more take less time.
        timeout : float, optional
            Seconds after which a request is cancelled, and has failed. All requests have ended before this
            returns or raises: one that ignores being cancelled is waited for.
        on_error : {"raise", "skip"}
            What happens if a request fails or takes too long: an `AcquisitionError`, or the source counts as
            unavailable. An invalid value is an error in any case.

        Raises
        ------
        AcquisitionError
            If a request fails; its `decision` says what was learned before.
        """
        return await acquire_concurrently(
            self._example(known, max_cost), fetch, concurrency, timeout, on_error
        )

    def _example(self, known: Mapping[str, Any] | None, max_cost: float | None) -> Example:
        return Example(self._engine, known, self._money(max_cost))

    def _numbers(self, sources: Iterable[str], what: str) -> list[int]:
        if isinstance(sources, str) or not isinstance(sources, Iterable):
            raise InvalidInputError(f"{what} must be a list of names of sources, not {sources!r}.")
        return [self._engine.source(source) for source in sources]

    def _money(self, max_cost: float | None) -> float:
        money = self.max_cost if max_cost is None else check_max_cost(max_cost)
        return np.inf if money is None else money

    # --- Many rows ------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the label of each row, or its target, from all features: the plain answer."""
        return self._engine.answers(self.forest.scores(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Estimate the probability of each class from all features, of shape (n_rows, n_classes)."""
        return self.forest.predict_proba(X)

    def simulate(self, X: Any, *, known: Iterable[str] = (), max_cost: float | None = None) -> Simulation:
        """Find out what each row would have cost, had its sources been acquired one after the other.

        Parameters
        ----------
        X : rows, of any form that `Forest.prepare_rows` takes
        known : sources that all rows have for free
        max_cost : float, optional
            Instead of the predictor's.
        """
        at_hand = self._engine.is_free.copy()
        at_hand[self._numbers(known, "known")] = True
        return self._engine.simulate(X, at_hand, self._money(max_cost))

    # --- Files ----------------------------------------------------------------------------------------------

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the forest, its prices and the settings to one file, without pickle.

        The format is described in docs/model-format.md. The model that the forest came from is left out.
        """
        self._save(file)

    def _save(self, file: str | os.PathLike[str], further: Sections | None = None) -> None:
        save_model(file, self.forest, self.costs, self._settings(), further)

    def _settings(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in SETTINGS}

    @classmethod
    def load(cls, file: str | os.PathLike[str]) -> BudgetPredictor:
        """Read what `save` wrote. It is safe with any file: nothing but numbers and names is read."""
        parts, staged = load_model_and_stages(file)
        with blamed_on(file):
            return cls._restored(*parts, staged)

    @classmethod
    def _restored(
        cls, forest: Forest, costs: CostTable, settings: dict[str, Any], staged: Sections
    ) -> BudgetPredictor:
        """Make a predictor of what a file holds."""
        if staged.header:
            return _RESTORERS[STAGED](forest, costs, settings, staged)
        unknown = settings.keys() - set(SETTINGS)
        if unknown:
            raise InvalidInputError(f"its settings {', '.join(sorted(unknown))} are unknown.")
        return cls(forest, costs, **settings)


def _cost_table(costs: Any, forest: Forest) -> CostTable:
    if not isinstance(costs, CostTable):
        return FeatureCosts.of(costs).resolve(forest.n_features, forest.feature_names)
    if costs.n_features != forest.n_features:
        raise InvalidInputError(
            f"the costs are for {costs.n_features} features, but the forest has {forest.n_features}."
        )
    return costs
