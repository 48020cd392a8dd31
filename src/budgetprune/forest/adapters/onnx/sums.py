"""Sums of ONNX trees in the form of a Forest: values, base, divisor, link and label rule."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest.adapters.onnx.graph import TreeGraph
from budgetprune.forest.adapters.onnx.table import Ensemble
from budgetprune.forest.adapters.onnx.terms import Exponential, LabelNumber, Probabilities, Scores

_FLOAT, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)

# Constants of a graph are in single precision.
_TOLERANCE = 1e-6

# Names of graphs by skl2onnx for averaged trees, which it writes as plain sums.
_FORESTS = ("ONNX(RandomForestRegressor)", "ONNX(ExtraTreesRegressor)")

_LOSSES = {"identity": "squared", "exp": "poisson", "logistic": "logistic", "softmax": "softmax"}

Link = Literal["identity", "logistic", "softmax", "exp"]
LabelRule = Literal["argmax", "positive", "nonnegative", "likeliest"]


class Sums(NamedTuple):
    """Fields of Forest, with trees and nodes in the order of the model."""

    value: NDArray[np.float64]
    tree_output: NDArray[np.int32]
    tree_round: NDArray[np.int64] | None
    base: NDArray[np.float64]
    divisor: float
    link: Link
    loss: str | None
    label_rule: LabelRule
    label_dtype: np.dtype[Any]


def read_sums(graph: TreeGraph) -> Sums:
    """Translate what the graph makes of the sums of its trees.

    Trees whose sum is divided by their number are averaged, and so are those whose sums are probabilities.
    All others count as boosted: each output gets a tree per round, and the loss is the one that belongs to
    the link (for an exponential, Poisson). The gains of the rounds add up to the decrease of the loss for any
    trees, also for those that were not boosted.
    """
    ensemble, (answer, _, classes) = graph.ensemble, graph.outputs
    scores = answer if isinstance(answer, Scores) else answer.scores
    if scores.divisor <= 0 or not np.isfinite(scores.divisor):
        raise UnsupportedModelError("this ONNX model negates the sums of its trees, which a Forest does not.")
    if classes is None and scores.shift.size > 1:
        raise UnsupportedModelError(
            f"this ONNX model predicts {scores.shift.size} targets at once; train and convert a model per "
            "target."
        )
    n_trees = ensemble.nodes.tree_start.size - 1
    of_each = n_trees / scores.divisor  # a tree's part of the answer, if trees are averaged
    label_rule, label_dtype = _label_rule(graph, scores)
    if isinstance(answer, Probabilities) and answer.link == "share":
        second = of_each * _dense(ensemble, 1)
        value = np.column_stack([1.0 - second, second])
        base = n_trees * np.array([-1.0, 1.0]) * scores.shift
        return _averaged(value, base, n_trees, label_rule, label_dtype)
    if isinstance(answer, Probabilities) and answer.link == "identity":
        value = of_each * _dense(ensemble, ensemble.n_outputs)
        return _averaged(value, n_trees * scores.shift, n_trees, label_rule, label_dtype)
    if isinstance(answer, Scores) and (abs(of_each - 1) < _TOLERANCE or graph.name in _FORESTS):
        # Every tree is an estimate, with the base.
        value = of_each * _dense(ensemble, 1) + scores.shift
        return _averaged(value, np.zeros(1), n_trees, label_rule, label_dtype)
    link = _link(answer)
    output = _outputs_of_trees(ensemble)
    return Sums(
        _dense(ensemble, 1 if output.min() >= 0 else ensemble.n_outputs) / scores.divisor,
        output,
        _rounds(output),
        scores.shift,
        1.0,
        link,
        _LOSSES[link],
        label_rule,
        label_dtype,
    )


def _link(answer: Scores | Exponential | Probabilities) -> Link:
    match answer:
        case Exponential():
            return "exp"
        case Probabilities("logistic"):
            return "logistic"
        case Probabilities():
            return "softmax"
        case _:
            return "identity"


def _averaged(
    value: NDArray[np.float64],
    base: NDArray[np.float64],
    n_trees: int,
    label_rule: LabelRule,
    label_dtype: np.dtype[Any],
) -> Sums:
    every = np.full(n_trees, -1, dtype=np.int32)
    return Sums(value, every, None, base, float(n_trees), "identity", None, label_rule, label_dtype)


def _dense(ensemble: Ensemble, n_values: int) -> NDArray[np.float64]:
    """Weights of the leaves, of shape (n_nodes, n_values); 1 if every tree feeds one output."""
    votes, n_nodes = ensemble.votes, ensemble.nodes.mode.size
    place = votes.node * n_values + (votes.output if n_values > 1 else 0)
    total = np.bincount(place, weights=votes.amount, minlength=n_nodes * n_values)
    return total.astype(np.float64, copy=False).reshape(n_nodes, n_values)


def _outputs_of_trees(ensemble: Ensemble) -> NDArray[np.int32]:
    """Output that each tree feeds; -1 for all trees if one of them feeds several."""
    tree = ensemble.nodes.tree[ensemble.votes.node]
    n_trees = ensemble.nodes.tree_start.size - 1
    smallest = np.full(n_trees, ensemble.n_outputs, dtype=np.int32)
    largest = np.zeros(n_trees, dtype=np.int32)
    np.minimum.at(smallest, tree, ensemble.votes.output.astype(np.int32))
    np.maximum.at(largest, tree, ensemble.votes.output.astype(np.int32))
    np.minimum(smallest, largest, out=smallest)  # a tree without weights feeds any
    return smallest if np.array_equal(smallest, largest) else np.full(n_trees, -1, dtype=np.int32)


def _rounds(output: NDArray[np.int32]) -> NDArray[np.int64]:
    """Number of earlier trees with the same output."""
    if output.min() < 0:
        return np.arange(output.size)
    by_output = np.argsort(output, kind="stable")
    size = np.bincount(output)
    tree_round = np.empty(output.size, dtype=np.int64)
    tree_round[by_output] = np.arange(output.size) - np.repeat(np.cumsum(size) - size, size)
    return tree_round


def _label_rule(graph: TreeGraph, scores: Scores) -> tuple[LabelRule, np.dtype[Any]]:
    """Label rule of the forest, and the precision of its scores."""
    # The older operator for numbers returns single precision always.
    dtype = _FLOAT if graph.operator == "TreeEnsembleRegressor" else graph.compared
    answer, number, _ = graph.outputs
    if not isinstance(answer, Probabilities) or answer.link != "logistic":
        return "argmax", dtype
    if number is None:
        return "positive", dtype
    cut = _cut(number, scores)
    if cut == 0:
        return ("nonnegative" if number.takes_equal else "positive"), dtype
    for precision in (_FLOAT, _DOUBLE):
        # The cut that exported forests have: see `label_cut`.
        if not number.takes_equal and np.isclose(cut, 1.5 * np.finfo(precision).epsneg, rtol=1e-5, atol=0):
            return "likeliest", precision
    raise UnsupportedModelError(
        f"this ONNX model gives the second of two classes to scores above {cut:g}, but a Forest does so at "
        "0, where both are as likely; convert the model without a threshold of its own."
    )


def _cut(number: LabelNumber, scores: Scores) -> float:
    """The cut of a label for scores on the scale of the probabilities."""
    own = number.scores
    if number.cut is None or own.divisor <= 0:
        return float("nan")
    return float((number.cut - own.shift[0]) * own.divisor / scores.divisor + scores.shift[0])
