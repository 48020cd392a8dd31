"""Versions of packages and size of the machine, to record with results."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

__version__ = version("budgetprune")


def versions(packages: Iterable[str]) -> dict[str, str]:
    """Versions of Python and of those packages that are installed."""
    found = {"python": platform.python_version()}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def machine() -> dict[str, Any]:
    """Number of cores, memory, architecture and system of this machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else None
    return {
        "cores": os.cpu_count(),
        "memory_gib": None if memory is None else round(memory / 2**30, 1),
        "architecture": platform.machine(),
        "system": platform.system(),
    }
