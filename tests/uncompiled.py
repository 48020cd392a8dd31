"""Let a process of tests run other kernels than those that are installed.

BUDGETPRUNE_UNCOMPILED=1 runs them as plain Python. BUDGETPRUNE_KERNELS names a folder with another build of
the package, such as one that checks the bounds of arrays (``make fuzz``).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

SOURCES = Path(__file__).parents[1] / "src"
UNCOMPILED = os.environ.get("BUDGETPRUNE_UNCOMPILED", "0") != "0"
OTHER_BUILD = os.environ.get("BUDGETPRUNE_KERNELS", "")


class KernelFinder(MetaPathFinder):
    """Finds modules of kernels in a folder, with the given suffix."""

    def __init__(self, folder: Path, suffix: str) -> None:
        self.folder, self.suffix = folder, suffix

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not (name.startswith("budgetprune.") and name.endswith("kernels")):
            return None
        file = self.folder.joinpath(*name.split(".")).with_suffix(self.suffix)
        if not file.exists():
            raise ImportError(f"there is no {file}: build these kernels first.", name=name)
        return spec_from_file_location(name, file)


def replace_kernels() -> None:
    """Import other kernels from now on, if the environment says so."""
    if UNCOMPILED:
        sys.meta_path.insert(0, KernelFinder(SOURCES, ".py"))
    elif OTHER_BUILD:
        sys.meta_path.insert(0, KernelFinder(Path(OTHER_BUILD), EXTENSION_SUFFIXES[0]))
