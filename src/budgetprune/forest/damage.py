"""Errors for inconsistent models: damaged or modified files and arrays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import BudgetPruneError, InvalidInputError
from budgetprune.forest.checks import NotAForestError


def damaged(what: str) -> InvalidInputError:
    """Create the error for a damaged model."""
    return InvalidInputError(f"this model is damaged: {what}. Save or copy it again, or train it anew.")


def check_model(is_fine: bool, what: str) -> None:
    """Raise unless a property of the whole model holds."""
    if not is_fine:
        raise damaged(what)


def check_nodes(
    tree_start: NDArray[np.int64], is_fine: NDArray[np.bool_], what: str, found: NDArray[Any] | None = None
) -> None:
    """Raise at the first node where a property does not hold, naming the node and its tree.

    Parameters
    ----------
    tree_start : offsets of each tree's nodes
    is_fine : of each node
    what : verb phrase about the node; "{}" stands for what was found there
    found : of each node, for the message
    """
    if np.all(is_fine):
        return
    h = int(np.argmin(is_fine))
    tree = int(np.searchsorted(tree_start, h, side="right")) - 1
    told = what if found is None else what.format(found[h])
    raise damaged(f"node {h - int(tree_start[tree])} of tree {tree} {told}")


@contextmanager
def errors_as_damage(name: str) -> Iterator[None]:
    """Convert errors while reading a model to the error that the model is damaged.

    Importers check sizes and indices before they use them. A hostile model may hold arbitrary objects instead
    of numbers or names, so errors of Python and numpy count as damage too.

    Parameters
    ----------
    name : name of the model in the message
    """
    try:
        # Invalid numbers may overflow in between; the result is checked.
        with np.errstate(all="ignore"):
            yield
    except NotAForestError as error:
        raise damaged(str(error).rstrip(".")) from error
    except BudgetPruneError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise damaged(
            f"the parts of this {name} do not fit together ({type(error).__name__}: {error})"
        ) from error
