"""Models in the form in which Yggdrasil serialises them: a sequence of protocol buffers."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest.damage import check_model, damaged

# Serialised sequences begin with these bytes, two bytes of a version, the compression, and three others.
MAGIC = b"BS"
_HEADER = 8
_RAW, _GZIP = 0, 1

FOREST, BOOSTED = "RANDOM_FOREST", "GRADIENT_BOOSTED_TREES"


class SavedModel(NamedTuple):
    """A serialised model: protocol buffers of Yggdrasil, and the bytes of each node.

    Attributes
    ----------
    about : AbstractModel
        Kind, task, and the columns of the label and of the features.
    header : Header of the kind of model
    columns : DataSpecification
        Names, types and categories of all columns.
    nodes : iterator of Node
        Each tree in pre-order, the child for a failed test first.
    """

    about: Any
    header: Any
    columns: Any
    nodes: Iterator[Any]

    @property
    def is_boosted(self) -> bool:
        return bool(self.about.name == BOOSTED)


def read_model(model: Any) -> SavedModel:
    """Serialise a model and read it. The package of the protocol buffers is imported with the library."""
    from yggdrasil_decision_forests.dataset import data_spec_pb2
    from yggdrasil_decision_forests.model import abstract_model_pb2
    from yggdrasil_decision_forests.model.decision_tree import decision_tree_pb2
    from yggdrasil_decision_forests.model.gradient_boosted_trees import gradient_boosted_trees_pb2
    from yggdrasil_decision_forests.model.random_forest import random_forest_pb2

    headers = {
        FOREST: random_forest_pb2.random_forest_serialized_model,
        BOOSTED: gradient_boosted_trees_pb2.gradient_boosted_trees_serialized_model,
    }
    parts = list(_blobs(model.serialize()))
    check_model(len(parts) == 4, f"it has {len(parts)} parts instead of 4")
    saved = _parse(abstract_model_pb2.SerializedModel, parts[1])
    about = saved.abstract_model
    if about.name not in headers:
        raise UnsupportedModelError(
            f"this is a model of the kind {about.name}; a Forest can express {FOREST} and {BOOSTED}."
        )
    return SavedModel(
        about,
        saved.Extensions[headers[about.name]].header,
        _parse(data_spec_pb2.DataSpecification, parts[2]),
        (_parse(decision_tree_pb2.Node, blob) for blob in _blobs(parts[3])),
    )


def _blobs(content: bytes) -> Iterator[bytes]:
    """Entries of a sequence, each after its length."""
    check_model(content[: len(MAGIC)] == MAGIC and len(content) >= _HEADER, "it is no sequence of parts")
    compression = content[4]
    check_model(compression in (_RAW, _GZIP), f"its compression {compression} is unknown")
    rest = memoryview(_unzipped(content[_HEADER:]) if compression == _GZIP else content)
    place = 0 if compression == _GZIP else _HEADER
    while place < len(rest):
        check_model(place + 4 <= len(rest), "its last part is cut off")
        (size,) = struct.unpack_from("<I", rest, place)
        place += 4 + size
        check_model(place <= len(rest), "its last part is cut off")
        yield bytes(rest[place - size : place])


def _unzipped(content: bytes) -> bytes:
    try:
        return zlib.decompress(content, wbits=zlib.MAX_WBITS | 16)
    except zlib.error as error:
        raise damaged(f"its nodes cannot be decompressed ({error})") from error


def _parse(kind: Any, content: bytes) -> Any:
    from google.protobuf.message import DecodeError

    try:
        return kind.FromString(content)
    except DecodeError as error:
        raise damaged(f"a {kind.DESCRIPTOR.name} in it cannot be read") from error
