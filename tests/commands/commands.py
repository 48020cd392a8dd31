"""Call the command line in this process, and a table to call it with."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

from budgetprune import cli


class Said(NamedTuple):
    """How a command ended, and what it printed."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.status == 0, self.err
        assert self.out.count("\n") == 1
        return json.loads(self.out)


Run = Callable[..., Said]


def runner(capfd: pytest.CaptureFixture[str]) -> Run:
    """A function that calls the command line as the console script does."""

    def run(*words: Any) -> Said:
        capfd.readouterr()
        with pytest.raises(SystemExit) as end:
            cli.main([str(word) for word in words])
        said = capfd.readouterr()
        assert "Traceback" not in said.err
        return Said(end.value.code, said.out, said.err)

    return run


def check_refused(said: Said, words: str, status: int = 2) -> None:
    """One line on standard error that says what is wrong, and nothing on standard output."""
    assert said.status == status, said
    assert said.out == ""
    last = said.err.splitlines()[-1]
    assert re.match(rf"budgetprune: error: .*{words}", last), said.err
    assert said.err.count("budgetprune: error:") == 1


# The first words of tests that are about pruned models.
FOREST = ("fit", "--model", "random-forest")

TOWNS = ("Aix", "Bonn", "Caen", "Delft", "Essen")

COSTS = """feature,cost,source
age,1,
town,2,
smoker,1,
grade,0,
lab,4,blood draw
marker,3,blood draw
,5,blood draw
"""


def patients(n_rows: int = 500, seed: int = 0) -> pd.DataFrame:
    """Numbers and categories, both with gaps; where somebody is from matters, and so do lab values."""
    rng = np.random.default_rng(seed)
    town = rng.integers(5, size=n_rows)
    age, lab, marker = rng.integers(20, 90, n_rows), rng.normal(size=n_rows), rng.normal(size=n_rows)
    smoker = rng.random(n_rows) < 0.4
    risk = (age - 55) / 20 + np.array([2, -2, 1, -1, 0])[town] + 2 * lab + 0.5 * marker + smoker
    risk += rng.normal(scale=0.5, size=n_rows)
    frame = pd.DataFrame(
        {
            "age": age.astype(float),
            "town": np.array(TOWNS)[town],
            "smoker": smoker,
            "grade": rng.integers(1, 4, n_rows),
            "lab": lab.round(4),
            "marker": marker.round(4),
        }
    )
    frame.loc[rng.random(n_rows) < 0.1, "age"] = np.nan
    frame.loc[rng.random(n_rows) < 0.1, "town"] = None
    return frame.assign(ill=np.where(risk > 0.4, "yes", "no"), risk=risk.round(4))


HINT_COSTS = "feature,cost\nhint,1\nexam,1.2\n"


def hints(n_rows: int = 700) -> pd.DataFrame:
    """A cheap column that says little, and an expensive one that says nearly all."""
    rng = np.random.default_rng(0)
    ill = rng.random(n_rows) < 0.5
    return pd.DataFrame(
        {
            "hint": np.where(rng.random(n_rows) < 0.65, ill, ~ill) + 0.1 * rng.normal(size=n_rows),
            "exam": ill + 0.1 * rng.normal(size=n_rows),
            "ill": np.where(ill, "yes", "no"),
        }
    )
