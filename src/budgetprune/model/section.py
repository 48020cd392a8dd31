"""Section of model files that holds the metadata of a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from budgetprune.model.about import About
from budgetprune.persistence import Content, Section

_NAME = "about"


def _write(about: About, others: Mapping[str, Any]) -> Content:
    return Content({_NAME: about.to_json()}, {})


def _read(content: Content, others: Mapping[str, Any]) -> About:
    return About.from_json(content.header[_NAME])


SECTIONS = (Section(name=_NAME, since=2, keys=(_NAME,), dtypes={}, write=_write, read=_read),)
