"""Figure 1c: data sets and prices that are at hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from budgetprune.datasets import DatasetError
from budgetprune_experiments import Options, figure1c
from budgetprune_experiments.figure1c import Figure1c, made_documents


def test_yahoo_goes_first_and_its_prices_are_its_own(tmp_path, monkeypatch):
    yahoo = replace(made_documents(1), name="Yahoo! LTR", costs=figure1c.FeatureCosts(np.arange(8.0)))
    monkeypatch.delenv("BUDGETPRUNE_DATA", raising=False)
    monkeypatch.setattr(figure1c, "load_yahoo_ltr", lambda folder: yahoo)
    monkeypatch.setattr(figure1c, "load_mq2008", lambda folder: replace(made_documents(2), name="MQ2008"))
    monkeypatch.setattr(figure1c, "best_leaf_size", lambda task: 7)
    experiment = Figure1c()
    for folder, name in ((tmp_path / "without", "MQ2008"), (tmp_path / "with", "Yahoo! LTR")):
        if name != "MQ2008":
            (folder / "yahoo_ltr").mkdir(parents=True)
        assert figure1c.load(folder).name == name
        options = Options(data_dir=folder)
        task = experiment._task(0, options)
        assert task.base.costs is task.costs
        assert task.base.min_samples_leaf == (7 if name == "MQ2008" else 1)
        prices = task.costs.resolve(8, None).price
        if name == "MQ2008":
            assert sorted(prices) == [1, 5, 20, 50, 50, 100, 150, 200], "no list is at hand"
            assert "MQ2008" in experiment.substitute(options)
            assert "not at hand" in experiment.substitute(options)
        else:
            assert prices.tolist() == list(range(8))
            assert experiment.substitute(options) is None


def test_prices_that_are_at_hand_are_named(monkeypatch):
    monkeypatch.setattr(figure1c, "load_yahoo_costs", lambda folder: np.array([1.0, 7.0]))
    assert figure1c._prices(None)[0].tolist() == [1.0, 7.0]

    def missing(folder):
        raise DatasetError("not here")

    monkeypatch.setattr(figure1c, "load_yahoo_costs", missing)
    assert "equally often" in figure1c._prices(None)[1]
