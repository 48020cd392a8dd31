"""Meaning of the outputs of a tree operator, before the rest of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest.adapters.onnx.table import Ensemble, Mode, Votes
from budgetprune.forest.adapters.onnx.terms import LabelNumber, Labels, Probabilities, Scores, Term


def with_one_score(ensemble: Ensemble) -> Ensemble:
    """Leave out the weights of the first of two classes if they are the negative ones of the second.

    CatBoost writes classifiers so, for LOGISTIC of both.
    """
    votes, labels = ensemble.votes, ensemble.labels
    if labels is None or labels.size != 2 or ensemble.post_transform != "LOGISTIC" or ensemble.base.size:
        return ensemble
    of_both = votes.node * 2 + votes.output
    first, second = np.bincount(of_both, votes.amount, 2 * ensemble.nodes.mode.size).reshape(-1, 2).T
    if not second.any() or not np.array_equal(first, -second):
        return ensemble
    is_second = votes.output == 1
    node, amount = votes.node[is_second], votes.amount[is_second]
    return ensemble._replace(votes=Votes(node, np.zeros(node.size, dtype=np.int64), amount))


def meaning_of(ensemble: Ensemble, operator: str) -> Sequence[Term]:
    """Meaning of the outputs of a tree operator; raise if a Forest cannot express it."""
    transform, n_outputs = ensemble.post_transform, ensemble.n_outputs
    shift = ensemble.base if ensemble.base.size else np.zeros(n_outputs)
    divisor = float(ensemble.nodes.tree_start.size - 1) if ensemble.is_averaged else 1.0
    if ensemble.labels is not None:
        return _classification(ensemble, ensemble.labels)
    scores = Scores(divisor, shift)
    if transform == "SOFTMAX" and n_outputs > 1:
        return [Probabilities("softmax", scores)]
    if transform != "NONE":
        raise UnsupportedModelError(
            f"the {operator} of this ONNX model has {n_outputs} output(s) and post_transform={transform}, "
            "which a Forest does not have (or which runtimes ignore); use NONE."
        )
    return [scores]


def _classification(ensemble: Ensemble, labels: NDArray[Any]) -> Sequence[Term]:
    """Meaning of the labels and the scores of a TreeEnsembleClassifier, as onnxruntime has it."""
    if labels.size == 1:
        raise UnsupportedModelError("this ONNX model knows a single class; train it on rows of two classes.")
    transform = ensemble.post_transform
    amount, output = ensemble.votes.amount, ensemble.votes.output
    if labels.size > 2:
        if transform not in ("NONE", "SOFTMAX"):
            raise UnsupportedModelError(
                f"this ONNX model has {labels.size} classes and post_transform={transform}, for which Forest "
                "has no link; use SOFTMAX, or NONE if the sums are probabilities."
            )
        if not (ensemble.base.size or amount.min(initial=0.0) >= 0 or _votes_for_all(ensemble)):
            raise UnsupportedModelError(
                "some leaves of this ONNX model have no weight for some classes, which runtimes then leave "
                "out; write all weights, or base_values."
            )
        scores = Scores(1.0, ensemble.base if ensemble.base.size else np.zeros(labels.size))
        number = LabelNumber(scores)
        return [
            Labels(number, labels),
            Probabilities("softmax" if transform == "SOFTMAX" else "identity", scores),
        ]
    if output.any() or ensemble.base.size > 1:
        raise UnsupportedModelError(
            "the TreeEnsembleClassifier of this ONNX model has two classes, and weights or base_values for "
            "both: runtimes differ in what they make of these. Write one weight per leaf (class_ids all 0)."
        )
    is_share = transform == "NONE" and amount.min(initial=0.0) >= 0
    if not is_share and transform != "LOGISTIC":
        raise UnsupportedModelError(
            f"this ONNX model has two classes and post_transform={transform}"
            f"{' with negative weights' if transform == 'NONE' else ''}, so that it gives no probabilities; "
            "convert the model without the option raw_scores, for LOGISTIC."
        )
    scores = Scores(1.0, ensemble.base if ensemble.base.size else np.zeros(1))
    number = LabelNumber(scores, 0.5 if is_share else 0.0)
    return [Labels(number, labels), Probabilities("share" if is_share else "logistic", scores)]


def _votes_for_all(ensemble: Ensemble) -> bool:
    """Whether each class gets a weight from every leaf of some tree."""
    nodes, votes, n = ensemble.nodes, ensemble.votes, ensemble.n_outputs
    pair = np.unique(votes.node * n + votes.output)
    n_trees = nodes.tree_start.size - 1
    n_leaves = np.bincount(nodes.tree[nodes.mode == Mode.LEAF], minlength=n_trees)
    n_votes = np.bincount(nodes.tree[pair // n] * n + pair % n, minlength=n_trees * n).reshape(n_trees, n)
    return bool((n_votes == n_leaves[:, np.newaxis]).any(axis=0).all())
