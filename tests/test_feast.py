"""The adapter of feature stores, with a store made of dicts, and a local store of Feast if there is one."""

from __future__ import annotations

import asyncio
import warnings
from datetime import UTC, datetime
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from budgetprune import AcquisitionError, BudgetPredictor, FeatureCosts, Forest, InvalidInputError
from budgetprune.feast import OnlineFeatures, view_costs

REFERENCES = {"trips": "stats:trips", "rating": "stats:rating", "claims": "insurance:claims"}
KEY = "driver_id"


class DictStore:
    """Store with the method of `OnlineStore`, which records its requests."""

    def __init__(self, rows):
        self.rows = rows
        self.requests = []

    def get_online_features(self, features, entity_rows, full_feature_names):
        """Return values as Feast does: None for an unknown entity."""
        assert full_feature_names
        self.requests.append(sorted(features))
        (entity,) = entity_rows
        row = self.rows.get(entity[KEY], {})
        answer = {KEY: [entity[KEY]]}
        answer |= {name.replace(":", "__"): [row.get(name.partition(":")[2])] for name in features}
        return SimpleNamespace(to_dict=lambda: answer)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    n = 120
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 70, n).astype(float),
            "trips": rng.poisson(8, n).astype(float),
            "rating": rng.normal(4, 0.5, n).astype(np.float32).astype(float),
            "claims": rng.poisson(1, n).astype(float),
        }
    )
    return frame, frame["trips"] + 3 * frame["rating"] - 4 * frame["claims"] > 16


@pytest.fixture(scope="module")
def predictor(rows):
    costs = view_costs({"stats": 2, "insurance": 5, "unused": 1}, REFERENCES)
    free = FeatureCosts.from_sources({"stats": 2, "insurance": 5}, {"age": [], **needs(costs)})
    forest = Forest.from_model(RandomForestClassifier(8, max_depth=5, random_state=0).fit(*rows))
    return BudgetPredictor(forest, free)


def needs(costs):
    """Sources of each feature that has a reference."""
    table = costs.resolve(3, tuple(REFERENCES))
    assert dict(zip(table.source_names, table.price, strict=True)) == {"stats": 2, "insurance": 5}
    return {
        name: [table.source_names[s] for s in table.needs[table.needs_start[k] : table.needs_start[k + 1]]]
        for k, name in enumerate(REFERENCES)
    }


@pytest.fixture(params=["dict", "feast"], scope="module")
def store(request, rows, tmp_path_factory):
    frame = rows[0]
    if request.param == "dict":
        return DictStore(dict(enumerate(frame.to_dict("records"))))
    pytest.importorskip("feast")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return local_store(frame, tmp_path_factory.mktemp("repo"))


def local_store(frame, folder):
    """Make a store of Feast whose registry and values are files in a folder."""
    from feast import Entity, FeatureStore, FeatureView, Field, FileSource, RepoConfig, ValueType
    from feast.types import Float64

    now = datetime.now(UTC)
    table = frame.assign(event_timestamp=now, **{KEY: np.arange(len(frame))})
    table.to_parquet(folder / "rows.parquet")
    config = RepoConfig(
        project="drivers",
        provider="local",
        registry=str(folder / "registry.db"),
        online_store={"type": "sqlite", "path": str(folder / "online.db")},
        entity_key_serialization_version=3,
    )
    opened = FeatureStore(config=config)
    driver = Entity(name="driver", join_keys=[KEY], value_type=ValueType.INT64)
    source = FileSource(path=str(folder / "rows.parquet"), timestamp_field="event_timestamp")
    views = [
        FeatureView(
            name=view,
            entities=[driver],
            schema=[Field(name=name, dtype=Float64) for name in names],
            source=source,
            online=True,
        )
        for view, names in (("stats", ["trips", "rating"]), ("insurance", ["claims"]))
    ]
    opened.apply([driver, *views])
    for view in views:
        names = [field.name for field in view.features]
        opened.write_to_online_store(view.name, table[[KEY, "event_timestamp", *names]])
    return opened


@pytest.mark.parametrize("is_async", [False, True])
def test_same_decisions_as_from_the_rows(predictor, store, rows, is_async):
    frame, _ = rows
    features = OnlineFeatures(store, predictor, REFERENCES, given=["age"])
    for k in range(0, 40, 4):
        entity, known = {KEY: k}, {"age": frame["age"][k]}
        expected = predictor.decide(frame.loc[k], known=known)
        if is_async:
            found = asyncio.run(predictor.adecide(features.afetch_for(entity), known=known, concurrency=1))
        else:
            found = predictor.decide(features.fetch_for(entity), known=known)
        assert (found.label, found.cost, found.acquired) == (expected.label, expected.cost, expected.acquired)


def test_one_request_for_each_source_that_is_bought(predictor, rows):
    frame, _ = rows
    for k in range(20):
        store = DictStore({k: frame.loc[k].to_dict()})
        features = OnlineFeatures(store, predictor, REFERENCES, given=["age"])
        found = predictor.decide(features.fetch_for({KEY: k}), known={"age": frame["age"][k]})
        bought = {"stats": ["stats:rating", "stats:trips"], "insurance": ["insurance:claims"]}
        assert store.requests == [bought[source] for source in found.acquired]
    assert features.features_of("stats") == ("trips", "rating")


def test_features_wait_for_all_of_their_sources(rows):
    """Blood and laboratory: a draw alone gives no value, and the last source of a feature reads it."""
    frame, y = rows
    forest = Forest.from_model(RandomForestClassifier(4, random_state=0).fit(frame[["trips", "claims"]], y))
    costs = FeatureCosts.from_sources(
        {"draw": 3, "lab": 1, "claims": 1}, {"trips": ["draw", "lab"], "claims": ["claims"]}
    )
    own = BudgetPredictor(forest, costs)
    store = DictStore({0: frame.loc[0].to_dict()})
    features = OnlineFeatures(store, own, {"trips": "stats:trips", "claims": "insurance:claims"})
    entity = {KEY: 0}
    fetch = features.fetch_for(entity)
    assert fetch("draw") is None
    assert store.requests == []
    assert fetch("lab") == {"trips": frame["trips"][0]}
    assert features.fetch("draw", entity) is None
    both = frame.loc[0, ["trips", "claims"]]
    for found in (
        own.decide(features.fetch_for(entity)),
        asyncio.run(own.adecide(features.afetch_for(entity), concurrency=3)),
    ):
        assert found.label == own.decide(both).label


def test_names_may_be_references(rows):
    frame, y = rows
    names = {"trips": "stats:trips", "rating": "stats__rating", "claims": "insurance:claims"}
    X = frame[list(names)].rename(columns=names)
    own = BudgetPredictor(Forest.from_model(RandomForestClassifier(3, random_state=0).fit(X, y)))
    features = OnlineFeatures(DictStore({}), own)
    assert list(features.references.values()) == list(REFERENCES.values())


def test_failures_of_the_store(predictor):
    class Broken(DictStore):
        def get_online_features(self, features, entity_rows, full_feature_names):
            if self.rows:
                return SimpleNamespace(to_dict=lambda: {KEY: [1]})
            raise ConnectionError("no answer")

    for rows, words in (
        ({}, "no answer"),
        ({1: {}}, "the store's answer lacks '.*__.*'; it has 'driver_id'"),
    ):
        features = OnlineFeatures(Broken(rows), predictor, REFERENCES, given=["age"])
        with pytest.raises(AcquisitionError, match=words):
            predictor.decide(features.fetch_for({KEY: 1}), known={"age": 30.0})
        skipped = predictor.decide(features.fetch_for({KEY: 1}), known={"age": 30.0}, on_error="skip")
        assert skipped.reason == "unavailable"


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (({"a": 1},), {}, "store must have a method get_online_features, .* dict has none"),
        ((DictStore({}), REFERENCES), {}, "references lacks 'age'; write 'view:feature' for each, or list"),
        (
            (DictStore({}), {"trip": "stats:trips"}),
            {},
            "references has features that the model lacks: 'trip'",
        ),
        ((DictStore({}), REFERENCES), {"given": ["ages"]}, "given has features that the model lacks: 'ages'"),
        (
            (DictStore({}), REFERENCES),
            {"given": "age"},
            "given must be a list of names of features, not 'age'",
        ),
        ((DictStore({}), REFERENCES | {"age": "age"}), {}, "of 'age' must be 'view:feature', not 'age'"),
    ],
)
def test_arguments_that_are_refused(predictor, arguments, options, words):
    store, *further = arguments
    with pytest.raises(InvalidInputError, match=words):
        OnlineFeatures(store, predictor, *further, **options)


def test_entities_and_prices_that_are_refused(predictor):
    features = OnlineFeatures(DictStore({}), predictor, REFERENCES, given=["age"])
    for entity in (1001, {}):
        with pytest.raises(InvalidInputError, match="entity must be a mapping from join keys to values"):
            features.fetch_for(entity)
    with pytest.raises(InvalidInputError, match="no price for the feature views 'insurance'; add one"):
        view_costs({"stats": 1}, REFERENCES)
    for price in (-1, np.nan, "2,5"):  # neither is free
        with pytest.raises(InvalidInputError, match="are not for 'stats'"):
            view_costs({"stats": price, "insurance": 5}, REFERENCES)
