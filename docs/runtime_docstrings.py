"""Griffe extension: docstrings that are completed at import time, and defaults of parameters.

Griffe reads source files. Some estimators share sections of their docstrings, which a decorator fills in;
for these, the docstring of the imported class is used.

Griffe takes the first of several choices (``{'a', 'b'}``) for the default, and gives parameters that share
a line one default. Here, defaults are those of the signature. Types lose their backquotes, since they are
shown as code.
"""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

import griffe

VARIADIC = {griffe.ParameterKind.var_positional, griffe.ParameterKind.var_keyword}


class RuntimeDocstrings(griffe.Extension):
    """Replace docstrings that contain placeholders by those of the imported classes."""

    def on_class(self, *, cls: griffe.Class, **kwargs: Any) -> None:
        """Take the docstring from the imported class if the source has placeholders."""
        if cls.docstring is not None and "{parameters}" in cls.docstring.value:
            module, _, name = cls.path.rpartition(".")
            cls.docstring.value = inspect.getdoc(getattr(importlib.import_module(module), name)) or ""
        _correct(cls)

    def on_function(self, *, func: griffe.Function, **kwargs: Any) -> None:
        """Correct defaults and types."""
        _correct(func)


def _correct(thing: griffe.Class | griffe.Function) -> None:
    if thing.docstring is None:
        return
    # Markdown needs one colon before an indented block.
    thing.docstring.value = re.sub(r"::$", ":", thing.docstring.value, flags=re.MULTILINE)
    signature = {parameter.name: parameter for parameter in thing.parameters}
    for section in thing.docstring.parsed:
        if section.kind is not griffe.DocstringSectionKind.parameters:
            continue
        for parameter in section.value:
            if isinstance(parameter.annotation, str):
                parameter.annotation = parameter.annotation.replace("`", "")
            known = signature.get(parameter.name.lstrip("*"))
            if known is not None:
                parameter.value = None if known.kind in VARIADIC else known.default
