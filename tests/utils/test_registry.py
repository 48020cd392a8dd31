"""Registries of objects by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from budgetprune import InvalidInputError
from budgetprune.forest import register_adapter
from budgetprune.losses import register_loss
from budgetprune.problem import register_error_estimate, register_solver
from budgetprune.utils.registry import Registry


@dataclass
class Thing:
    name: Any


# The registry of `test_built_in_objects_are_there` finds them here.
BUILT_IN = (Thing("one"), Thing("two"))


def test_built_in_objects_are_there_when_the_registry_is_used():
    things: Registry[Thing] = Registry("thing", (f"{__name__}:BUILT_IN",))
    assert things._objects == {}
    assert things.names == ("one", "two")
    assert list(things) == list(BUILT_IN)
    assert things.find("two") is BUILT_IN[1]


def test_names_of_built_in_objects_are_taken():
    things: Registry[Thing] = Registry("thing", (f"{__name__}:BUILT_IN",))
    with pytest.raises(InvalidInputError, match="a thing called 'one' is registered already"):
        things.register(Thing("one"))


@pytest.mark.parametrize("name", [None, "", 3, "auto"])
def test_names_are_strings_without_another_meaning(name):
    things: Registry[Thing] = Registry("thing", reserved=("auto",))
    with pytest.raises(InvalidInputError, match="the name of the thing Thing must be a string that is not"):
        things.register(Thing(name))
    assert things.names == ()


@pytest.mark.parametrize(
    "register", [register_loss, register_error_estimate, register_solver, register_adapter]
)
def test_registries_of_the_package_take_objects_of_their_kind(register):
    with pytest.raises(InvalidInputError, match=r"must be an? [A-Z][a-zA-Z]+, not a Thing"):
        register(Thing("mine"))


def test_a_class_is_not_an_object():
    things: Registry[Thing] = Registry("thing")
    with pytest.raises(InvalidInputError, match=r"write Thing\(\)"):
        things.register(Thing)
