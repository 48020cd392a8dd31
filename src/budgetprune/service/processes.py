"""Content and environment that processes of the service share."""

from __future__ import annotations

import os
import sys
import tempfile


def nameless_file(content: bytes) -> int:
    """Create a file without a name, in memory if possible, and return its descriptor."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("budgetprune")
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    with open(descriptor, "wb", closefd=False) as file:
        file.write(content)
    return descriptor


def environment() -> dict[str, str]:
    """Environment in which a new process imports what this process would import."""
    folders = [folder or os.getcwd() for folder in sys.path]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
