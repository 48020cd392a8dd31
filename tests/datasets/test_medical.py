"""Thyroid and heart disease: the UCI repository's files, and prices that are shared."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from urllib.error import URLError

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from budgetprune.baselines.plain import PlainForest
from budgetprune.datasets import DatasetError, load_heart, load_thyroid
from budgetprune.datasets import loader as _loader
from budgetprune.datasets import medical as _medical
from budgetprune.datasets.loader import digest

from .conftest import save

THYROID = {
    "ann-train.data": "0.5 0 1 0 0 0 0 0 1 0 0 0 0 0 0 0 0.001 0.02 0.1 0.08 0.125 3  \n"
    "0.25 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0.002 0.03 0.2 0.16 0.25 1  \n",
    "ann-test.data": "0.75 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0.003 0.01 0.3 0.1 0.5 2  \n",
}
HEART = {
    "processed.cleveland.data": "63.0,1.0,1.0,145.0,233.0,1.0,2.0,150.0,0.0,2.3,3.0,0.0,6.0,0\n"
    "53.0,0.0,3.0,128.0,216.0,0.0,2.0,115.0,0.0,0.0,1.0,0.0,?,0\n"
    "67.0,1.0,4.0,160.0,286.0,0.0,2.0,108.0,1.0,1.5,2.0,3.0,3.0,2\n"
}


@pytest.fixture
def known(monkeypatch):
    """Take the tiny files above for the real ones."""
    thyroid = digest(_medical._parse_thyroid(*(text.encode() for text in THYROID.values())))
    heart = digest(_medical._parse_heart(*(text.encode() for text in HEART.values())))
    monkeypatch.setattr(_medical, "_THYROID", replace(_medical._THYROID, digest=thyroid))
    monkeypatch.setattr(_medical, "_HEART", replace(_medical._HEART, digest=heart))


@pytest.fixture
def uci(monkeypatch):
    """Stand in for the UCI repository; returns the addresses that were asked for."""
    asked = []

    def answer(url, timeout):
        asked.append(url)
        assert timeout > 0
        return BytesIO((THYROID | HEART)[url.rsplit("/", 1)[1]].encode())

    monkeypatch.setattr(_loader, "urlopen", answer)
    return asked


def _write(folder, files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)


def _needs(data):
    """What each feature needs, and what each source costs."""
    table = data.costs.resolve(len(data.feature_names))
    needs = np.split(np.array(table.source_names)[table.needs], table.needs_start[1:-1])
    return (
        {name: set(sources.tolist()) for name, sources in zip(data.feature_names, needs, strict=True)},
        dict(zip(table.source_names, table.price.tolist(), strict=True)),
    )


@pytest.mark.usefixtures("known")
def test_thyroid(uci, home):
    data = load_thyroid()
    assert [url.rsplit("/", 2)[1:] for url in uci] == [
        ["thyroid-disease", "ann-train.data"],
        ["thyroid-disease", "ann-test.data"],
    ]
    assert all(url.startswith("https://") for url in uci)
    assert data.X.shape == (3, 21)
    assert data.X[:, 0].tolist() == [0.5, 0.25, 0.75]
    assert data.y.tolist() == [3, 1, 2]
    assert data.split.tolist() == [0, 0, 2]
    assert data.feature_names[15:] == ("psych", "TSH", "T3", "TT4", "T4U", "FTI")
    assert "Canadian dollars" in data.note
    again = load_thyroid(download=False)
    assert np.array_equal(again.X, data.X)
    assert again.split.tolist() == [0, 0, 2]
    assert _needs(again) == _needs(data)


@pytest.mark.usefixtures("known")
def test_heart_without_missing_values(uci):
    data = load_heart()
    assert uci[0].endswith("/heart-disease/processed.cleveland.data")
    assert data.X[:, 0].tolist() == [63, 67]
    assert data.y.tolist() == [0, 2]
    assert data.split is None
    assert data.feature_names[-2:] == ("ca", "thal")


@pytest.mark.usefixtures("known")
def test_files_that_a_user_has(shared):
    _write(shared, THYROID | HEART)
    assert load_thyroid(download=False).y.tolist() == [3, 1, 2]
    assert load_heart(download=False).y.tolist() == [0, 2]


@pytest.mark.usefixtures("uci")
def test_these_are_not_the_real_files(shared):
    for load in (load_thyroid, load_heart):
        with pytest.raises(DatasetError, match=r"the download of .* is not the .* data"):
            load()
    _write(shared, THYROID)
    with pytest.raises(DatasetError, match=r"the data in .*shared is not the thyroid data"):
        load_thyroid()


def test_one_file_of_two_is_not_enough(shared):
    _write(shared, {"ann-train.data": THYROID["ann-train.data"]})
    with pytest.raises(DatasetError, match=r"ann_thyroid\.npz was found neither"):
        load_thyroid(download=False)


@pytest.mark.parametrize(
    "text", ["<html>moved</html>", "1 2 3\n", THYROID["ann-train.data"].replace("  \n", "")]
)
def test_files_in_another_format(shared, text):
    _write(shared, {"ann-train.data": text, "ann-test.data": text})
    with pytest.raises(DatasetError, match=r"ann-train\.data is damaged, or not in the format"):
        load_thyroid()


def test_endless_answer(monkeypatch):
    monkeypatch.setattr(_loader, "_LARGEST", 10)
    monkeypatch.setattr(_loader, "urlopen", lambda url, timeout: BytesIO(b"0" * 100))
    with pytest.raises(DatasetError, match="larger than 10 bytes"):
        load_heart()


def test_offline(monkeypatch, home):
    def unreachable(url, timeout):
        raise URLError("no route to host")

    monkeypatch.setattr(_loader, "urlopen", unreachable)
    with pytest.raises(
        DatasetError, match=r"thyroid could not be fetched .*no route.*Get ann-train"
    ) as caught:
        load_thyroid()
    assert str(home) in str(caught.value)


# --- Prices -------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("known", "uci")
def test_blood_is_drawn_once_and_the_index_needs_two_tests():
    needs, prices = _needs(load_thyroid())
    assert needs["TSH"] == {"TSH", "blood draw"}
    assert needs["T3"] == {"T3", "blood draw"}
    assert needs["FTI"] == {"TT4", "T4U", "blood draw"}
    assert needs["goitre"] == {"goitre"}
    assert "FTI" not in prices
    assert prices["blood draw"] == 2.1
    assert (prices["TSH"], prices["T3"], prices["TT4"], prices["T4U"]) == (20.68, 9.31, 12.41, 9.31)
    assert prices["age"] == 1
    assert sum(prices.values()) == pytest.approx(16 + 2.1 + 20.68 + 9.31 + 12.41 + 9.31)


@pytest.mark.usefixtures("known", "uci")
def test_procedures_that_several_tests_are_read_off():
    needs, prices = _needs(load_heart())
    assert needs["chol"] == {"chol", "blood draw"}
    assert needs["exang"] == {"exang", "exercise ECG"}
    assert needs["thal"] == {"thal", "thallium stress test"}
    assert needs["ca"] == {"ca"}
    assert (prices["exercise ECG"], prices["thallium stress test"], prices["ca"]) == (86.3, 101.9, 100.9)
    # Alone, a test costs what was published: its own part, and the part that it shares.
    alone = {name: sum(prices[source] for source in needs[name]) for name in needs}
    assert alone["chol"] == pytest.approx(7.27)
    assert alone["fbs"] == pytest.approx(5.2)
    assert alone["slope"] == pytest.approx(87.3)
    assert alone["thalach"] == pytest.approx(102.9)


def test_prices_of_a_file_are_used(shared, any_rows):
    save(
        shared / "heart_cleveland.npz",
        costs=np.array([1.0, 5.1, 7.1]),
        discount_costs=np.array([1.0, 2.0, 4.0]),
        groups=np.array(["none", "blood", "blood"]),
    )
    needs, prices = _needs(load_heart())
    assert prices == {"feature 0": 1, "feature 1": 2, "feature 2": 4, "blood draw": 3.1}
    assert needs["feature 2"] == {"feature 2", "blood draw"}


def test_file_without_prices_has_the_published_ones(shared, any_rows):
    save(shared / "ann_thyroid.npz", n_features=2, feature_names=np.array(["age", "TSH"]))
    needs, prices = _needs(load_thyroid())
    assert needs == {"age": {"age"}, "TSH": {"TSH", "blood draw"}}
    assert prices == {"age": 1, "TSH": 20.68, "blood draw": 2.1}


def test_unknown_features_have_no_price(shared, any_rows):
    save(shared / "ann_thyroid.npz")
    with pytest.raises(DatasetError, match="no published prices for 'feature 0', 'feature 1'"):
        load_thyroid()


@pytest.mark.usefixtures("known", "uci")
def test_prices_fit_the_rows_as_they_are():
    data = load_heart()
    clf = PlainForest(RandomForestClassifier(2, random_state=0), costs=data.costs).fit(data.X, data.y)
    assert (clf.acquisition_cost(data.X) > 0).any()
