"""The names of `budgetprune.datasets`."""

import budgetprune.datasets

NAMES = {
    "TEST",
    "TRAIN",
    "VALIDATION",
    "YAHOO_PRICES",
    "Dataset",
    "DatasetError",
    "load_covertype",
    "load_heart",
    "load_miniboone",
    "load_miniboone_tiny",
    "load_mq2008",
    "load_thyroid",
    "load_yahoo_costs",
    "load_yahoo_ltr",
}


def test_names():
    assert set(budgetprune.datasets.__all__) == NAMES
    assert all(hasattr(budgetprune.datasets, name) for name in NAMES)
