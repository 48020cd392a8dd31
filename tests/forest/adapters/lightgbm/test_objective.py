"""Objectives of LightGBM: links and losses."""

from __future__ import annotations

import numpy as np

from .zoo import (
    build,
)


def test_facts_about_objectives():
    facts = {
        "binary": ("logistic", "logistic", "likeliest"),
        "multiclass": ("softmax", "softmax", "likeliest"),
        "regression": ("identity", "squared", "argmax"),
        "poisson": ("exp", "poisson", "argmax"),
        "gamma": ("exp", "gamma", "argmax"),
        "tweedie": ("exp", None, "argmax"),
        "huber": ("identity", None, "argmax"),
        "ranker": ("identity", None, "argmax"),
        "own objective": ("identity", None, "argmax"),
    }
    for name, expected in facts.items():
        forest = build(name).forest
        assert (forest.link, forest.loss, forest.label_rule) == expected
        assert forest.input_dtype == np.float64
        assert forest.class_weight is None
