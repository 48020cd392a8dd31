"""The benchmark of the service runs, at a size that says nothing about speed."""

from __future__ import annotations

import re

import pytest

from benchmarks import service


@pytest.fixture
def few_rows(monkeypatch):
    """Train on few rows: the benchmark's own take most of the time, and prove nothing here."""
    X, y = service.rows_of_miniboone()
    monkeypatch.setattr(service, "rows_of_miniboone", lambda: (X[:2000], y[:2000]))


@pytest.mark.usefixtures("few_rows")
def test_it_prints_the_ratio(capfd):
    small = ["--trees", "3", "--requests", "40", "--rounds", "1", "--connections", "2"]
    assert service.main(small) == 0
    said = capfd.readouterr().out
    ratio = re.search(r"^decisions per second / empty requests per second: (\S+) x (ok|falls short) ", said)
    assert ratio, said
    assert float(ratio[1]) > 0
    assert "steps per second" in said


@pytest.mark.parametrize("option", ["--trees", "--requests", "--rounds", "--connections"])
def test_options_that_make_no_sense(capfd, option):
    with pytest.raises(SystemExit):
        service.main([option, "0"])
    assert f"{option} must be at least 1" in capfd.readouterr().err


@pytest.mark.usefixtures("few_rows")
def test_what_is_asked(tmp_path):
    requests = service.prepare(tmp_path / "model", n_trees=2)
    assert all(request.startswith((b"GET ", b"POST ")) for asked in requests.values() for request in asked)
    assert {len(asked) for asked in requests.values()} == {1, 1000}
