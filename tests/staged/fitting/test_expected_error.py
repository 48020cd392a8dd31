"""Trees of the expected error: they use what their stage has bought, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from budgetprune import BudgetPredictor, BudgetRegressor
from budgetprune.staged.training.trainer import StageTrainer


def test_expected_errors_use_only_what_has_been_bought(monkeypatch, tmp_path):
    """A stage buys the sources that its trees test. Those of the expected error must not test others."""
    cross_fit = StageTrainer.cross_fit

    def without_splits(self, plan, sample, folds):
        """Let no tree of a later stage test anything, as if no feature had helped in the end."""
        found = cross_fit(self, plan, sample, folds)
        first, *others = found.forests
        leaves = (each.prune(np.zeros(each.n_nodes, dtype=np.bool_)) for each in others)
        return replace(found, forests=(first, *leaves))

    monkeypatch.setattr(StageTrainer, "cross_fit", without_splits)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] + X[:, 1] * (1 + rng.normal(size=300))
    model = BudgetRegressor([0, 2, 3], cv=2, random_state=0).fit(X, y)
    stages = [stage for chain in model.model_.chains for stage in chain.stages]
    assert len(stages) > 1
    for stage in stages:
        assert stage.sources == ()
        assert set(stage.spread.feature[stage.spread.is_split].tolist()) <= {0}
    model.predictor().save(tmp_path / "m")
    assert np.array_equal(BudgetPredictor.load(tmp_path / "m").predict(X), model.predictor().predict(X))
