"""Graph around a tree operator: which columns it reads, and what its sums mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from onnx import GraphProto, NodeProto

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest.adapters.onnx import tail
from budgetprune.forest.adapters.onnx.attributes import to_array
from budgetprune.forest.adapters.onnx.columns import cast_columns, join_columns, read_input
from budgetprune.forest.adapters.onnx.ensemble import OPERATORS, read_ensemble
from budgetprune.forest.adapters.onnx.meaning import meaning_of, with_one_score
from budgetprune.forest.adapters.onnx.table import Ensemble
from budgetprune.forest.adapters.onnx.terms import (
    Columns,
    Constant,
    Exponential,
    LabelNumber,
    Labels,
    Part,
    Probabilities,
    Scores,
    Term,
    Unknown,
)
from budgetprune.forest.damage import check_model

_DOMAINS = ("", "ai.onnx", "ai.onnx.ml")


class Outputs(NamedTuple):
    """Meaning of the outputs of a graph.

    Attributes
    ----------
    answer : what the graph computes from the sums of the trees
    number : how labels are found, None if the graph has none
    classes : labels by number, None for regression
    """

    answer: Scores | Exponential | Probabilities
    number: LabelNumber | None
    classes: NDArray[Any] | None


class TreeGraph(NamedTuple):
    """A graph with one tree operator."""

    name: str
    operator: str
    columns: Columns
    ensemble: Ensemble
    outputs: Outputs

    @property
    def compared(self) -> np.dtype[Any]:
        """Precision of comparisons; whole numbers are compared in single precision, too."""
        return np.dtype(np.float64 if self.columns.element == np.float64 else np.float32)


def read_graph(graph: GraphProto) -> TreeGraph:
    """Follow the columns from the inputs to the trees, and the sums of the trees to the outputs."""
    place = [i for i, node in enumerate(graph.node) if node.op_type in OPERATORS]
    if len(place) != 1:
        raise UnsupportedModelError(
            f"this ONNX model has {len(place)} operators for trees ({', '.join(OPERATORS)}), but a Forest is "
            "made of one; convert an ensemble of trees by itself (a bag of trees gets an operator for each "
            "tree)."
        )
    terms = _given(graph)
    for node in graph.node[: place[0]]:
        terms |= zip(node.output, [_apply(node, _inputs(node, terms))], strict=False)
    trees = graph.node[place[0]]
    columns = _check_columns(_inputs(trees, terms))
    ensemble = with_one_score(read_ensemble(trees))
    own = meaning_of(ensemble, trees.op_type)
    terms |= zip(trees.output, own, strict=False)
    for node in graph.node[place[0] + 1 :]:
        terms |= zip(node.output, [_apply(node, _inputs(node, terms))], strict=False)
    named = {value.name: terms.get(value.name, Unknown("nothing")) for value in graph.output}
    outputs = _read_outputs(named, own, ensemble.n_outputs)
    return TreeGraph(graph.name, trees.op_type, columns, ensemble, outputs)


def _given(graph: GraphProto) -> dict[str, Term]:
    """Inputs and stored tensors."""
    stored: dict[str, Term] = {tensor.name: Constant(to_array(tensor)) for tensor in graph.initializer}
    inputs = [value for value in graph.input if value.name not in stored]
    return stored | {value.name: read_input(value, len(inputs) == 1) for value in inputs}


def _inputs(node: NodeProto, terms: Mapping[str, Term]) -> list[Term]:
    return [terms.get(name, Unknown(f"the missing tensor {name!r}")) for name in node.input]


def _apply(node: NodeProto, inputs: Sequence[Term]) -> Term:
    """Meaning of the first output of an operator."""
    if node.domain not in _DOMAINS:
        return Unknown(f"{node.domain}.{node.op_type}")
    if node.op_type == "Constant":
        value = next((attribute for attribute in node.attribute if attribute.name == "value"), None)
        return Unknown("Constant") if value is None else Constant(to_array(value.t))
    unknown = next((term for term in inputs if isinstance(term, Unknown)), None)
    if unknown is not None:
        return unknown
    if not any(isinstance(term, Columns) for term in inputs):
        return tail.apply(node, inputs)
    if node.op_type == "Concat":
        return join_columns(node, inputs)
    if node.op_type == "Cast" and isinstance(inputs[0], Columns):
        return cast_columns(inputs[0], next((part.i for part in node.attribute if part.name == "to"), 0))
    return inputs[0] if node.op_type == "Identity" else Unknown(node.op_type)


def _check_columns(inputs: Sequence[Term]) -> Columns:
    columns = inputs[0]
    if isinstance(columns, Columns):
        return columns
    what = columns.operator if isinstance(columns, Unknown) else "an operator"
    raise UnsupportedModelError(
        f"before the trees of this ONNX model stands {what}, which changes the columns in a way that a "
        "Forest has no part for; convert the trees by themselves, and give budgetprune the columns that they "
        "read."
    )


def _read_outputs(outputs: Mapping[str, Term], own: Sequence[Term], n_scores: int) -> Outputs:
    """Find out what the graph computes.

    Parameters
    ----------
    outputs : meaning of each output
    own : meaning of the outputs of the tree operator
    n_scores : number of its sums
    """
    for name, term in outputs.items():
        if isinstance(term, Unknown):
            raise UnsupportedModelError(
                f"the output {name!r} of this ONNX model is made by {term.operator}, which budgetprune does "
                "not understand there; convert an ensemble of trees by itself."
            )
    # A classifier's own outputs tell all, also if the graph leaves some out.
    found = [term for term in (*outputs.values(), *own[: len(own) // 2 * 2]) if not isinstance(term, Part)]
    labels = next((term for term in found if isinstance(term, Labels)), None)
    number = next((term for term in found if isinstance(term, LabelNumber)), None)
    number = number if labels is None else labels.number
    answers = [term for term in found if isinstance(term, Scores | Exponential | Probabilities)]
    if number is not None and number.cut is None:
        # Sums that have labels are probabilities.
        answers = [Probabilities("identity", each) if isinstance(each, Scores) else each for each in answers]
        answers = answers or [Probabilities("identity", number.scores)]
    is_classifier = isinstance(next(iter(answers), None), Probabilities)
    if not answers or (number is not None and not is_classifier):
        raise UnsupportedModelError(
            f"of the outputs of this ONNX model ({', '.join(outputs)}) none is the answer of a regression, "
            "or a probability; keep the probabilities of a classifier, and the outputs as their converter "
            "wrote them."
        )
    answer = answers[0]
    if not isinstance(answer, Probabilities):
        return Outputs(answer, None, None)
    n_classes = 2 if answer.link in ("share", "logistic") else n_scores
    classes = np.arange(n_classes) if labels is None else labels.classes
    check_model(classes.size == n_classes, f"it has {classes.size} labels for {n_classes} classes")
    return Outputs(answer, number, classes)
