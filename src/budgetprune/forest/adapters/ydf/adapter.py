"""Adapter of Yggdrasil Decision Forests. The library itself is imported only to load a model."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path
from typing import Any

from budgetprune.errors import InvalidInputError
from budgetprune.forest.adapter import Adapter
from budgetprune.forest.adapters.ydf import reader
from budgetprune.forest.adapters.ydf.document import MAGIC
from budgetprune.forest.adapters.ydf.importer import from_ydf

_CLASSES = ("GradientBoostedTreesModel", "RandomForestModel")


class YdfAdapter(Adapter):
    """Models of Yggdrasil Decision Forests, which are imported only."""

    name, title = "ydf", "Yggdrasil Decision Forests"
    importers = dict.fromkeys((f"ydf.{each}" for each in _CLASSES), from_ydf)
    suffixes = (".ydf",)
    reader = reader

    def is_model_folder(self, folder: Path) -> bool:
        # A prefix may separate several models in one folder.
        return any(folder.glob("*data_spec.pb"))

    def read_content(self, file: Path) -> bytes:
        """Pack the files of a folder, without folders in it."""
        if not file.is_dir():
            return file.read_bytes()
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for part in sorted(file.iterdir()):
                if part.is_file():
                    content = part.read_bytes()
                    entry = tarfile.TarInfo(part.name)
                    entry.size = len(content)
                    archive.addfile(entry, io.BytesIO(content))
        return packed.getvalue()

    def check_content(self, content: bytes) -> None:
        is_packed = content[257:262] == b"ustar"
        if not is_packed and not content.startswith(MAGIC):
            raise InvalidInputError(
                "it is not a model that Yggdrasil wrote (the bytes of model.serialize(), or a folder of "
                "model.save)."
            )

    def is_ranking_model(self, model: Any) -> bool:
        return bool(model.task().name == "RANKING")
