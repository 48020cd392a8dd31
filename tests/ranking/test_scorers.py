"""Scorers rank by what a model predicts, and scikit-learn passes them the query ids."""

import pickle

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRanker
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from budgetprune.errors import InvalidInputError, UnsupportedModelError
from budgetprune.ranking import ap_scorer, average_precision_at, ndcg_at, ndcg_scorer, predicted_relevance


@pytest.fixture(scope="module")
def search_log():
    """Documents whose relevance depends on the first feature, in queries whose rows are mixed up."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(240, 3))
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=240), [0.3, 1.2])
    return X, y, np.array([f"query {q}" for q in rng.integers(0, 24, 240)])


@pytest.mark.parametrize(
    ("scorer", "measure"), [(ap_scorer(3), average_precision_at), (ndcg_scorer(3), ndcg_at)]
)
def test_scorer_measures_the_ranking_by_expected_relevance(search_log, scorer, measure):
    X, y, qid = search_log
    graded = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, y)
    expected = graded.predict_proba(X)[:, 1] + 2 * graded.predict_proba(X)[:, 2]
    assert scorer(graded, X, y, qid=qid) == measure(y, expected, qid, 3)
    regressor = RandomForestRegressor(5, max_depth=2, random_state=0).fit(X, y)
    assert scorer(regressor, X, y, qid=qid) == measure(y, regressor.predict(X), qid, 3)
    weight = (qid < "query 2") + 1.0
    weighted = measure(y, regressor.predict(X), qid, 3, sample_weight=weight)
    assert (
        scorer(regressor, X, y, qid=qid, sample_weight=weight) == weighted != scorer(regressor, X, y, qid=qid)
    )


def test_options_of_scorers_arrive(search_log):
    X, y, qid = search_log
    model = RandomForestRegressor(5, max_depth=2, random_state=0).fit(X, y)
    score = model.predict(X)
    few = np.where(qid < "query 2", 0, y)
    expected = average_precision_at(few, score, qid, 2, relevant=2, empty=0.5)
    assert ap_scorer(2, relevant=2, empty=0.5)(model, X, few, qid=qid) == expected
    expected = ndcg_at(few, score, qid, 2, gain="linear", empty=1)
    assert ndcg_scorer(2, gain="linear", empty=1)(model, X, few, qid=qid) == expected


def test_predicted_relevance(search_log):
    X, y, qid = search_log
    graded = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, y + 3)
    np.testing.assert_allclose(
        predicted_relevance(graded, X), graded.predict_proba(X) @ [3, 4, 5], rtol=1e-12
    )
    binary = make_pipeline(StandardScaler(), clone(graded)).fit(X, y > 1)
    np.testing.assert_array_equal(predicted_relevance(binary, X), binary.predict_proba(X)[:, 1])
    single = clone(graded).fit(X, np.ones(240, int))
    assert np.ptp(predicted_relevance(single, X)) == 0
    order = np.argsort(qid)
    ranker = LGBMRanker(n_estimators=3, n_jobs=1, verbose=-1)
    ranker.fit(X[order], y[order], group=np.unique(qid, return_counts=True)[1])
    np.testing.assert_array_equal(predicted_relevance(ranker, X), ranker.predict(X))


class Oracle(BaseEstimator):
    """A classifier whose rows are its probabilities."""

    def __init__(self, classes=None):
        self.classes_ = classes

    def predict_proba(self, X):
        return X


def test_equal_rows_are_ties_wherever_they_are():
    # Matrix products round about one in ten of these differently in different rows.
    probability = np.random.default_rng(0).dirichlet(np.ones(10), size=200)
    for p in probability:
        score = predicted_relevance(Oracle(np.arange(10)), np.tile(p, (9, 1)))
        assert np.unique(score).size == 1


@pytest.mark.parametrize("as_column", [np.array, pd.Series])
def test_grid_search_passes_query_ids_on(search_log, as_column):
    X, y, qid = search_log
    grid = {"max_features": [1, 3], "max_depth": [1, 3]}
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            RandomForestRegressor(5, random_state=0), grid, scoring=ap_scorer(3), cv=GroupKFold(3)
        )
        search.fit(X, y, qid=as_column(qid), groups=qid)
        assert search.score(X, y, qid=qid) == ap_scorer(3)(search.best_estimator_, X, y, qid=qid)
    folds = [
        average_precision_at(
            y[test], clone(search.best_estimator_).fit(X[train], y[train]).predict(X[test]), qid[test], 3
        )
        for train, test in GroupKFold(3).split(X, y, qid)
    ]
    assert search.best_score_ == pytest.approx(np.mean(folds), rel=1e-12)


def test_several_scorers_names_and_weights_can_be_routed(search_log):
    X, y, qid = search_log
    weight = (qid < "query 2") + 1.0
    model = RandomForestRegressor(5, max_depth=2, random_state=0)
    with config_context(enable_metadata_routing=True):
        scoring = {
            "ap": ap_scorer(3),
            "ndcg": ndcg_scorer(3).set_score_request(qid="query", sample_weight="query_weight"),
        }
        results = cross_validate(
            model,
            X,
            y,
            scoring=scoring,
            cv=GroupKFold(2),
            return_estimator=True,
            return_indices=True,
            params={"qid": qid, "query": qid[::-1], "query_weight": weight[::-1], "groups": qid[::-1]},
        )
    for i, (fitted, test) in enumerate(zip(results["estimator"], results["indices"]["test"], strict=True)):
        score = fitted.predict(X[test])
        assert results["test_ap"][i] == average_precision_at(y[test], score, qid[test], 3)
        other = qid[::-1][test], weight[::-1][test]
        assert results["test_ndcg"][i] == ndcg_at(y[test], score, other[0], 3, sample_weight=other[1])


def test_weights_that_nobody_requested_are_an_error(search_log):
    X, y, qid = search_log
    with (
        config_context(enable_metadata_routing=True),
        pytest.raises(ValueError, match=r"sample_weight.*ap_scorer\(k=3"),
    ):
        cross_validate(
            LinearRegression().set_fit_request(sample_weight=False),
            X,
            y,
            scoring=ap_scorer(3),
            params={"qid": qid, "sample_weight": np.ones(240)},
        )


def test_scorers_can_be_stored_and_cloned(search_log):
    X, y, qid = search_log
    model = LinearRegression().fit(X, y)
    scorer = ndcg_scorer(4).set_score_request(qid="query")
    searcher = GridSearchCV(LinearRegression(), {}, scoring=scorer)
    for copy in (pickle.loads(pickle.dumps(scorer)), clone(searcher).scoring):
        assert repr(copy) == repr(scorer) == "ndcg_scorer(k=4, gain='exponential', empty='skip')"
        assert copy(model, X, y, qid=qid) == scorer(model, X, y, qid=qid)
        assert copy.get_metadata_routing().score.requests == {"qid": "query", "sample_weight": None}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ap_scorer(0), "k must be"),
        (lambda: ap_scorer(relevant=None), "relevant must be"),
        (lambda: ndcg_scorer(gain="square"), "gain='square'"),
        (lambda: ndcg_scorer(empty="none"), "empty must be"),
        (lambda: ap_scorer()(LinearRegression(), [[1]], [1]), "pass qid="),
        (lambda: ap_scorer().set_score_request(groups=True), "takes no groups; it can request qid"),
    ],
)
def test_bad_options_are_named_before_a_model_is_fitted(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()


@pytest.mark.parametrize(
    ("fitted", "message"),
    [
        (lambda X, y: LinearSVC().fit(X, y), "LinearSVC has no probabilities .*CalibratedClassifierCV"),
        (lambda X, y: DummyClassifier().fit(X, np.array(["a", "b", "c"])[y]), "classes .* must be numbers"),
        (lambda X, y: DummyClassifier().fit(X, np.c_[y, y]), "DummyClassifier must have one column"),
        (lambda X, y: Oracle(), r"Oracle must have one column .* \(240, 3\) and \(\)"),
    ],
)
def test_models_that_cannot_rank_are_refused(search_log, fitted, message):
    X, y, qid = search_log
    with pytest.raises(UnsupportedModelError, match=message):
        ap_scorer()(fitted(X, y), X, y, qid=qid)
