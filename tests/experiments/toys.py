"""Experiments that do nothing much, to see what is done with them."""

from __future__ import annotations

from functools import partial

from budgetprune_experiments import Experiment, Part, Table


class Toy(Experiment):
    """Three parts per seed; `calls` has the keys of those that ran, `fail_at` that of one that fails."""

    name = "toy"
    title = "A toy"

    def __init__(self, fail_at=None, error=None, scale=1, shown=True, data=None):
        self.calls, self.fail_at, self.error = [], fail_at, error
        self.scale, self.shown, self.data = scale, shown, data

    def substitute(self, options):
        return "air"

    def datasets(self, options):
        return () if self.data is None else (self.data,)

    def settings(self, options):
        return {"scale": self.scale}

    def parts(self, options):
        for seed in range(options.repeats):
            for name in ("a", "b", "c"):
                yield Part(f"seed {seed}, {name}", partial(self._run, f"seed {seed}, {name}", name, seed))

    def _run(self, key, name, seed):
        self.calls.append(key)
        if key == self.fail_at:
            raise self.error
        sizes = {"n_train": 10, "n_validation": 5, "n_test": 3}
        return [{"method": name, "seed": seed, "value": self.scale * seed, **sizes}]

    def tables(self, records, options):
        rows = [[record["method"], record["seed"], record["value"] / 3] for record in records]
        return [Table("Values", ["method", "seed", "third"], rows, note="All of them.")]

    def draw(self, records, options, figure):
        if self.shown:
            figure.subplots().plot([record["value"] for record in records])
