"""Operators between the inputs of an ONNX graph and the trees."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import NodeProto, TensorProto, ValueInfoProto, helper

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest.adapters.onnx.terms import Columns, Term, Unknown

_FLOAT, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
_WHOLE = (TensorProto.INT64, TensorProto.INT32, TensorProto.INT16, TensorProto.INT8, TensorProto.BOOL)


def read_input(value: ValueInfoProto, is_only: bool) -> Term:
    """Return the columns of an input; the name of the only one is not that of a column."""
    tensor = value.type.tensor_type
    element = tensor.elem_type
    if element not in (TensorProto.FLOAT, TensorProto.DOUBLE, *_WHOLE):
        kind = TensorProto.DataType.Name(element) if element else "no tensor"
        return Unknown(f"the input {value.name!r} of type {kind}")
    dims = tensor.shape.dim
    width = dims[1].dim_value if len(dims) == 2 and dims[1].dim_value > 0 else None
    dtype = helper.tensor_dtype_to_np_dtype(element)
    return Columns(
        None if is_only or width != 1 else (value.name,),
        width,
        dtype,
        None if element in _WHOLE else dtype,
    )


def cast_columns(columns: Columns, to: int) -> Term:
    if to == TensorProto.FLOAT:
        return Columns(columns.names, columns.width, _FLOAT, _FLOAT)
    if to == TensorProto.DOUBLE:
        return Columns(columns.names, columns.width, _DOUBLE, columns.precision)
    if to in _WHOLE and columns.precision is None and to != TensorProto.BOOL:
        return Columns(columns.names, columns.width, helper.tensor_dtype_to_np_dtype(to), None)
    return Unknown(f"Cast to {TensorProto.DataType.Name(to)}")


def join_columns(node: NodeProto, parts: Sequence[Term]) -> Term:
    """Concatenate columns, side by side."""
    axis = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), 0)
    known = [part for part in parts if isinstance(part, Columns)]
    if axis not in (1, -1) or len(known) < len(parts):
        return next((part for part in parts if isinstance(part, Unknown)), Unknown("Concat"))
    precisions = {part.precision for part in known if part.precision is not None}
    if len({part.element for part in known}) > 1 or len(precisions) > 1:
        raise UnsupportedModelError(
            "this ONNX model rounds some columns to single precision and others not, but a Forest compares "
            "all in the same precision; convert the model for inputs of one type."
        )
    widths = [part.width for part in known]
    names = [part.names for part in known]
    return Columns(
        None if None in names else tuple(name for some in names for name in some or ()),
        None if None in widths else sum(width or 0 for width in widths),
        known[0].element,
        next(iter(precisions), None),
    )
