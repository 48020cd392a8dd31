"""What nouns are made of: arrays that nobody changes."""

from typing import Any

from numpy.typing import NDArray


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Make an array of ours read-only."""
    array.flags.writeable = False
    return array
