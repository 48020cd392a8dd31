"""Price lists: what people write is understood, or refused with the line it is in."""

from __future__ import annotations

import pandas as pd
import pytest

from budgetprune import InvalidInputError
from budgetprune.workflow.column_costs import with_keys
from budgetprune.workflow.tables import Columns, PriceList, price_list_template, read_price_list

CLINIC = """feature,cost,source,note
age,0
TSH,4,blood draw,"a hormone, too"
T3,3,blood draw

FTI,0,TSH; T3
scan,20,blood draw;clinic
,10,blood draw
,5,clinic
"""


@pytest.fixture
def prices(tmp_path):
    def write(text):
        (tmp_path / "costs.csv").write_text(text)
        return read_price_list(tmp_path / "costs.csv")

    return write


def test_shared_and_derived(prices):
    names = ["age", "TSH", "T3", "FTI", "scan"]
    table = prices(CLINIC).for_features(names).resolve(5, names)
    assert dict(zip(table.source_names, table.price, strict=True)) == {
        "TSH": 4,
        "T3": 3,
        "scan": 20,
        "blood draw": 10,
        "clinic": 5,
    }
    # Age is free; the index needs both hormones, and so the draw, which is paid for once.
    assert table.price_alone.tolist() == [0, 14, 13, 17, 35]
    assert table.total([[True, True, False, True, False]]).tolist() == [17]


def test_by_number_and_without_columns_that_were_dropped(prices):
    own = prices("feature,cost,source\na,1,\nb,2,\nc,0,b\n")
    names = ["a", "c"]
    table = with_keys(own.for_features(names), names, [0, 1]).resolve(2)
    assert table.source_names == ("a", "b")
    assert table.price_alone.tolist() == [1, 2]  # b is dropped, but c is made of it


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "feature,price\na,1\n",
            "has the columns 'feature', 'price', but a price list has 'feature' and 'cost'",
        ),
        ("a,1\nb,2\n", "but a price list has"),
        ("feature,cost,cost\na,1,2\n", "but a price list has"),
        ("feature,cost\na,1\na,2\n", "line 3 of .* has a second cost for 'a'"),
        (
            "feature,cost\na,-1\n",
            "the cost of 'a' in line 2 of .* is '-1', but must be a number of at least 0",
        ),
        ("feature,cost\na,cheap\n", "is 'cheap', but must be a number"),
        ("feature,cost\na,nan\n", "is 'nan', but must be"),
        ("feature,cost\na,inf\n", "is 'inf', but must be"),
        ("feature,cost\na,1e308\n", "is '1e308', but must be 0 or from 1e-50 to 1e.50; use another unit"),
        ("feature,cost\na,5e-324\n", "is '5e-324', but must be 0 or from"),
        (
            "feature,cost\na,1,5\n",
            "line 2 of .* has 3 fields, but the first one has 2; .* 2.5 rather than 2,5",
        ),
        ("feature,cost\na,\nb,1\nc,\n", "has no cost yet for 'a', 'c'; fill them in"),
        ("feature,cost\n", "has no costs"),
        (
            "feature,cost,source\na,1,lab\n",
            "has no cost for 'lab', which 'a' needs; add a line `,<",
        ),
        ("feature,cost,source\na,1,lab\n,2,a\n,3,lab\n", "'a' as a feature and as a source"),
        ("feature,cost,source\n,1,\n", "line 2 of .* has no feature; write one, or the one source"),
        ("", "first line is empty"),
    ],
)
def test_lists_that_are_refused(prices, text, words):
    with pytest.raises(InvalidInputError, match=words) as caught:
        prices(text)
    assert "costs.csv" in str(caught.value)


@pytest.mark.parametrize(
    ("names", "dropped", "words"),
    [
        (["a"], [], "costs for columns that the data lacks: 'b'; .*The columns are 'a'"),
        (["a", "b", "c", "d"], [], "no cost for 2 of 4 columns: 'c', 'd'; .*--drop c"),
        (["b", "c"], ["a"], "no cost for 1 of 2 columns: 'c'"),
    ],
)
def test_prices_and_columns_must_fit(names, dropped, words):
    with pytest.raises(InvalidInputError, match=words):
        PriceList({"a": 1, "b": 2}).check(names, target="y", dropped=dropped, file="costs.csv")


def test_the_target_is_not_bought():
    with pytest.raises(InvalidInputError, match="a cost for 'y', which is the target"):
        PriceList({"a": 1, "y": 2}).check(["a"], target="y", dropped=(), file="costs.csv")


def test_columns_that_need_each_other_end():
    both = PriceList({"a": 1, "b": 2}, needs={"a": ("b",), "b": ("a",)})
    assert both.for_features(["a", "b"]).resolve(2, ["a", "b"]).price_alone.tolist() == [3, 3]


def test_a_template_can_be_filled_in(prices):
    frame = pd.DataFrame({'a, "b"': [1.0, 2.5, None], "c": pd.Categorical(["x", "y", "x"]), "d": [None] * 3})
    columns = Columns(frame.astype({"d": float}))
    text = price_list_template(columns)
    assert text.splitlines()[0] == "feature,cost,source,note"
    assert "numbers from 1 to 2.5; 33 % missing" in text
    assert "2 categories: x, y" in text
    assert "always missing" in text
    with pytest.raises(InvalidInputError, match="no cost yet for 'a, \"b\"', 'c', 'd'"):
        prices(text)
    filled = text.replace(",,,", ",7,,")
    assert prices(filled).own == {'a, "b"': 7, "c": 7, "d": 7}


def test_sources_that_no_feature_needs(prices):
    """They are an error for new models, but may belong to features that an existing model lacks."""
    read = prices("feature,cost,source\na,1,\n,5,draw\n")
    with pytest.raises(InvalidInputError, match="has a price for 'draw', which no feature needs"):
        read.check(["a"], target="y", dropped=(), file="costs.csv")
    read.check(["a"], target="y", dropped=(), file="costs.csv", others=("b",))
    assert read.for_features(["a"]).resolve(1, ("a",)).price_alone.tolist() == [1.0]


def test_what_spreadsheets_write(prices):
    assert prices("Feature;Cost;;\na;1;;\nb;2,5;;\n".replace("2,5", "2.5")).own == {"a": 1, "b": 2.5}


def test_decimal_commas(prices):
    assert prices("feature;cost\na;12,50\nb;2,5\nc;3.25\n").own == {"a": 12.5, "b": 2.5, "c": 3.25}
    for text in ("feature;cost\na;1,250\n", 'feature,cost\na,"12,50"\n'):
        with pytest.raises(InvalidInputError, match="write a decimal point, and nothing between thousands"):
            prices(text)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("a,1_000,", "the cost of 'a' in line 2 of .* is '1_000'"),
        ("a,0,b\nb,0,a", "says that 'a' needs itself, through 'b'"),
    ],
)
def test_what_makes_no_sense(prices, lines, words):
    with pytest.raises(InvalidInputError, match=words):
        prices(f"feature,cost,source\n{lines}\n")
