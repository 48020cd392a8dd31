"""Ranking: queries in `fit_table` and `prune_model`, and models of libraries that were trained to rank."""

from __future__ import annotations

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.frozen import FrozenEstimator

from budgetprune import (
    BudgetPruneRegressor,
    BudgetWarning,
    FitOptions,
    Forest,
    InvalidInputError,
    PruneOptions,
    cli,
    fit_table,
    prune_model,
)
from budgetprune.forest import is_ranking_model
from budgetprune.ranking import ndcg_at, ndcg_scorer

NAMES = ["match", "links", "length", "noise"]
COSTS = {"match": 4.0, "links": 1.0, "length": 1.0, "noise": 1.0}


def documents(seed, n_queries=60, n_each=10):
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(n_queries), n_each)
    quality = rng.normal(size=query.size)
    X = quality[:, np.newaxis] + rng.normal(size=(query.size, 4)) * [0.3, 1.0, 1.5, 9.0]
    frame = pd.DataFrame(X.astype(np.float32).astype(np.float64), columns=NAMES)
    grade = np.digitize(quality, [0.0, 1.0]) + 0
    # Rows of a query are not neighbours.
    frame = frame.assign(query=[f"q{k:03d}" for k in query], grade=grade).sample(frac=1, random_state=seed)
    return frame.reset_index(drop=True)


TRAIN, ROWS, TEST = documents(0), documents(1), documents(2)
SMALL = {"n_estimators": 8, "random_state": 0}


def lightgbm_ranker(objective):
    frame = TRAIN.sort_values("query")
    sizes = frame.groupby("query").size().to_numpy()
    model = lightgbm.LGBMRanker(objective=objective, num_leaves=6, verbose=-1, **SMALL)
    return model.fit(frame[NAMES], frame["grade"], group=sizes)


def xgboost_ranker(objective):
    frame = TRAIN.sort_values("query")
    relevance = frame["grade"] > 0 if objective == "rank:map" else frame["grade"]
    model = xgboost.XGBRanker(objective=objective, max_depth=3, n_jobs=1, **SMALL)
    return model.fit(frame[NAMES], relevance, qid=frame["query"].str[1:].astype(int))


RANKERS = {
    "lambdarank": lambda: lightgbm_ranker("lambdarank"),
    "rank_xendcg": lambda: lightgbm_ranker("rank_xendcg"),
    "rank:pairwise": lambda: xgboost_ranker("rank:pairwise"),
    "rank:ndcg": lambda: xgboost_ranker("rank:ndcg"),
    "rank:map": lambda: xgboost_ranker("rank:map"),
}


@pytest.fixture(scope="module", params=RANKERS)
def ranker(request):
    return RANKERS[request.param]()


def booster_of(model):
    return model.booster_ if hasattr(model, "booster_") else model.get_booster()


def save(model, folder):
    booster = booster_of(model)
    file = folder / ("model.txt" if isinstance(booster, lightgbm.Booster) else "model.json")
    booster.save_model(file)
    return file


def test_objectives_are_recognised(ranker):
    assert is_ranking_model(ranker)
    assert is_ranking_model(booster_of(ranker))
    plain = lightgbm.LGBMRegressor(verbose=-1, **SMALL).fit(TRAIN[NAMES], TRAIN["grade"])
    other = xgboost.XGBRegressor(max_depth=2, **SMALL).fit(TRAIN[NAMES], TRAIN["grade"])
    assert not is_ranking_model(plain)
    assert not is_ranking_model(other)


def test_a_ranking_model_is_chosen_and_compared_by_ndcg(ranker, tmp_path):
    """The object and its file give the same; figures are those of the library's own predictions."""
    options = PruneOptions(qid="query", trust=True)
    budget = 4.5
    pruned = prune_model(ranker, ROWS, "grade", COSTS, budget=budget, test=TEST, options=options)
    compared = pruned.about.compared
    assert pruned.about.score_name == "NDCG@10"
    own = ranker.predict(TEST[NAMES])
    assert compared.whole.score == pytest.approx(ndcg_at(TEST["grade"], own, TEST["query"]))
    ours = pruned.predictor.predict(TEST[NAMES])
    assert compared.chosen.score == pytest.approx(ndcg_at(TEST["grade"], ours, TEST["query"]))
    assert compared.chosen.cost <= 1.15 * budget
    assert compared.chosen.cost < compared.whole.cost
    assert compared.chosen.score > 0.55
    assert "query" not in pruned.predictor.feature_names
    from_file = prune_model(save(ranker, tmp_path), ROWS, "grade", COSTS, budget=budget, options=options)
    assert np.array_equal(from_file.predictor.predict(TEST[NAMES]), ours)


def test_the_point_has_the_best_cross_fitted_ndcg(ranker):
    frozen = FrozenEstimator(ranker)
    model = BudgetPruneRegressor(frozen, costs=COSTS, random_state=0)
    model.fit(ROWS[NAMES], ROWS["grade"], qid=ROWS["query"])
    curve = model.tradeoff_
    assert curve.score[curve.best] == curve.score.max()
    assert 0.4 < curve.score.max() <= 1.0
    assert model.lambda_ == curve.lam[curve.best]
    expected = ndcg_scorer()(model, TEST[NAMES], TEST["grade"], qid=TEST["query"])
    assert model.score(TEST[NAMES], TEST["grade"], qid=TEST["query"]) == expected


def test_without_queries(ranker):
    model = BudgetPruneRegressor(FrozenEstimator(ranker), costs=COSTS, budget=4.5, random_state=0)
    with pytest.warns(BudgetWarning, match="was trained to rank.* pass qid to fit"):
        model.fit(ROWS[NAMES], ROWS["grade"])


@pytest.mark.parametrize("kind", ["staged", "random-forest", "lightgbm"])
def test_fit_table(kind):
    pruned = {} if kind == "staged" else {"n_trees": 8}
    options = FitOptions(qid="query", **pruned, **({"time_limit": 1} if kind == "staged" else {}))
    table = pd.concat([TRAIN, ROWS.assign(query=ROWS["query"] + "b")], ignore_index=True)
    model = fit_table(table, "grade", COSTS, budget=3.0, model=kind, test=TEST, options=options)
    about = model.about
    assert (about.task, about.score_name) == ("regression", "NDCG@10")
    found = model.predictor.simulate(TEST[NAMES]).label
    score = ndcg_at(TEST["grade"], found, TEST["query"])
    assert about.compared.chosen.score == pytest.approx(score, abs=1e-6)
    assert score > 0.6
    assert model.predictor.feature_names == tuple(NAMES)


def test_queries_of_svmlight_files(tmp_path):
    lines = [f"{row.grade} qid:{row.query[1:]} 1:{row.match} 2:{row.links}\n" for row in TRAIN.itertuples()]
    (tmp_path / "t.svm").write_text("".join(lines))
    options = FitOptions(qid="qid", n_trees=4)
    model = fit_table(tmp_path / "t.svm", None, model="random-forest", options=options)
    assert model.about.score_name == "NDCG@10"
    assert len(model.predictor.feature_names) == 2


def test_refused(ranker):
    gaps = ROWS.assign(query=ROWS["query"].where(ROWS.index != 4))
    with pytest.raises(InvalidInputError, match=r"qid \(--qid\) 'query' is missing in 1 of 600 rows: row 5 "):
        prune_model(ranker, gaps, "grade", options=PruneOptions(qid="query"))
    with pytest.raises(InvalidInputError, match=r"qid \(--qid\) 'queries' is not a column of the table"):
        prune_model(ranker, ROWS, "grade", options=PruneOptions(qid="queries"))
    with pytest.raises(InvalidInputError, match=r"qid \(--qid\) 'grade' is the target"):
        fit_table(ROWS, "grade", options=FitOptions(qid="grade"))
    with pytest.raises(InvalidInputError, match=r"qid \(--qid\) 'query' is not a column of the test table"):
        fit_table(ROWS, "grade", test=TEST.drop(columns="query"), options=FitOptions(qid="query"))
    assert Forest.from_model(ranker).n_trees == 8


def test_reports_say_that_they_measure_something_else(tmp_path, capfd):
    pytest.importorskip("jinja2")
    options = FitOptions(qid="query", n_trees=4)
    model = fit_table(TRAIN, "grade", COSTS, budget=4.5, model="random-forest", options=options)
    model.save(tmp_path / "m")
    TEST.to_csv(tmp_path / "test.csv", index=False)
    with pytest.raises(SystemExit) as end:
        cli.main(
            ["report", str(tmp_path / "m"), "--data", str(tmp_path / "test.csv"), "--json", "--rows", "90"]
        )
    assert end.value.code == 0
    assert "was chosen by NDCG. The report measures R²" in capfd.readouterr().err
