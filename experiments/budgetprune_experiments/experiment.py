"""What an experiment is: parts that are computed one by one and kept, then tables and a figure of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from budgetprune.datasets import Dataset
from budgetprune.errors import InvalidInputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# What JSON can hold; numbers are Python's own or NumPy's. Keys that the result knows by name: "seed", and
# "n_train", "n_validation", "n_test" where rows are split.
Record = dict[str, Any]
Cell = str | int | float | None


@dataclass(frozen=True, kw_only=True)
class Options:
    """How much of an experiment to do, with what, and where its results go.

    Attributes
    ----------
    repeats : int, default=3
        Seeds 0, 1, ...: each divides the rows anew and trains everything again.
    quick : bool, default=False
        Tiny data that is made or comes with scikit-learn, a few trees, a few seconds: shows that all runs.
    paper : bool, default=False
        Full grids and no time limit.
    out : Path
        Results go to a folder in it that has the experiment's name.
    data_dir : Path or None
        Where files of data sets are; None looks where `budgetprune.datasets` looks.
    jobs : int, default=2
        Cores to use.
    """

    repeats: int = 3
    quick: bool = False
    paper: bool = False
    out: Path = Path("output")
    data_dir: Path | None = None
    jobs: int = 2

    def __post_init__(self) -> None:
        if self.repeats < 1:
            raise InvalidInputError(f"repeats is {self.repeats}; it has to be at least 1.")
        if self.jobs < 1:
            raise InvalidInputError(f"jobs is {self.jobs}; it has to be at least 1.")
        if self.quick and self.paper:
            raise InvalidInputError("quick and paper exclude each other; give one of them.")


@dataclass(frozen=True)
class Part:
    """One unit of work, e.g. one method with one seed; what it returns is kept as soon as it is done.

    Attributes
    ----------
    key : str
        Tells it from the experiment's other parts, e.g. ``"seed 0, CCP"``; everything that its result depends
        on and that is neither an option nor in `Experiment.settings` has to be in here.
    run : callable
        Does the work. Runs in the same process as the other parts, one after the other.
    """

    key: str
    run: Callable[[], list[Record]]


@dataclass(frozen=True)
class Table:
    """A table for the terminal and for Markdown; numbers are shown with four digits, None as nothing.

    `highlight` has the numbers of rows that are shown in bold; `note` is a line of text below.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    highlight: frozenset[int] = frozenset()


class Experiment(ABC):
    """A table or figure of the paper, or one in its manner, that ``budgetprune reproduce NAME`` makes."""

    name: ClassVar[str]
    title: ClassVar[str]
    figure_size: ClassVar[tuple[float, float]] = (7.0, 5.0)  # inches

    def substitute(self, options: Options) -> str | None:
        """Say what stands in for the paper's data, if anything does."""
        return None

    def settings(self, options: Options) -> Record:
        """Everything but the options that results depend on: sizes, numbers of trees, grids, time limits.

        Parts that were made with other settings are made again.
        """
        return {}

    def datasets(self, options: Options) -> Sequence[Dataset]:
        """List the data sets that are read from files: parts that were made of other rows are made again."""
        return ()

    @abstractmethod
    def parts(self, options: Options) -> Iterable[Part]:
        """List the work; cheap, because data is loaded when a part runs."""

    @abstractmethod
    def tables(self, records: Sequence[Record], options: Options) -> list[Table]:
        """Sum up what all parts returned."""

    def draw(self, records: Sequence[Record], options: Options, figure: Figure) -> None:  # noqa: B027
        """Draw the figure; one without axes is not kept."""


_registered: dict[str, Experiment] = {}


def register(experiment: Experiment) -> None:
    """Make an experiment known by its name; its module does this when it is imported."""
    if experiment.name in _registered:
        raise InvalidInputError(f"There is an experiment {experiment.name!r} already; choose another name.")
    _registered[experiment.name] = experiment


def registered(name: str) -> Experiment:
    """Return the experiment that its module registered."""
    return _registered[name]
