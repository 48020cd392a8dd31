"""Rankings: AP@5 as it is defined, scores that rank as probabilities do, and documents that stop early."""

from types import SimpleNamespace

import numpy as np
import pytest
from lightgbm import LGBMClassifier
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

from budgetprune import FeatureCosts, Forest, PruningProblem
from budgetprune.errors import InvalidInputError
from budgetprune.refit import refit
from budgetprune.selection import Choices, LabelledRows
from budgetprune_experiments import Options
from budgetprune_experiments.figure1c import Figure1c, best_leaf_size, made_documents
from budgetprune_experiments.forest_methods import PricedModel
from budgetprune_experiments.ranking_methods import RankingSettings, ScoredWithin, measure, score_forest


def plain_ap5(labels, scores):
    """Average precision at 5 of one query whose documents have different scores."""
    ranked = [label for _, label in sorted(zip(scores, labels, strict=True), reverse=True)]
    precisions = [sum(ranked[:rank]) / rank for rank in range(1, min(5, len(ranked)) + 1) if ranked[rank - 1]]
    return sum(precisions) / min(5, sum(ranked))


def test_ap5_is_the_mean_over_queries_that_have_relevant_documents():
    random = np.random.default_rng(0)
    qid = random.integers(0, 12, 90)
    y = random.integers(0, 2, 90) * (qid > 1)
    score = random.permutation(90) / 90.0
    model = SimpleNamespace(predict_proba=lambda X: np.column_stack([1 - score, score]))
    rows = LabelledRows(np.zeros((90, 1)), y, qid=qid)
    expected = [plain_ap5(y[qid == q], score[qid == q]) for q in range(2, 12) if y[qid == q].any()]
    assert measure(model, rows) == pytest.approx(np.mean(expected))
    assert measure(SimpleNamespace(predict=lambda X: 5 * score - 7), rows) == pytest.approx(np.mean(expected))


# --- Scores -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rows():
    data = made_documents(3)
    return LabelledRows(data.X, data.y, qid=data.qid)


def forests(rows):
    grown = Forest.from_model(RandomForestClassifier(12, max_depth=5, random_state=0).fit(rows.X, rows.y))
    boosted = Forest.from_model(LGBMClassifier(n_estimators=8, num_leaves=7, verbose=-1).fit(rows.X, rows.y))
    soft = refit(grown, rows.X, rows.y, kind="softmax", ridge=4.0).forest
    squared = refit(grown, rows.X, rows.y, kind="squared", ridge=4.0).forest
    return {"averaged": grown, "boosted": boosted, "softmax": soft, "squared": squared}


@pytest.fixture(scope="module")
def zoo(rows):
    return forests(rows)


@pytest.mark.parametrize("kind", ["averaged", "boosted", "softmax", "squared"])
def test_scores_rank_as_probabilities(zoo, rows, kind):
    forest = zoo[kind]
    score, probability = score_forest(forest).predict(rows.X), forest.predict_proba(rows.X)[:, 1]
    if kind in ("averaged", "squared"):
        assert score == pytest.approx(probability)
    else:
        assert 1 / (1 + np.exp(-score)) == pytest.approx(probability)


@pytest.mark.parametrize("kind", ["averaged", "boosted", "softmax"])
def test_documents_stop_when_their_score_is_known(zoo, rows, kind):
    forest = zoo[kind]
    prices = FeatureCosts(np.arange(1.0, 9.0)).resolve(8, None)
    plain = score_forest(forest).predict(rows.X)
    full = PricedModel(forest, prices).acquisition_cost(rows.X)
    certain = ScoredWithin(forest, prices, 0.0)
    assert certain.predict(rows.X) == pytest.approx(plain)
    assert np.all(certain.acquisition_cost(rows.X) <= full + 1e-9)
    costs = [certain.acquisition_cost(rows.X).mean()]
    for tolerance in (0.3, 0.9):
        model = ScoredWithin(forest, prices, tolerance)
        assert np.abs(model.predict(rows.X) - plain).max() <= tolerance + 1e-9
        costs.append(model.acquisition_cost(rows.X).mean())
    assert costs[0] > costs[1] > costs[2]


def test_more_than_two_classes_are_refused():
    forest = Forest.from_model(RandomForestClassifier(2).fit(*load_iris(return_X_y=True)))
    with pytest.raises(InvalidInputError, match="a classifier with two classes"):
        score_forest(forest)


# --- The task --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def task():
    return Figure1c()._task(0, Options(quick=True))


def test_each_half_of_v_judges_what_the_other_has_made(task, monkeypatch):
    val, made, judged = task.split.val, [], []
    forest = task.base.fit(task.split.train.X, task.split.train.y).forest_
    settings = RankingSettings(task, forest, Choices("in-bag", "misclassification", None, np.nan, 0.0), 40.0)

    def make(self, rows):
        made.append(set(rows.qid.tolist()))
        return forest

    def on(model, rows):
        judged.append(set(rows.qid.tolist()))
        return 1.0, 0.5

    monkeypatch.setattr(RankingSettings, "make", make)
    monkeypatch.setattr(task, "on", on)
    n_points = len(list(settings.points("")))
    assert len(made) == 2
    assert judged == made[::-1] * n_points
    assert made[0].isdisjoint(made[1])
    assert made[0] | made[1] == set(val.qid.tolist())


def test_settings_prune_within_their_budget_and_refit(task):
    train, val = task.split.train, task.split.val
    forest = task.base.fit(train.X, train.y).forest_
    problem = PruningProblem(forest, val.X, costs=task.costs)
    budget = 0.6 * problem.cost_of(problem.unpruned)
    made = {
        kind: RankingSettings(task, forest, Choices("held-out", "brier", kind, 16.0, 0.0), budget).make(val)
        for kind in (None, "softmax")
    }
    assert made[None].link == "identity"
    assert made["softmax"].link == "softmax"
    for pruned in made.values():
        assert 0 < pruned.n_splits < forest.n_splits
        cost = PricedModel(pruned, problem.costs).acquisition_cost(val.X).mean()
        assert 0 < cost <= budget * (1 + 1e-9)


def test_final_models_are_made_of_all_of_v(task):
    forest = task.base.fit(task.split.train.X, task.split.train.y).forest_
    settings = RankingSettings(
        task, forest, Choices("in-bag", "misclassification", "squared", 16.0, 0.0), 40.0
    )
    points = list(settings.points("name, "))
    assert points[0].setting.startswith("name, budget 40, tolerance 0 sd")
    assert points[-1].cost < points[0].cost
    assert all(0 <= point.score <= 1 for point in points)
    plain = score_forest(settings.make(task.split.val)).predict(task.split.test.X)
    assert points[0].model().predict(task.split.test.X) == pytest.approx(plain)


def test_leaves_are_as_large_as_v_likes_them(task, monkeypatch):
    def likes_twenty(model, rows):
        assert rows is task.split.val
        return -abs(model.min_samples_leaf - 20)

    monkeypatch.setattr(task, "measure", likes_twenty)
    assert best_leaf_size(task) == 20


def test_trees_are_grown_for_their_cost():
    """Two features tell the same; the forest splits on the cheap one."""
    random = np.random.default_rng(0)
    X = np.repeat(random.normal(size=(300, 1)), 2, axis=1).astype(np.float32)
    base = Figure1c().forest(Options(quick=True)).set_params(costs=[50.0, 1.0], max_features=None)
    forest = base.fit(X, (X[:, 0] > 0).astype(int)).forest_
    assert set(forest.feature[forest.is_split].tolist()) == {1}
