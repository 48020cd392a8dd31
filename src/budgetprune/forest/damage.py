"""Errors for models whose parts do not fit together: damaged files, or arrays that were tampered with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import BudgetPruneError, InvalidInputError
from budgetprune.forest.checks import NotAForestError


def damaged(what: str) -> InvalidInputError:
    """Make the error that a model is damaged, and how."""
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
    """Turn what goes wrong with a model's parts into the error that the model is damaged.

    Importers check sizes and indices before they use them. A hostile model may hold anything else instead of
    a number or a name, so errors of Python and numpy on the way count as damage too.

    Parameters
    ----------
    name : what the model is called in the message
    """
    try:
        # Numbers without a meaning may overflow on the way; what comes out is checked.
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
