"""Sections of model files that hold the metadata of a model; details have one of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from budgetprune.model.about import About
from budgetprune.persistence import Content, Section

_NAME, _DETAILS = "about", "details"


def _write(about: About, others: Mapping[str, Any]) -> Content:
    return Content({_NAME: about.to_json()}, {})


def _read(content: Content, others: Mapping[str, Any]) -> About:
    return About.from_json(content.header[_NAME])


def _write_details(details: Mapping[str, Any], others: Mapping[str, Any]) -> Content:
    return Content({_DETAILS: dict(details)}, {})


def _read_details(content: Content, others: Mapping[str, Any]) -> Any:
    return content.header[_DETAILS]  # `About.with_details` checks them


SECTIONS = (
    Section(name=_NAME, since=2, keys=(_NAME,), dtypes={}, write=_write, read=_read),
    Section(name=_DETAILS, since=5, keys=(_DETAILS,), dtypes={}, write=_write_details, read=_read_details),
)
