"""What docs/serving.md says is true: its client works, and its endpoints and options exist."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from budgetprune import BudgetPredictor
from budgetprune.commands.serve import ServeArguments
from budgetprune.service import ServerOptions, supervisor
from budgetprune.service.columns import MOST_SOURCES, Columns
from budgetprune.service.counts import Counts, OwnRow
from budgetprune.service.endpoints import ENDPOINTS
from budgetprune.service.metrics import Metrics
from budgetprune.service.model_description import ModelDescription
from budgetprune.service.scheduling import TIME_SLICE
from budgetprune.service.server import ARRIVING
from budgetprune.utils.limits import MOST_CONNECTIONS, RESERVE, Limits

from .models import predictor, rows

TEXT = (Path(__file__).parents[2] / "docs" / "serving.md").read_text(encoding="utf-8")
CLIENT, STREAM, APP = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)


def test_the_client_works(service):
    names: dict = {}
    exec(compile(CLIENT, "serving.md", "exec"), names)
    model, row = predictor("classes"), rows("classes", 1)[0]

    needs = {name: {s for s in model.source_names if name in model.features_of(s)} for name in row}
    had = set()

    def fetch(source):
        had.add(source)
        return {name: row[name] for name in model.features_of(source) if needs[name] <= had}

    answer = names["decide"](fetch, service.url)
    expected = model.decide(row)
    assert (answer["label"], answer["acquired"]) == (expected.label, list(expected.acquired))


def test_the_client_of_streams_works(service):
    """More answers than fit into buffers."""
    names: dict = {}
    exec(compile(STREAM, "serving.md", "exec"), names)
    some = rows("classes", 20)
    expected = [predictor("classes").decide(row).cost for row in some]
    n = 400
    answers = names["stream"](some * n, service.host, service.port)
    assert [answer["cost"] for answer in answers] == expected * n
    with pytest.raises(OSError, match="see /openapi"):
        next(names["stream"]([], service.host, service.port, "/v1/nowhere"))


def test_the_app_is_made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    predictor("averaged").save("model.budgetprune")
    names: dict = {}
    exec(compile(APP, "serving.md", "exec"), names)
    assert names["app"].title == "budgetprune"
    assert names["BudgetPredictor"] is BudgetPredictor


def test_endpoints_and_limits():
    told = set(re.findall(r"`(?:GET|POST) (/[\w/.]+)`", TEXT))
    assert told == {*ENDPOINTS, "/openapi.json"}
    assert f"`--max-batch` rows ({Limits.batch_rows})" in TEXT
    assert f"`--max-body` ({Limits.body // 2**20} MiB)" in TEXT
    assert f"`--max-batch-body` ({Limits.batch_body // 2**20} MiB)" in TEXT
    assert (
        f"`--max-header-bytes` ({Limits.header_bytes // 2**10} KiB) or `--max-headers` ({Limits.headers})"
        in TEXT
    )
    assert f"`--max-streams` ({Limits.streams})" in TEXT
    assert f"nested deeper than {Limits.depth}." in TEXT
    assert f"More than {Limits.containers} lists and objects" in TEXT
    assert f"({Limits.all_bodies // 2**20} MiB in all)" in TEXT
    assert f"from the {MOST_SOURCES + 1}st source" in TEXT


def test_connections():
    for option, seconds in (
        ("--header-timeout", Limits.header_timeout),
        ("--body-timeout", Limits.body_timeout),
        ("--keep-alive", Limits.keep_alive),
    ):
        assert f"| `{option}` | {seconds:g} s |" in TEXT
    assert f"| `--max-connections` | {MOST_CONNECTIONS} |" in TEXT
    assert f"fewer than {MOST_CONNECTIONS + RESERVE} descriptors" in TEXT
    assert f"of which {RESERVE} are kept" in TEXT
    assert f"`--drain` seconds ({ServerOptions().drain})" in TEXT
    assert f"`--grace` seconds ({ServerOptions().grace})" in TEXT
    assert f"within {ARRIVING} s" in TEXT
    assert f"time slices of {1000 * TIME_SLICE:g} ms" in TEXT


def test_workers():
    assert (
        f"at once if it served for {supervisor.STABLE:g} s, else after {supervisor.FIRST_DELAY:g} s" in TEXT
    )
    assert f"each time up to {supervisor.LONGEST_DELAY:g} s" in TEXT
    assert f"do not end within {supervisor.ENDING:g} s after `--grace`" in TEXT
    assert supervisor.MOST_FAILURES == 3
    assert "three replacements in a row fail" in TEXT


def test_counters_are_told():
    """Every metric of a server, and no other."""
    description = ModelDescription(predictor("classes"))
    row = OwnRow(Counts(1, Columns(description).n_columns))
    text = Metrics(description, row).text().decode()
    names = set(re.findall(r"^# HELP (\w+)", text, flags=re.M))
    assert set(re.findall(r"`(budgetprune_\w+)(?:\{[\w,]+\})?`", TEXT)) == names


def test_options():
    """Every option of the command is told."""
    options = set(re.findall(r"`(--[\w-]+)", TEXT))
    known = {"--" + name.replace("_", "-") for name in inspect.signature(ServeArguments).parameters} - {
        "--model"
    }
    assert options <= known
    assert known - options == {"--log-level"}
