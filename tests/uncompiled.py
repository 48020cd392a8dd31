"""Let a process of tests run the kernels as plain Python (BUDGETPRUNE_UNCOMPILED=1)."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

SOURCES = Path(__file__).parents[1] / "src"
UNCOMPILED = os.environ.get("BUDGETPRUNE_UNCOMPILED", "0") != "0"


class UncompiledKernels(MetaPathFinder):
    """Finds the source of a kernel module, not its compiled form."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not (name.startswith("budgetprune.") and name.endswith("kernels")):
            return None
        return spec_from_file_location(name, SOURCES.joinpath(*name.split(".")).with_suffix(".py"))


def run_uncompiled() -> None:
    """Import kernels as plain Python from now on, if the environment says so."""
    if UNCOMPILED:
        sys.meta_path.insert(0, UncompiledKernels())
