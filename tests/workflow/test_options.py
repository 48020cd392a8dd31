"""`FitOptions` and `PruneOptions`: invalid values are refused when the options are created."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from budgetprune import FitOptions, InvalidInputError, PruneOptions

INVALID = [
    (
        {"drop": "ab"},
        r"drop \(--drop\) must be a list of column names, not 'ab'; .* drop=\['ab'\] \(--drop ab\)",
    ),
    ({"drop": None}, "drop .* must be a list of column names, which are strings, not None"),
    ({"drop": [3]}, r"drop .* which are strings, not \[3\]"),
    ({"max_columns": 0}, r"max_columns \(--max-columns\) must be an integer of at least 1, not 0"),
    ({"max_columns": 2.5}, "must be an integer of at least 1, not 2.5"),
    ({"counting": "all"}, "counting='all' is unknown; use 'full', 'decided'"),
    ({"slack": "auto"}, r"slack \(--slack\) must be at least 0 and below 0.5, not 'auto'"),
    ({"slack": 0.5}, "slack .* must be at least 0 and below 0.5"),
    ({"slack": np.nan}, "slack .* must be at least 0 and below 0.5"),
    ({"tolerance": -1}, r"tolerance \(--tolerance\) must be a finite number of at least 0, not -1"),
    ({"tolerance": "1"}, "tolerance .* not '1'"),
    ({"random_state": -1}, r"random_state \(--seed\) must be an integer from 0 to"),
    ({"random_state": "x"}, "random_state .* not 'x'"),
    ({"n_jobs": 0}, r"n_jobs \(--jobs\) must be None, or an integer of at least 1 .*, not 0"),
    ({"n_jobs": 1.5}, "n_jobs .* not 1.5"),
]
INVALID_IN_FIT = [
    ({"task": "x"}, "task='x' is unknown; use 'classification', 'regression'"),
    ({"categorical": "ab"}, r"categorical \(--categorical\) must be a list of column names, not 'ab'"),
    ({"max_cost": "3"}, r"max_cost \(--max-cost\) must be a number, not '3'"),
    ({"time_limit": -1}, r"time_limit \(--time-limit\) must be at least 0, not -1"),
    ({"n_trees": 0}, r"n_trees \(--trees\) must be an integer of at least 1, not 0"),
    ({"n_trees": 5.0}, "n_trees .* not 5.0"),
    (
        {"max_features": 2.0},
        r"max_features \(--max-features\) must be a share above 0 and at most 1, not 2.0",
    ),
    ({"max_features": "sqrt"}, "max_features .* not 'sqrt'"),
    (
        {"validation_fraction": 1.5},
        r"validation_fraction \(--validation\) must be a share .* below 1, not 1.5",
    ),
    ({"validation_fraction": 30}, "validation_fraction .* not 30"),
    ({"validation_fraction": 1.0}, "validation_fraction .* not 1.0"),
]


@pytest.mark.parametrize(("given", "message"), INVALID + INVALID_IN_FIT)
def test_invalid_options_of_fit(given, message):
    with pytest.raises(InvalidInputError, match=message):
        FitOptions(**given)


@pytest.mark.parametrize(
    ("given", "message"), [*INVALID, ({"trust": "no"}, "trust .--trust. must be True or")]
)
def test_invalid_options_of_prune(given, message):
    with pytest.raises(InvalidInputError, match=message):
        PruneOptions(**given)


def test_valid_options():
    options = FitOptions(
        drop=np.array(["a", "b"]),
        categorical=pd.Series(["c"], index=["x"]),
        max_columns=np.int64(3),
        slack=np.float32(0.25),
        tolerance=0,
        random_state=np.random.RandomState(0),
        n_jobs=-1,
        max_cost=np.float64(3),
        n_trees=np.int32(1),
        max_features=1,
        validation_fraction=0.01,
    )
    assert options.drop == ("a", "b")
    assert options.categorical == ("c",)
