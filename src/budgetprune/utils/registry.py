"""Registry of objects by name: losses, error estimates and solvers can be added from outside the package."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

from budgetprune.errors import InvalidInputError


class Named(Protocol):
    """An object with a name."""

    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Named)


class Registry(Generic[T]):
    """Objects of one kind, by name, in the order of registration.

    Parameters
    ----------
    kind : str
        What the objects are, for messages: "loss", "solver".
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._objects: dict[str, T] = {}

    def __iter__(self) -> Iterator[T]:
        return iter(tuple(self._objects.values()))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._objects

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all registered objects."""
        return tuple(self._objects)

    def register(self, item: T) -> T:
        """Add an object under its name, which must be free; return the object."""
        if item.name in self._objects:
            raise InvalidInputError(
                f"a {self._kind} called {item.name!r} is registered already; choose another name."
            )
        self._objects[item.name] = item
        return item

    def unregister(self, name: str) -> None:
        """Remove the object called `name`."""
        self.find(name)
        del self._objects[name]

    def find(self, name: str) -> T:
        """Return the object called `name`, or raise InvalidInputError."""
        if name not in self:
            raise InvalidInputError(f"no {self._kind} is called {name!r}; there are {', '.join(self.names)}.")
        return self._objects[name]
