"""Registry of objects by name: losses, error estimates and solvers can be added from outside the package."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
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
        Kind of the objects, for messages: "loss", "solver".
    built_in : tuple of str
        Collections of the objects of this package, as "module:name". The modules are imported when the
        registry is first used: they may be slow to import, or import the module of the registry.
    base : type, optional
        Class that objects must have, or protocol that they must follow.
    reserved : tuple of str
        Names that have another meaning, such as "auto".
    """

    def __init__(
        self,
        kind: str,
        built_in: tuple[str, ...] = (),
        *,
        base: type | None = None,
        reserved: tuple[str, ...] = (),
    ) -> None:
        self._kind = kind
        self._base = base
        self._reserved = reserved
        self._objects: dict[str, T] = {}
        self._built_in = built_in

    def _load(self) -> dict[str, T]:
        """Return all objects, the built-in ones too."""
        for place in self._built_in:
            module, _, collection = place.partition(":")
            for item in getattr(import_module(module), collection):
                self._objects.setdefault(item.name, item)
        self._built_in = ()
        return self._objects

    def __iter__(self) -> Iterator[T]:
        return iter(tuple(self._load().values()))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._load()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all registered objects."""
        return tuple(self._load())

    def register(self, item: T) -> T:
        """Add an object under its name, which must be free; return the object."""
        if isinstance(item, type):
            raise InvalidInputError(f"register an object, not a class: write {item.__name__}().")
        if self._base is not None and not isinstance(item, self._base):
            raise InvalidInputError(
                f"a {self._kind} must be a {self._base.__name__}, not a {type(item).__name__}."
            )
        name = getattr(item, "name", None)
        if not isinstance(name, str) or not name or name in self._reserved:
            raise InvalidInputError(
                f"the name of the {self._kind} {type(item).__name__} must be a string that is not empty"
                + (f" and not {' or '.join(map(repr, self._reserved))}" if self._reserved else "")
                + f", not {name!r}."
            )
        if name in self._load():
            raise InvalidInputError(
                f"a {self._kind} called {name!r} is registered already; choose another name."
            )
        self._objects[name] = item
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
