"""Comparisons: what all methods share, and what is done before any clock runs."""

from __future__ import annotations

from pathlib import Path

from budgetprune.experiments._contest import Method
from budgetprune.experiments._experiment import Options
from budgetprune.experiments._split import Split
from budgetprune.experiments.figure1a import Figure1a


def test_kernels_are_compiled_on_tiny_data_before_any_method_tunes(monkeypatch):
    seen = []

    def curve(contest):
        seen.append(len(contest.split.train))
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
