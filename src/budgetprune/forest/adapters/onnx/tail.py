"""Operators between the trees of an ONNX graph and its outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from onnx import NodeProto, TensorProto, helper

from budgetprune.forest.adapters.onnx.terms import (
    Constant,
    Exponential,
    LabelNumber,
    Labels,
    Part,
    Probabilities,
    Scores,
    Sigmoid,
    Term,
    Unknown,
)

Rule = Callable[[NodeProto, Sequence[Term]], Term | None]


def apply(node: NodeProto, inputs: Sequence[Term]) -> Term:
    """Return the meaning of an operator's first output."""
    rule = _RULES.get(node.op_type)
    result = rule(node, inputs) if rule else None
    return Unknown(node.op_type) if result is None else result


def _axis(node: NodeProto, default: int) -> int:
    return next((attribute.i for attribute in node.attribute if attribute.name == "axis"), default)


# --- Layout -------------------------------------------------------------------------------------------------


def _unchanged(node: NodeProto, inputs: Sequence[Term]) -> Term | None:
    return inputs[0]


def _reshape(node: NodeProto, inputs: Sequence[Term]) -> Term | None:
    """One number per row stays that, whatever the shape."""
    match inputs[0]:
        case Scores(shift=shift) if shift.size > 1:
            return None
        case Probabilities():
            return None
        case term:
            return term


def _cast(node: NodeProto, inputs: Sequence[Term]) -> Term | None:
    to = next((attribute.i for attribute in node.attribute if attribute.name == "to"), 0)
    match inputs[0]:
        case Labels(number, classes):
            kind = np.dtype(np.str_) if to == TensorProto.STRING else helper.tensor_dtype_to_np_dtype(to)
            return Labels(number, classes.astype(kind))
        case LabelNumber() as number:
            return number
        case term if to in (TensorProto.FLOAT, TensorProto.DOUBLE):
            return term
    return None


def _slice(node: NodeProto, inputs: Sequence[Term]) -> Term | None:
    return Part() if isinstance(inputs[0], Probabilities | Part) else None


# --- Arithmetic ---------------------------------------------------------------------------------------------


def _scaled(scores: Scores, factor: float) -> Scores | None:
    if factor == 0 or not np.isfinite(factor):
        return None
    return Scores(scores.divisor / factor, scores.shift * factor)


def _multiply(node: NodeProto, inputs: Sequence[Term]) -> Term | None:
    match inputs:
        case [Constant(value), term] | [term, Constant(value)] if value.size == 1:
            factor = float(value.item())
            if isinstance(term, Scores):
                return _scaled(term, factor)
            if isinstance(term, Exponential) and factor > 0:
                return Exponential(replace(term.scores, shift=term.scores.shift + np.log(factor)))
    return None


def _divide(node: NodeProto, inputs: Sequence[Term]) -> Term | None:
    match inputs:
        case [Scores(divisor, shift), Constant(value)] if value.size == 1 and value.item() != 0:
            by = float(value.item())
            return Scores(divisor * by, shift / by)
    return None


def _negate(node: NodeProto, inputs: Sequence[Term]) -> Term | None:
    return _scaled(inputs[0], -1.0) if isinstance(inputs[0], Scores) else None


def _add(node: NodeProto, inputs: Sequence[Term]) -> Term | None:
    match inputs:
        case [Constant(value), Scores() as scores] | [Scores() as scores, Constant(value)]:
            if value.size in (1, scores.shift.size):
                return replace(scores, shift=scores.shift + value.ravel().astype(np.float64))
    return None


def _subtract(node: NodeProto, inputs: Sequence[Term]) -> Term | None:
    match inputs:
        case [Scores() as scores, Constant(value)]:
            return _add(node, [scores, Constant(-value)])
    return None


# --- Links and labels ---------------------------------------------------------------------------------------


def _is_single(term: Term) -> bool:
    return isinstance(term, Scores) and term.shift.size == 1


def _exp(node: NodeProto, inputs: Sequence[Term]) -> Term | None:
    return Exponential(inputs[0]) if isinstance(inputs[0], Scores) and _is_single(inputs[0]) else None


def _sigmoid(node: NodeProto, inputs: Sequence[Term]) -> Term | None:
    return Sigmoid(inputs[0]) if isinstance(inputs[0], Scores) and _is_single(inputs[0]) else None


def _softmax(node: NodeProto, inputs: Sequence[Term]) -> Term | None:
    match inputs[0]:
        case Scores(shift=shift) as scores if shift.size > 1 and _axis(node, -1) in (1, -1):
            return Probabilities("softmax", scores)
    return None


def _concat(node: NodeProto, inputs: Sequence[Term]) -> Term | None:
    """Probabilities of both classes from the score and its negative."""
    match inputs:
        case [Sigmoid(first), Sigmoid(second)] if _axis(node, 0) in (1, -1):
            if first.divisor == -second.divisor and np.array_equal(first.shift, -second.shift):
                return Probabilities("logistic", second)
    return None


def _argmax(node: NodeProto, inputs: Sequence[Term]) -> Term | None:
    takes_last = any(attribute.name == "select_last_index" and attribute.i for attribute in node.attribute)
    if _axis(node, 0) not in (1, -1) or takes_last:
        return None
    match inputs[0]:
        case (Scores() as scores) | Probabilities("softmax" | "identity", scores):
            return LabelNumber(scores)
    return None


def _exceeds(node: NodeProto, inputs: Sequence[Term]) -> Term | None:
    match inputs:
        case [Scores() as scores, Constant(value)] if _is_single(scores) and value.size == 1:
            return LabelNumber(scores, float(value.item()), node.op_type == "GreaterOrEqual")
    return None


def _look_up(node: NodeProto, inputs: Sequence[Term]) -> Term | None:
    match inputs:
        case [Constant(classes), LabelNumber() as number] if _axis(node, 0) == 0:
            is_text = classes.dtype.kind == "O"
            return Labels(number, classes.ravel().astype(np.str_) if is_text else classes.ravel())
    return None


def _zip(node: NodeProto, inputs: Sequence[Term]) -> Term | None:
    match inputs[0]:
        case Probabilities() as probabilities:
            return probabilities
        case Scores(shift=shift) as scores if shift.size > 1:
            return Probabilities("identity", scores)
    return None


_RULES: dict[str, Rule] = {
    "Identity": _unchanged,
    "Cast": _cast,
    "Reshape": _reshape,
    "Squeeze": _reshape,
    "Unsqueeze": _reshape,
    "Flatten": _reshape,
    "Slice": _slice,
    "Mul": _multiply,
    "Div": _divide,
    "Neg": _negate,
    "Add": _add,
    "Sub": _subtract,
    "Exp": _exp,
    "Sigmoid": _sigmoid,
    "Softmax": _softmax,
    "Concat": _concat,
    "ArgMax": _argmax,
    "Greater": _exceeds,
    "GreaterOrEqual": _exceeds,
    "Gather": _look_up,
    "ArrayFeatureExtractor": _look_up,
    "ZipMap": _zip,
}
