"""Choice of the slack by cross-fitting, at equal decided cost."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from budgetprune import InvalidInputError
from budgetprune.estimators import BudgetPruneClassifier
from budgetprune.selection import decided_fold

from .decided import N_FEATURES, TRAIN, VAL, check_budget, fitted, forest


@pytest.mark.parametrize("refit", [None, "auto"])
def test_slack_is_chosen_at_equal_decided_cost(refit):
    model = fitted(budget=3.0, slack="auto", refit=refit)
    check_budget(model, VAL[0], 3.0)
    assert model.slack_ == model.choices_.slack
    repair = (model.choices_.refit, str(model.choices_.ridge))
    trials = [trial for trial in model.choices_.trials if (trial.refit, str(trial.ridge)) == repair]
    tried = {trial.slack: trial.score for trial in trials}
    assert {0.0, 0.1} <= set(tried)
    assert model.slack_ in tried
    best = max(tried.values())
    # The best; of equals, the least slack.
    assert tried[model.slack_] == pytest.approx(best)
    assert all(score < tried[model.slack_] for slack, score in tried.items() if slack < model.slack_)
    assert {trial.cost for trial in model.choices_.trials} == {3.0}
    if model.slack_ > 0:
        exact = clone(model).set_params(slack=0.0).fit(*TRAIN, X_val=VAL[0], y_val=VAL[1])
        assert model.forest_.n_splits >= exact.forest_.n_splits


def test_scores_that_choose_a_slack_are_cross_fitted(monkeypatch):
    """Each half of V scores models that were refitted without it, and no score comes from other rows."""
    scored = []
    original = decided_fold.DecidedFold._score

    def score(self, pruned, pruning, early=None):
        scored.append((self, early))
        return original(self, pruned, pruning, early)

    monkeypatch.setattr(decided_fold.DecidedFold, "_score", score)
    fitted(budget=3.0, slack="auto", refit="squared", ridge=8.0)
    folds = {fold: None for fold, _ in scored}
    one, other = ({tuple(row) for row in fold.scoring.X} for fold in folds)
    assert not one & other
    assert one | other == {tuple(row) for row in VAL[0]}
    for fold in folds:
        fitting = {tuple(row) for row in fold._fitting.X}
        assert not fitting & {tuple(row) for row in fold.scoring.X}
        assert fold._refit_sample.n_rows == len(TRAIN[0]) + len(fitting)
    with_slack = [(fold, early) for fold, early in scored if early is not None]
    assert with_slack
    assert all(len(early.labels) == len(fold.scoring) for fold, early in with_slack)


@pytest.mark.filterwarnings("ignore:a budget of 3 buys nothing")
def test_noise_teaches_nothing_and_breaks_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, N_FEATURES)), rng.integers(0, 2, 600)
    model = BudgetPruneClassifier(
        forest(),
        budget=3.0,
        counting="decided",
        slack="auto",
        refit="squared",
        error="in-bag",
        random_state=0,
    ).fit(X, y)
    assert model.cost_ <= 3.0 + 1e-9
    assert 0.3 < model.tradeoff_.score.min() <= model.tradeoff_.score.max() < 0.7


def test_slack_and_probabilities_do_not_go_together():
    with pytest.raises(InvalidInputError, match="stop before probabilities are known"):
        fitted(budget=3.0, slack="auto", scoring=lambda model, X, y: -np.mean(model.predict_proba(X)[:, 0]))
    model = fitted(budget=3.0, scoring="roc_auc")
    assert model.slack_ == 0.0
    check_budget(model, VAL[0], 3.0)
