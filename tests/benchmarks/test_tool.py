"""The benchmark of the tool runs, at a size that says nothing about speed."""

from __future__ import annotations

import pytest

from benchmarks import tool


def test_the_table_is_what_people_have():
    frame = tool.table(2000, 30)
    assert frame.shape == (2000, 30)
    assert 80 < len(frame.to_csv(index=False)) / 2000 < 120  # 200,000 rows are about 20 MB
    assert 0.03 < frame.isna().to_numpy().mean() < 0.06
    assert set(frame["ill"]) == {"no", "yes"}


def test_it_runs(capsys, monkeypatch):
    told = {"compared": {name: {"score": 0.5, "cost": 1.0} for name in ("chosen", "whole")}}

    def fit(data, folder, words):
        (folder / "model.budgetprune").write_bytes(b"0" * 1000)
        assert data.exists()
        assert words[:1] == ["--trees"]
        return told

    monkeypatch.setattr(tool, "fit", fit)
    assert tool.main(["--rows", "1000", "--trees", "2"]) == 0
    out = capsys.readouterr().out
    assert "budgetprune fit / the plain forest" in out
    assert "the model file: 0.001 MB" in out
    with pytest.raises(SystemExit):
        tool.main(["--rows", "10"])
