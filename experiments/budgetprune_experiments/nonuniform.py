"""`nonuniform`: MiniBooNE with feature prices from the weights of a linear classifier."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import LinearSVC

from budgetprune.costs import FeatureCosts
from budgetprune.selection import LabelledRows
from budgetprune.utils.feature_names import default_name
from budgetprune_experiments.experiment import Cell, Options, Part, Record, Table, register
from budgetprune_experiments.figure1a import Figure1a
from budgetprune_experiments.figures import GREY, LineStyle
from budgetprune_experiments.forest_methods import grown
from budgetprune_experiments.methods import (
    CASCADE,
    LINE_STYLES,
    METHODS,
    OURS_PAPER,
    STAGED,
    SUBSETS,
    UNPRUNED,
)
from budgetprune_experiments.records import MeanCurve
from budgetprune_experiments.split import Split
from budgetprune_experiments.task import Method, Point, Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Methods that the paper also evaluates at unit costs.
TWICE = (UNPRUNED, "CCP", OURS_PAPER)
# Methods in the comparison: prunings of the same forest, and the strongest competing methods.
COMPARED = (
    UNPRUNED,
    "CCP",
    "GreedyPrune",
    "CEGB, lazy",
    SUBSETS,
    CASCADE,
    OURS_PAPER,
    "ours: refitted",
    "ours: decided early",
    STAGED,
)
SVM = {"C": 1.0, "loss": "squared_hinge"}
LEAST_PRICE = 1.0  # the paper's are from 1 to 40 before they are scaled


def svm_prices(rows: LabelledRows) -> NDArray[np.float64]:
    """Price features by the absolute value of their weight in a linear SVM.

    The paper's recipe. Columns are scaled to the same l2 norm (1), weights are rounded, and their absolute
    values scaled to an average of 1, so that the total price of all features is the same as at unit costs.

    Parameters
    ----------
    rows : LabelledRows
        Two classes. Training rows only, so that prices do not leak other rows.

    Returns
    -------
    prices : float64 array of shape (n_features,)
    """
    columns = np.asarray(rows.X, dtype=np.float64)
    norm = np.linalg.norm(columns, axis=0)
    columns = columns / np.where(norm > 0, norm, 1.0)
    weight = LinearSVC(dual=False, random_state=0, **SVM).fit(columns, rows.y).coef_[0]
    prices = np.maximum(np.rint(np.abs(weight)), LEAST_PRICE)
    return np.asarray(prices / prices.mean())


def _at_unit_costs(curve: Callable[[Task], Iterator[Point]], task: Task) -> Iterator[Point]:
    """Apply a method to the same forest at unit costs."""
    model = grown(task)
    other = task.shared("task at unit costs", lambda: replace(task, costs=FeatureCosts()))
    other.deadline = task.deadline
    other.shared("forest", lambda: model)
    yield from curve(other)


def _twin(method: str) -> str:
    return f"{method}, unit costs"


_TWINS = {_twin(name): Method(_twin(name), partial(_at_unit_costs, METHODS[name].curve)) for name in TWICE}


_LINE_STYLES = LINE_STYLES | {_twin(name): replace(LINE_STYLES[name], line="--", width=1.4) for name in TWICE}
_LINE_STYLES[_twin(UNPRUNED)] = LineStyle(GREY, "*")


class Nonuniform(Figure1a):
    """Methods with expensive useful features, and the paper's comparison with unit costs (appendix).

    In the paper, CCP is as accurate as BudgetPrune at unit costs, and less accurate at these costs.
    """

    name = "nonuniform"
    title = "MiniBooNE, costs from the weights of a linear SVM"
    methods: ClassVar[Mapping[str, Method]] = {name: METHODS[name] for name in COMPARED} | _TWINS
    method_names = tuple(methods)
    line_styles = _LINE_STYLES
    panels: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "the paper's figure": tuple(name for each in TWICE for name in (_twin(each), each)),
        "all methods, these costs": COMPARED,
    }

    def costs(self, split: Split) -> FeatureCosts:
        return FeatureCosts(svm_prices(split.train))

    def settings(self, options: Options) -> Record:
        return super().settings(options) | {"svm": SVM, "least_price": LEAST_PRICE}

    def parts(self, options: Options) -> Iterable[Part]:
        for seed in range(options.repeats):
            yield Part(f"seed {seed}, prices", partial(self._prices, seed, options))
        yield from super().parts(options)

    def _prices(self, seed: int, options: Options) -> list[Record]:
        prices = svm_prices(self.split(seed, options).train)
        return [{"seed": seed, "prices": [round(float(price), 4) for price in prices]}]

    def tables(self, records: Sequence[Record], options: Options) -> list[Table]:
        curves = self.mean_curves(_of_methods(records))
        shown = [cost for cost in self.costs_shown or () if curves[OURS_PAPER].at(cost)]
        return [
            self._claim(curves, shown or [float(np.median(curves[OURS_PAPER].cost))]),
            *super().tables(_of_methods(records), options),
            _price_table(records),
        ]

    def draw(self, records: Sequence[Record], options: Options, figure: Figure) -> None:
        super().draw(_of_methods(records), options, figure)

    def _claim(self, curves: dict[str, MeanCurve], shown: Sequence[float]) -> Table:
        """Table of errors at unit costs and with expensive useful features."""
        names = [each for name in TWICE[1:] for each in (_twin(name), name)]
        rows = [[name, *(self._shown(curves[name].at(cost)) for cost in shown)] for name in names]
        return Table(
            "Unit costs against costs of useful features: test error (%)",
            ["method", *(f"error at {cost:.3g}" for cost in shown)],
            rows,
            note="The same forest, and the same total of all prices. In the paper, BudgetPrune has about the "
            "same errors at both, and CCP's grow.",
        )


def _of_methods(records: Sequence[Record]) -> list[Record]:
    return [record for record in records if "method" in record]


def _price_table(records: Sequence[Record]) -> Table:
    """Table of the spread of prices."""
    rows: list[list[Cell]] = []
    for record in records:
        if "prices" in record:
            prices = np.sort(record["prices"])
            dearest = np.argsort(record["prices"])[::-1][:5]
            rows.append(
                [
                    record["seed"],
                    float(prices[0]),
                    float(np.median(prices)),
                    float(prices[-1]),
                    float(prices[-5:].sum() / prices.sum()),
                    ", ".join(default_name(k) for k in dearest),
                ]
            )
    return Table(
        "Prices, from the training rows of each seed",
        ["seed", "least", "median", "most", "share of the five dearest", "these are"],
        rows,
    )


register(Nonuniform())
