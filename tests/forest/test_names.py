"""Feature names as the user gives them and as libraries store them."""

from __future__ import annotations

import pytest

from budgetprune.forest.names import are_stored_names, original_names

pytestmark = pytest.mark.uncompiled


def test_names_match_as_given_or_as_a_library_stores_them():
    assert are_stored_names(("a b", "c"), ("a b", "c"))
    assert are_stored_names(("a_b", "c"), ("a b", "c"))
    assert not are_stored_names(("a b", "c"), ("a_b", "c"))
    assert not are_stored_names(("c", "a_b"), ("a b", "c"))


def test_stored_names_become_columns_again():
    assert original_names(("a_b", "c", "d"), ["c", "a b", "e"]) == ("a b", "c", "d")


def test_a_column_of_that_name_goes_first():
    assert original_names(("a_b",), ["a_b", "a b"]) == ("a_b",)
