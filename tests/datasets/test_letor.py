"""Text files of ranked documents: MQ2008 as LETOR has it."""

from __future__ import annotations

import numpy as np
import pytest

from budgetprune.datasets import DatasetError, load_mq2008


def _line(label, qid, values, comment=""):
    """One document; features are counted from 1, and zeros may be left out."""
    return f"{label} qid:{qid} " + " ".join(f"{k}:{value:g}" for k, value in values.items()) + comment + "\n"


def _letor(n_rows, first_qid, seed):
    """Documents as LETOR has them: all 46 features, and a remark. Returns the text and the rows."""
    X = np.random.default_rng(seed).integers(0, 8, size=(n_rows, 46)) / 8
    text = "".join(
        _line(i % 3, first_qid + i // 2, dict(enumerate(row, 1)), f" #docid = GX00{i} inc = 1 prob = 0.1")
        for i, row in enumerate(X)
    )
    return text, X


@pytest.fixture(params=["MQ2008/Fold1", "Fold1", "."])
def fold(request, tmp_path):
    folder = tmp_path / "letor" / request.param
    folder.mkdir(parents=True)
    for seed, (name, n_rows) in enumerate({"train": 4, "vali": 2, "test": 3}.items()):
        (folder / f"{name}.txt").write_text(_letor(n_rows, 100 * seed, seed)[0])
    return folder


def test_mq2008_fold(fold, tmp_path):
    data = load_mq2008(tmp_path / "letor")
    assert np.array_equal(data.X, np.concatenate([_letor(n, 0, seed)[1] for seed, n in enumerate((4, 2, 3))]))
    assert data.y.tolist() == [0, 1, 2, 0, 0, 1, 0, 1, 2]
    assert data.qid.tolist() == [0, 0, 1, 1, 100, 100, 200, 200, 201]
    assert data.split.tolist() == [0] * 4 + [1] * 2 + [2] * 3
    assert (data.feature_names[0], data.feature_names[22], data.feature_names[45]) == (
        "TF_body",
        "BM25_title",
        "child_pages",
    )
    assert len(set(data.feature_names)) == 46
    assert data.note == ""
    (fold / "vali.txt").unlink()
    assert load_mq2008(tmp_path / "letor").split.tolist() == [0] * 4 + [2] * 3
    (fold / "test.txt").unlink()
    with pytest.raises(DatasetError, match="found neither"):
        load_mq2008(tmp_path / "letor")


def test_mq2008_single_file(tmp_path):
    text, X = _letor(4, 7, 0)
    (tmp_path / "all.txt").write_text(text)
    data = load_mq2008(tmp_path / "all.txt")
    assert np.array_equal(data.X, X)
    assert data.qid.tolist() == [7, 7, 8, 8]
    assert data.split is None


def test_other_numbers_of_features_are_refused(tmp_path):
    (tmp_path / "all.txt").write_text(_line(0, 1, {1: 0.5, 47: 1}))
    with pytest.raises(DatasetError, match="47 features instead of 46"):
        load_mq2008(tmp_path / "all.txt")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("<html>\n", "ValueError"),
        (_line(0.5, 1, {1: 1}), "labels must be whole numbers"),
        ("0 1:0.5 2:0.5\n", "each document must have a qid"),
        (_line(0, 1, {0: 1}), "ValueError"),
    ],
)
def test_text_in_another_format(tmp_path, text, what):
    (tmp_path / "all.txt").write_text(text)
    with pytest.raises(DatasetError, match=rf"all\.txt is damaged, .*{what}"):
        load_mq2008(tmp_path / "all.txt")
