"""Checks of output files before any work."""

from __future__ import annotations

from .commands import FOREST, check_refused


def test_what_is_read_is_not_overwritten(files, run, tmp_path):
    for name in ("data", "costs", "model"):
        (tmp_path / name).with_suffix(".csv").write_bytes(getattr(files, name).read_bytes())
    data, costs, model = (tmp_path / f"{name}.csv" for name in ("data", "costs", "model"))
    for words in (
        [*FOREST, data, "--target", "ill", "--out", data],
        [*FOREST, data, "--target", "ill", "--costs", costs, "--out", costs],
        [*FOREST, data, "--target", "ill", "--test", costs, "--out", tmp_path / "." / "costs.csv"],
        ["predict", model, data, "--out", data],
        ["path", model, "--out", model],
        ["report", model, "--data", data, "--out", model],
        ["costs", "init", data, "--target", "ill", "--out", data, "--force"],
    ):
        check_refused(run(*words), "would replace what is read from there; name another file")
    for name, file in (("data", data), ("costs", costs), ("model", model)):
        assert file.read_bytes() == getattr(files, name).read_bytes()


def test_a_folder_that_nothing_can_be_written_to(files, run, monkeypatch):
    import budgetprune.utils.files as _files

    def refuse(*_where):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(_files, "_open_draft", refuse)
    words = [*FOREST, files.data, "--target", "ill", "--out", files.folder / "m"]
    check_refused(run(*words), r"nothing can be written to .*\(Permission denied\); name a file in another")


def test_nothing_is_computed_for_nobody(files, run):
    check_refused(run("predict", files.model, files.test, "--quiet"), "add --out or --json")
    check_refused(run("costs", "init", files.data, "--target", "ill", "--quiet"), "add --out or --json")
