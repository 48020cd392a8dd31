"""A toy library: the mean of decision stumps for two classes, saved as JSON."""

from __future__ import annotations

import json
from typing import NamedTuple


# --8<-- [start:example]
class Stump(NamedTuple):
    """Probabilities of the second class, and numbers of training rows, on both sides of a threshold."""

    feature: int
    threshold: float
    left: float
    right: float
    n_left: int
    n_right: int


class Stumps:
    """A fitted model."""

    def __init__(self, classes, n_features, stumps):
        self.classes, self.n_features = list(classes), n_features
        self.stumps = [Stump(*each) for each in stumps]

    def predict_proba_second(self, row):
        sides = (s.left if row[s.feature] <= s.threshold else s.right for s in self.stumps)
        return sum(sides) / len(self.stumps)


# The reader of the model files: a module with these three names that does not import budgetprune.
PACKAGE = "json"


def load(content):
    return Stumps(**json.loads(content))


def save(model):
    return json.dumps(vars(model)).encode()


# --8<-- [end:example]
