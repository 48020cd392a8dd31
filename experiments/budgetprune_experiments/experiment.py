"""Base class of experiments: parts that are computed and stored one by one, then tables and a figure."""

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

# JSON values; numbers are Python's or NumPy's. Keys used by the result: "seed", and
# "n_train", "n_validation", "n_test" where rows are split.
Record = dict[str, Any]
Cell = str | int | float | None


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of a run: repetitions, size, data and output folders.

    Attributes
    ----------
    repeats : int, default=3
        Number of seeds 0, 1, ...: each splits the rows anew and trains everything again.
    quick : bool, default=False
        Test run of a few seconds: tiny data, generated or from scikit-learn, and a few trees.
    paper : bool, default=False
        Full grids and no time limit.
    out : Path
        Results go to a folder in it that has the experiment's name.
    data_dir : Path or None
        Folder of the data files; None: as in `budgetprune.datasets`.
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
    """Unit of work, e.g. one method with one seed; its result is stored as soon as it is done.

    Attributes
    ----------
    key : str
        Unique within the experiment, e.g. ``"seed 0, CCP"``; includes everything that the result depends
        on and that is neither an option nor in `Experiment.settings`.
    run : callable
        Does the work. Runs in the same process as the other parts, one after the other.
    """

    key: str
    run: Callable[[], list[Record]]


@dataclass(frozen=True)
class Table:
    """Table for the terminal and for Markdown; numbers are shown with four digits, None as an empty cell.

    `highlight` has the indices of rows that are shown in bold; `note` is a line of text below.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    highlight: frozenset[int] = frozenset()


class Experiment(ABC):
    """Table or figure of the paper, or a similar one, made by ``budgetprune reproduce NAME``."""

    name: ClassVar[str]
    title: ClassVar[str]
    figure_size: ClassVar[tuple[float, float]] = (7.0, 5.0)  # inches

    def substitute(self, options: Options) -> str | None:
        """Describe the substitute for the paper's data, if there is one."""
        return None

    def settings(self, options: Options) -> Record:
        """Settings that results depend on, besides the options: sizes, numbers of trees, grids, time limits.

        Parts computed with other settings are computed again.
        """
        return {}

    def datasets(self, options: Options) -> Sequence[Dataset]:
        """List the data sets read from files; parts computed from other rows are computed again."""
        return ()

    @abstractmethod
    def parts(self, options: Options) -> Iterable[Part]:
        """List the work; cheap, because data is loaded when a part runs."""

    @abstractmethod
    def tables(self, records: Sequence[Record], options: Options) -> list[Table]:
        """Summarise the results of all parts."""

    def draw(self, records: Sequence[Record], options: Options, figure: Figure) -> None:  # noqa: B027
        """Draw the figure; a figure without axes is not saved."""


_registered: dict[str, Experiment] = {}


def register(experiment: Experiment) -> None:
    """Register an experiment by its name; its module does this on import."""
    if experiment.name in _registered:
        raise InvalidInputError(f"There is an experiment {experiment.name!r} already; choose another name.")
    _registered[experiment.name] = experiment


def registered(name: str) -> Experiment:
    """Return a registered experiment."""
    return _registered[name]
