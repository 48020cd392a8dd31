"""Read-only array helper."""

from typing import Any

from numpy.typing import NDArray


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Make an array read-only and return it."""
    array.flags.writeable = False
    return array
