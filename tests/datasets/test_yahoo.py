"""Yahoo! LTR: text files of ranked documents, and prices of features."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from budgetprune.datasets import YAHOO_PRICES, DatasetError, load_yahoo_costs, load_yahoo_ltr

from .test_letor import _line

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
    assert "renumbered" in data.note
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
