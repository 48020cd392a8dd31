"""``--out``: devices, pipes, links, permissions, and names that are refused before any work."""

from __future__ import annotations

import csv
import io
import os
import shutil
import stat
import subprocess
import sys
import threading

import pytest

from budgetprune.workflow import ensembles

from .commands import FOREST, check_refused

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="files of POSIX")


@pytest.fixture
def no_training(monkeypatch):
    def grow(*_args, **_how):
        raise AssertionError("a tree was grown, though the result cannot be written")

    monkeypatch.setattr(ensembles, "train_ensemble", grow)


@pytest.mark.usefixtures("no_training")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a" * 300, "is too long for the file system; name a file with a shorter name"),
        ("there", "is a folder; name a file in it"),
        ("link", "is a folder; name a file in it"),
        ("nowhere/m", "there is no folder .*nowhere to write m to; make it first"),
        ("dangling", "there is no folder .*nowhere to write dangling to; make it first"),
        ("file/m", r"nothing can be written to .*file \(Not a directory\)"),
    ],
)
def test_names_are_refused_before_any_work(files, run, tmp_path, name, words):
    (tmp_path / "there").mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "there")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere" / "m")
    check_refused(run(*FOREST, files.data, "--target", "ill", "--out", tmp_path / name), words)


def test_a_long_name_is_written(files, run, tmp_path):
    out = tmp_path / ("p" * 239)
    assert run("predict", files.model, files.test, "--out", out).status == 0
    assert out.read_text().startswith("label,probability")
    assert list(tmp_path.iterdir()) == [out]


def test_what_is_read_is_not_overwritten_through_a_link(files, run, tmp_path):
    data, link = tmp_path / "data.csv", tmp_path / "link.csv"
    shutil.copy(files.data, data)
    link.symlink_to(data)
    for given, out in ((data, link), (link, data)):
        said = run("predict", files.model, given, "--out", out)
        check_refused(said, "would replace what is read from there; name another file")
    assert data.read_bytes() == files.data.read_bytes()


def test_links_and_permissions_stay(files, run, tmp_path):
    target, link = tmp_path / "predictions.csv", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to(target)
    assert run("predict", files.model, files.test, "--out", link).status == 0
    assert link.is_symlink()
    assert target.read_text().startswith("label,probability")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_a_model_goes_through_a_pipe(files, run, tmp_path):
    pipe, received = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    words = [*FOREST, files.data, "--target", "ill", "--costs", files.costs, "--budget", 13.5, "--trees", 12]
    assert run(*words, "--test", files.test, "--out", pipe, "--quiet") == (0, "", "")
    reader.join(60)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert received == [files.model.read_bytes()]


# --- Standard output ----------------------------------------------------------------------------------------


def test_standard_output_holds_the_file_and_nothing_else(files, run, tmp_path):
    said = run("predict", files.model, files.test, "--out", "/dev/stdout")
    assert said.status == 0
    assert len(list(csv.DictReader(io.StringIO(said.out)))) == 300
    assert said.out == run("predict", files.model, files.test).out
    assert "300 predictions cost" in said.err
    assert "Written: /dev/stdout" in said.err
    said = run("costs", "init", files.data, "--target", "ill", "--out", "/dev/stdout")
    assert said.out == run("costs", "init", files.data, "--target", "ill").out
    said = run("path", files.model, "--out", "/dev/stdout")
    assert said.out.startswith("lam,splits,cost,error,accuracy\n")
    assert "points. Written" in said.err


def test_json_and_a_file_do_not_share_standard_output(files, run):
    words = ["predict", files.model, files.test, "--out", "/dev/stdout", "--json"]
    check_refused(run(*words), "--json and --out /dev/stdout both write to standard output; leave one out")


def test_a_model_on_standard_output_follows_what_is_there(files, tmp_path):
    """``(printf first; budgetprune fit ...) > file``, with a file that the shell has opened."""
    words = [*FOREST, files.data, "--target", "ill", "--costs", files.costs, "--budget", 13.5, "--trees", 12]
    words += ["--test", files.test, "--out", "/dev/stdout"]
    with open(tmp_path / "m", "wb") as handle:
        handle.write(b"first")
        handle.flush()
        done = subprocess.run(
            [sys.executable, "-m", "budgetprune", *map(str, words)],
            stdout=handle,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 0, done.stderr
    assert "your model" in done.stderr
    assert (tmp_path / "m").read_bytes() == b"first" + files.model.read_bytes()


def test_the_demo_looks_at_its_folder_before_any_work(run, tmp_path, monkeypatch):
    from budgetprune import demo

    def work(*_how):
        raise AssertionError("a forest was trained, though the picture cannot be written")

    monkeypatch.setattr(demo, "train", work)
    (tmp_path / demo.PICTURE).mkdir()
    said = run("demo", "--out", tmp_path)
    assert said.status == 1
    assert "Is a directory" in said.err


def test_out_that_is_no_file_is_named(run, files, tmp_path):
    """The folder is not to blame."""
    (tmp_path / "link").symlink_to(tmp_path / "link")
    for out in ("/dev/fd/98765", tmp_path / "link"):
        said = run("predict", files.model, files.test, "--out", out)
        check_refused(said, f"nothing can be written to {out} ")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_device_is_named(run, files):
    said = run("predict", files.model, files.test, "--out", "/dev/full")
    check_refused(said, "/dev/full", status=1)
