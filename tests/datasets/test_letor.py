"""Text files of ranked documents: MQ2008 as LETOR has it, and Yahoo!'s."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from budgetprune.datasets import YAHOO_PRICES, DatasetError, load_mq2008, load_yahoo_costs, load_yahoo_ltr


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


# --- Yahoo! -------------------------------------------------------------------------------------------------

PRICES = np.resize(YAHOO_PRICES, 519)


def _write_yahoo(folder, names=("train", "valid", "test"), documents=None, prices=PRICES):
    folder.mkdir(parents=True, exist_ok=True)
    documents = documents or [
        [_line(0, 1, {1: 0.5, 519: 0.25}), _line(4, 1, {2: 1})],
        [_line(1, 2, {7: 0.125})],
        [_line(2, 3, {1: 1}), _line(0, 4, {518: 0.5})],
    ]
    for name, lines in zip(names, documents, strict=True):
        (folder / f"{name}.txt").write_text("".join(lines))
    if prices is not None:
        np.savetxt(folder / "yahoo_cs_cost.txt", prices)


def _check_yahoo(data):
    assert data.X.shape == (5, 519)
    assert data.X.dtype == np.float32
    assert [(int(i), int(k)) for i, k in zip(*data.X.nonzero(), strict=True)] == [
        (0, 0),
        (0, 518),
        (1, 1),
        (2, 6),
        (3, 0),
        (4, 517),
    ]
    assert data.y.tolist() == [0, 4, 1, 2, 0]
    assert data.qid.tolist() == [1, 1, 2, 3, 4]
    assert data.split.tolist() == [0, 0, 1, 2, 2]
    assert np.array_equal(data.costs.resolve(519).price, PRICES)


@pytest.mark.parametrize(
    "names",
    [("train", "valid", "test"), ("set1.train", "set1.valid", "set1.test"), ("train", "vali", "test")],
)
def test_yahoo(tmp_path, names):
    _write_yahoo(tmp_path / "files", names)
    _write_yahoo(tmp_path / "files", [f"set2.{name}" for name in ("train", "valid", "test")], [[], [], []])
    data = load_yahoo_ltr(tmp_path / "files")
    _check_yahoo(data)
    assert data.note == ""


def test_yahoo_where_data_sets_are(shared):
    _write_yahoo(shared / "yahoo_ltr")
    _check_yahoo(load_yahoo_ltr())


def test_yahoo_compressed_without_validation(tmp_path):
    _write_yahoo(tmp_path)
    (tmp_path / "valid.txt").unlink()
    content = (tmp_path / "train.txt").read_bytes()
    (tmp_path / "train.txt").unlink()
    (tmp_path / "train.txt.gz").write_bytes(gzip.compress(content))
    assert load_yahoo_ltr(tmp_path).split.tolist() == [0, 0, 2, 2]


def test_features_numbered_up_to_700(tmp_path):
    numbers = np.sort(np.random.default_rng(0).choice(np.arange(1, 701), 519, replace=False))
    numbers[-1] = 700
    lines = [_line(0, 1, {int(k): 1 for k in numbers}), _line(0, 1, {int(numbers[2]): 0.5})]
    _write_yahoo(tmp_path, documents=[lines, lines, lines])
    data = load_yahoo_ltr(tmp_path)
    assert data.X.shape == (6, 519)
    assert data.X[1].nonzero()[0].tolist() == [2]
    assert "numbered anew" in data.note
    lines[0] = _line(0, 1, {int(k): 1 for k in numbers[1:]})
    _write_yahoo(tmp_path, documents=[lines, lines, lines])
    with pytest.raises(DatasetError, match="518 features that are not always 0, numbered up to 700"):
        load_yahoo_ltr(tmp_path)


def test_yahoo_not_found(tmp_path, home):
    with pytest.raises(DatasetError, match=r"Yahoo! LTR was not found.*budgetprune/yahoo_ltr.*C14B"):
        load_yahoo_ltr()
    with pytest.raises(DatasetError, match=r"there is no folder .*nowhere"):
        load_yahoo_ltr(tmp_path / "nowhere")
    (tmp_path / "files").mkdir()
    with pytest.raises(DatasetError, match="files has no train file or no test file"):
        load_yahoo_ltr(tmp_path / "files")
    _write_yahoo(tmp_path / "files", prices=None)
    with pytest.raises(DatasetError, match=r"yahoo_cs_cost\.txt was not found; it was looked for in .*files"):
        load_yahoo_ltr(tmp_path / "files")


def test_yahoo_prices(home, shared):
    with pytest.raises(DatasetError, match=r"looked for in .*shared and .*home"):
        load_yahoo_costs()
    _write_yahoo(home, prices=PRICES[::-1])
    assert np.array_equal(load_yahoo_costs(), PRICES[::-1])
    _write_yahoo(shared)
    assert np.array_equal(load_yahoo_costs(), PRICES)


@pytest.mark.parametrize("prices", [PRICES[1:], np.append(PRICES[1:], -1), np.append(PRICES[1:], np.nan)])
def test_prices_must_be_complete(shared, prices):
    _write_yahoo(shared, prices=prices)
    with pytest.raises(DatasetError, match=r"yahoo_cs_cost\.txt is damaged, .*519 prices"):
        load_yahoo_costs()
