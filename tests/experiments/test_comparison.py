"""Comparisons: what all methods share, and what is done before any clock runs."""

from __future__ import annotations

from pathlib import Path

from budgetprune.plotting.plots import new_figure
from budgetprune_experiments.experiment import Options
from budgetprune_experiments.figure1a import Figure1a
from budgetprune_experiments.methods import UNPRUNED
from budgetprune_experiments.split import Split
from budgetprune_experiments.task import Method


def test_panels_that_share_an_axis_hide_no_method():
    records = [
        {"method": name, "seed": 0, "test_cost": cost, "test_score": score, "seconds_tuning": 1.0}
        for name, best in (("cost-weighted L1", 0.99), ("CEGB, lazy", 0.95), (UNPRUNED, 0.94))
        for cost, score in ((1.0, 0.7), (5.0, 0.9), (9.0, best))
    ]
    figure = new_figure((8, 4))
    Figure1a().draw(records, Options(out=Path()), figure)
    for axes in figure.axes:
        low, high = axes.get_ylim()
        assert low < 1 < 5 < high


def test_kernels_are_compiled_on_tiny_data_before_any_method_tunes(monkeypatch):
    seen = []

    def curve(task):
        seen.append(len(task.split.train))
        yield from ()

    class Small(Figure1a):
        name = "small"
        methods = {name: Method(name, curve) for name in ("one", "other")}  # noqa: RUF012
        method_names = tuple(methods)

    experiment = Small()
    quick = Options(quick=True, out=Path())
    tiny, other = experiment.split(0, quick), experiment.split(1, quick)
    full = Split(0, other.train_and_val, other.val, other.test)
    monkeypatch.setattr(Small, "split", lambda self, seed, options: tiny if options.quick else full)
    for part in experiment.parts(Options(repeats=2, out=Path())):
        part.run()
    n_tiny, n_full = len(tiny.train), len(full.train)
    assert n_tiny != n_full
    assert seen == [n_tiny] * 2 + [n_full] * 4
