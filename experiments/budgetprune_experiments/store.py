"""Storage of finished parts, so that an interrupted run can be resumed."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from budgetprune import __version__
from budgetprune.errors import InvalidInputError
from budgetprune.utils.files import written_atomically
from budgetprune_experiments.experiment import Experiment, Options, Part, Record


class PartStore:
    """Folder with one file per part; parts of other settings or another version are ignored."""

    def __init__(self, folder: Path, experiment: Experiment, options: Options) -> None:
        self.folder = folder
        # Keys of parts contain the repeat. If the tuning time is limited, results depend on the cores.
        made_with = {
            "experiment": experiment.name,
            "version": __version__,
            "quick": options.quick,
            "paper": options.paper,
            "jobs": options.jobs,
            "data": [(data.name, data.digest) for data in experiment.datasets(options)],
            "settings": experiment.settings(options),
        }
        self.fingerprint = hashlib.sha256(to_json(made_with, sort_keys=True)).hexdigest()

    def check_keys(self, parts: Sequence[Part]) -> None:
        """Raise if two parts would share a file."""
        files = [self._file(part).name for part in parts]
        for file, part in zip(files, parts, strict=True):
            if files.count(file) > 1:
                raise InvalidInputError(f"several parts have the key {part.key!r}, or one like it.")

    def load(self, part: Part) -> Record | None:
        """Return the stored result of a part, if it was computed with the same settings."""
        try:
            kept: Record = json.loads(self._file(part).read_bytes())
            is_same = (kept["fingerprint"], kept["key"]) == (self.fingerprint, part.key)
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None
        return kept if is_same else None

    def save(self, part: Part, records: Sequence[Record], seconds: float) -> Record:
        """Store a part atomically; return it as it will be loaded."""
        kept = {"key": part.key, "fingerprint": self.fingerprint, "seconds": seconds, "records": records}
        try:
            content = to_json(kept)
        except (TypeError, ValueError) as error:
            raise InvalidInputError(f"the records of {part.key!r} are not JSON: {error}.") from error
        self.folder.mkdir(parents=True, exist_ok=True)
        with written_atomically(self._file(part)) as handle:
            handle.write(content)
        loaded: Record = json.loads(content)
        return loaded

    def _file(self, part: Part) -> Path:
        return self.folder / f"{re.sub(r'[^a-z0-9.]+', '-', part.key.lower()).strip('-')}.json"


def to_json(content: Any, *, sort_keys: bool = False) -> bytes:
    """Write strict JSON (None instead of NaN); numbers of NumPy are converted."""
    return json.dumps(
        content, indent=1, sort_keys=sort_keys, allow_nan=False, default=_plain, ensure_ascii=False
    ).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is nothing that JSON knows")
