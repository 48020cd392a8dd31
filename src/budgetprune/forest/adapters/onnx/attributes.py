"""Attributes and constants of ONNX nodes as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import AttributeProto, NodeProto, TensorProto, numpy_helper

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest.damage import check_model

ML_DOMAIN = "ai.onnx.ml"


class Attributes:
    """Attributes of a node by name; each method raises if an attribute has another type.

    Parameters
    ----------
    node : the node
    known : names that the caller understands; others raise, since they could change the predictions
    """

    def __init__(self, node: NodeProto, known: frozenset[str]) -> None:
        self._by_name = {attribute.name: attribute for attribute in node.attribute}
        self._operator = node.op_type
        unknown = sorted(self._by_name.keys() - known)
        if unknown:
            raise UnsupportedModelError(
                f"the operator {node.op_type} has attributes that budgetprune does not know "
                f"({', '.join(unknown)}); write the model with an operator set up to ai.onnx.ml 5."
            )

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def _find(self, name: str, kind: int) -> AttributeProto | None:
        attribute = self._by_name.get(name)
        # Files of old releases leave the type out.
        check_model(
            attribute is None or attribute.type in (kind, AttributeProto.UNDEFINED),
            f"the attribute {name} of {self._operator} has the wrong type",
        )
        return attribute

    def integers(self, name: str) -> NDArray[np.int64]:
        attribute = self._find(name, AttributeProto.INTS)
        return np.array([] if attribute is None else attribute.ints, dtype=np.int64)

    def strings(self, name: str) -> list[str]:
        attribute = self._find(name, AttributeProto.STRINGS)
        return [] if attribute is None else [text.decode() for text in attribute.strings]

    def words(self, name: str) -> list[bytes]:
        """Texts as they are stored, for lists with one of a few words per node."""
        attribute = self._find(name, AttributeProto.STRINGS)
        return [] if attribute is None else list(attribute.strings)

    def integer(self, name: str, default: int) -> int:
        attribute = self._find(name, AttributeProto.INT)
        return default if attribute is None else attribute.i

    def string(self, name: str, default: str) -> str:
        attribute = self._find(name, AttributeProto.STRING)
        return default if attribute is None else attribute.s.decode()

    def tensor(self, name: str) -> NDArray[Any]:
        attribute = self._find(name, AttributeProto.TENSOR)
        return np.empty(0) if attribute is None else to_array(attribute.t).ravel()

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Numbers that are a list of single precision, or a tensor under the name with "_as_tensor"."""
        if f"{name}_as_tensor" in self:
            return self.tensor(f"{name}_as_tensor").astype(np.float64)
        attribute = self._find(name, AttributeProto.FLOATS)
        return np.array([] if attribute is None else attribute.floats, dtype=np.float64)


def to_array(tensor: TensorProto) -> NDArray[Any]:
    """Convert a tensor that is stored in the model; one in another file is an error, for that may be any."""
    if tensor.data_location == TensorProto.EXTERNAL:
        raise UnsupportedModelError(
            f"the tensor {tensor.name!r} of this ONNX model is stored in another file; save the model with "
            "all its data: onnx.save_model(onnx.load(...), ..., save_as_external_data=False)."
        )
    return numpy_helper.to_array(tensor)
