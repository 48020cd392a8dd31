"""Subsets of features of two sizes, compared at the same costs."""

from __future__ import annotations

from budgetprune_experiments import Options, find_experiment
from budgetprune_experiments.methods import OURS_PAPER, UNPRUNED

from .test_grouped import curve


def test_both_sizes_are_compared_at_the_same_costs(tmp_path):
    experiment = find_experiment("subset-size")
    options = Options(quick=True, out=tmp_path, repeats=2)
    keys = [part.key for part in experiment.parts(options)]
    assert f"seed 1, {OURS_PAPER}, √K" in keys
    assert f"seed 1, {OURS_PAPER}, 0.8 K" in keys
    assert experiment.settings(options)["0.8 K"]["forest"]["max_features"] == 0.8
    assert experiment.settings(options)["√K"]["forest"]["max_features"] == "sqrt"
    records = [
        *curve(UNPRUNED, [(100.0, 0.95)], subset="√K"),
        *curve(UNPRUNED, [(80.0, 0.94)], subset="0.8 K"),
        *curve("CCP", [(1.0, 0.01), (100.0, 1.0)], subset="√K"),
        *curve("CCP", [(1.0, 0.01), (40.0, 0.4)], subset="0.8 K"),
    ]
    together, *each = experiment.tables(records, options)
    assert together.columns[2:] == ["at 10", "at 20", "at 30", "at 50", "at 75"]
    assert together.rows == [
        ["CCP", "√K", "0.100", "0.200", "0.300", "0.500", "0.750"],
        ["CCP", "0.8 K", "0.100", "0.200", "0.300", "0.400", "0.400"],
    ]
    assert "√K: accuracy 0.950 at cost 100.0; 0.8 K: accuracy 0.940 at cost 80.0" in together.note
    assert [table.title.split(":")[0] for table in each] == [
        "Subsets of √K features",
        "Subsets of 0.8 K features",
    ]
