"""JSON output of a report."""

from __future__ import annotations

import json

import pytest

from budgetprune.report import to_json

from ..models import PRUNED_NAMES, summary_of
from ..staged_cases import STAGED_CASES


@pytest.mark.parametrize("name", [*PRUNED_NAMES, *STAGED_CASES])
def test_plain_values_only(name):
    summary = summary_of(name)
    stored = json.loads(json.dumps(to_json(summary), allow_nan=False))
    assert stored["format"] == 2
    assert stored.get("model") == ("staged" if name in STAGED_CASES else None)
    assert len(stored["points"]) == len(summary.points)
    assert stored["points"][0]["decided"]["words"]["value"].startswith("Point 1 of")


@pytest.mark.parametrize("name", ["cancer", "three classes"])
def test_numbers_are_rounded(name):
    """To five significant digits, and to three where less is known."""
    for point in to_json(summary_of(name))["points"]:
        for key, n_digits in (("cost", 5), ("score", 5), ("score_error", 3)):
            number = point["decided"][key]
            assert number == float(f"{number:.{n_digits}g}")
