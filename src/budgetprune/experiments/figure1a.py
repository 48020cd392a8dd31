"""Figure 1 (a): MiniBooNE, unit costs."""

from __future__ import annotations

from functools import lru_cache

from sklearn.datasets import load_breast_cancer

from budgetprune.datasets import load_miniboone
from budgetprune.experiments._comparison import Comparison
from budgetprune.experiments._experiment import Options, register
from budgetprune.experiments._split import Split, shuffle_split

N_TRAIN, N_VAL = 25_500, 11_000

load = lru_cache(maxsize=1)(load_miniboone)


class Figure1a(Comparison):
    """All methods on MiniBooNE: 40 entropy trees that may split on any feature."""

    name = "figure1a"
    title = "Figure 1 (a): MiniBooNE"
    costs_shown = (4.0, 8.0, 12.0, 18.0, 25.0)

    def substitute(self, options: Options) -> str | None:
        if options.quick:
            return "breast cancer, which comes with scikit-learn, for MiniBooNE"
        note = load(options.data_dir).note
        return (
            f"{note}, split {N_TRAIN:,} / {N_VAL:,} / rest (the paper: 45,523 / 19,510 / 65,031)"
            if note
            else None
        )

    def split(self, seed: int, options: Options) -> Split:
        if options.quick:
            X, y = load_breast_cancer(return_X_y=True)
            return shuffle_split(X.astype("float32"), y, seed, n_train=250, n_val=120)
        data = load(options.data_dir)
        return shuffle_split(data.X, data.y, seed, n_train=N_TRAIN, n_val=N_VAL)


register(Figure1a())
