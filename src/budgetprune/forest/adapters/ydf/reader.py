"""Loading of Yggdrasil's models. It runs in a separate process and imports nothing of budgetprune."""

from __future__ import annotations

import io
import tarfile
import tempfile
from typing import Any

PACKAGE = "ydf"


def load(content: bytes) -> Any:
    """Load a serialised model, or a tar archive of the files in a model's folder."""
    import ydf

    if content.startswith(b"BS"):
        return ydf.deserialize_model(content)
    with tempfile.TemporaryDirectory() as folder, tarfile.open(fileobj=io.BytesIO(content)) as archive:
        archive.extractall(folder, filter="data")
        return ydf.load_model(folder)


def save(model: Any) -> bytes:
    """Serialise a model."""
    content: bytes = model.serialize()
    return content
