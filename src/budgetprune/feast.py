"""Fetching of sources from a feature store of Feast, or from any store with the same method.

`OnlineFeatures` gives a predictor the sources of one entity, so that ``decide`` and ``adecide`` read only
the features that they need. Nothing of Feast is imported: a store is any object with the method of
`OnlineStore`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from budgetprune.costs import FeatureCosts, join_first
from budgetprune.errors import InvalidInputError
from budgetprune.predictor import BudgetPredictor

__all__ = ["OnlineFeatures", "OnlineStore", "view_costs"]


class OnlineResponse(Protocol):
    """Answer of a store."""

    def to_dict(self) -> Mapping[str, Sequence[Any]]:
        """Return the values of each feature, one per entity; names are ``view__feature``."""
        ...


class OnlineStore(Protocol):
    """Store of features, such as ``feast.FeatureStore``."""

    def get_online_features(
        self, features: list[str], entity_rows: list[dict[str, Any]], full_feature_names: bool
    ) -> OnlineResponse:
        """Return the latest values of some features of some entities.

        Parameters
        ----------
        features : references, ``view:feature``
        entity_rows : join keys and their values
        full_feature_names : whether the names in the answer begin with that of the view
        """
        ...


class OnlineFeatures:
    """Sources of a predictor in a feature store.

    Parameters
    ----------
    store : OnlineStore
    predictor : BudgetPredictor
    references : mapping
        Feature of the model to its reference in the store, ``view:feature``. A feature whose name is a
        reference, or ``view__feature``, needs no entry.
    given : list of str
        Features that each request brings along: pass them to ``decide`` as `known`.

    Examples
    --------
    ::

        features = OnlineFeatures(FeatureStore("repo"), predictor, {"trips": "driver_stats:trips"})
        decision = predictor.decide(features.fetch_for({"driver_id": 1001}))
    """

    def __init__(
        self,
        store: OnlineStore,
        predictor: BudgetPredictor,
        references: Mapping[str, str] | None = None,
        *,
        given: Iterable[str] = (),
    ) -> None:
        if not callable(getattr(store, "get_online_features", None)):
            raise InvalidInputError(
                "store must have a method get_online_features, as feast.FeatureStore has; "
                f"{type(store).__name__} has none."
            )
        if isinstance(given, str):
            raise InvalidInputError(f"given must be a list of names of features, not {given!r}.")
        self.store = store
        self.predictor = predictor
        self.given = frozenset(given)
        self.references = _all_references(predictor.feature_names, references or {}, self.given)
        self._needs: dict[str, set[str]] = {name: set() for name in predictor.feature_names}
        for source in predictor.source_names:
            for name in predictor.features_of(source):
                self._needs[name].add(source)

    def features_of(self, source: str) -> tuple[str, ...]:
        """Return the features that need a source and are in the store."""
        return tuple(name for name in self.predictor.features_of(source) if name not in self.given)

    def fetch(
        self, source: str, entity: Mapping[str, Any], acquired: Iterable[str] = ()
    ) -> dict[str, Any] | None:
        """Read the features of a source for one entity, with one request.

        Parameters
        ----------
        source : str
        entity : mapping from join keys to values
        acquired : other sources that were acquired
            Features that need still other sources are not read.

        Returns
        -------
        values : dict, or None if no feature can be read yet
            Values that the store lacks are None.
        """
        bought = {*acquired, source}
        ready = [name for name in self.features_of(source) if self._needs[name] <= bought]
        if not ready:
            return None
        answer = self.store.get_online_features(
            features=[self.references[name] for name in ready],
            entity_rows=[dict(entity)],
            full_feature_names=True,
        ).to_dict()
        keys = {name: self.references[name].replace(":", "__") for name in ready}
        lacking = [key for key in keys.values() if key not in answer]
        if lacking:
            raise InvalidInputError(
                f"the store's answer lacks {join_first(map(repr, lacking), at_most=5)}; it has "
                f"{join_first(map(repr, answer), at_most=12)}."
            )
        return {name: answer[key][0] for name, key in keys.items()}

    def fetch_for(self, entity: Mapping[str, Any]) -> Callable[[str], dict[str, Any] | None]:
        """Return the argument `fetch` of ``decide`` for one entity; it serves one decision."""
        entity, acquired = _checked_entity(entity), set[str]()

        def fetch(source: str) -> dict[str, Any] | None:
            found = self.fetch(source, entity, acquired)
            acquired.add(source)
            return found

        return fetch

    def afetch_for(self, entity: Mapping[str, Any]) -> Callable[[str], Awaitable[dict[str, Any] | None]]:
        """Return the argument `fetch` of ``adecide`` for one entity; requests run in threads.

        A source is acquired when its request begins, so two sources of one feature may be requested at once.
        """
        entity, acquired = _checked_entity(entity), set[str]()

        async def fetch(source: str) -> dict[str, Any] | None:
            before = frozenset(acquired)
            acquired.add(source)
            try:
                return await asyncio.to_thread(self.fetch, source, entity, before)
            except BaseException:
                acquired.discard(source)
                raise

        return fetch


def view_costs(prices: Mapping[str, float], references: Mapping[str, str]) -> FeatureCosts:
    """Return costs with one source per feature view, for training.

    Parameters
    ----------
    prices : mapping
        Feature view to its price, for example the time of a request.
    references : mapping
        Feature of the model to its reference, ``view:feature``.
    """
    views = {name: _parts(name, reference)[0] for name, reference in references.items()}
    unknown = sorted(set(views.values()) - set(prices))
    if unknown:
        raise InvalidInputError(
            f"prices has no price for the feature views {join_first(map(repr, unknown), at_most=12)}; add "
            "one for each (0 if it is free)."
        )
    paid = {view: price for view, price in prices.items() if price != 0 and view in views.values()}
    return FeatureCosts.from_sources(
        paid, {name: [view] if view in paid else [] for name, view in views.items()}
    )


def _all_references(
    names: Sequence[str], references: Mapping[str, str], given: frozenset[str]
) -> dict[str, str]:
    """Return the reference of each feature that is not given; raise if a name is unknown or has none."""
    for what, listed in (("references has", references), ("given has", given)):
        unknown = [name for name in listed if name not in names]
        if unknown:
            raise InvalidInputError(
                f"{what} features that the model lacks: {join_first(map(repr, unknown), at_most=12)}; its "
                f"features are {join_first(map(repr, names), at_most=12)}."
            )
    found, absent = {}, []
    for name in names:
        if name in given:
            continue
        reference = references.get(name)
        if reference is None and ":" in name:
            reference = name
        elif reference is None and "__" in name:
            reference = ":".join(name.split("__", 1))
        if reference is None:
            absent.append(name)
        else:
            _parts(name, reference)
            found[name] = reference
    if absent:
        raise InvalidInputError(
            f"references lacks {join_first(map(repr, absent), at_most=12)}; write 'view:feature' for each, "
            "or list those that requests bring along in given."
        )
    return found


def _parts(name: str, reference: Any) -> tuple[str, str]:
    view, separator, feature = reference.partition(":") if isinstance(reference, str) else ("", "", "")
    if not (view and separator and feature):
        raise InvalidInputError(f"the reference of {name!r} must be 'view:feature', not {reference!r}.")
    return view, feature


def _checked_entity(entity: Any) -> dict[str, Any]:
    if not isinstance(entity, Mapping) or not entity:
        raise InvalidInputError(
            "entity must be a mapping from join keys to values, such as {'driver_id': 1001}, not "
            f"{entity!r}."
        )
    return dict(entity)
