"""Figure 1 (a): MiniBooNE, unit costs."""

from __future__ import annotations

from budgetprune_experiments.comparison import Comparison
from budgetprune_experiments.experiment import Options, register
from budgetprune_experiments.miniboone import OnMiniboone, miniboone_split
from budgetprune_experiments.split import Split


class Figure1a(OnMiniboone, Comparison):
    """All methods on MiniBooNE: 40 entropy trees that may split on any feature."""

    name = "figure1a"
    title = "Figure 1 (a): MiniBooNE"
    costs_shown = (4.0, 8.0, 12.0, 18.0, 25.0)

    def split(self, seed: int, options: Options) -> Split:
        return miniboone_split(seed, options)


register(Figure1a())
