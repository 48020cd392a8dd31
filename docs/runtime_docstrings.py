"""Griffe extension: docstrings that are completed at import time.

Griffe reads source files. Some estimators share sections of their docstrings, which a decorator fills in;
for these, the docstring of the imported class is used.
"""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import griffe


class RuntimeDocstrings(griffe.Extension):
    """Replace docstrings that contain placeholders by those of the imported classes."""

    def on_class(self, *, cls: griffe.Class, **kwargs: Any) -> None:
        """Take the docstring from the imported class if the source has placeholders."""
        if cls.docstring is None or "{parameters}" not in cls.docstring.value:
            return
        module, _, name = cls.path.rpartition(".")
        cls.docstring.value = inspect.getdoc(getattr(importlib.import_module(module), name)) or ""
