"""Path files whose numbers contradict each other are refused."""

from dataclasses import replace

import numpy as np
import pytest

from budgetprune import InvalidInputError, PruningPath

from ..persistence.parts import Parts

pytestmark = pytest.mark.uncompiled


@pytest.fixture
def saved(tmp_path, path):
    certified = replace(path, bound=path.objective - 0.001, gap=np.full(len(path), 0.001))
    certified.save(tmp_path / "path.budgetprune")
    PruningPath.load(tmp_path / "path.budgetprune")
    return tmp_path / "path.budgetprune"


def check_refused(file, edit, words):
    parts = Parts(file.read_bytes())
    edit(parts)
    parts.describe()
    file.write_bytes(parts.assemble())
    with pytest.raises(InvalidInputError, match=words) as caught:
        PruningPath.load(file)
    assert str(caught.value).startswith(f"{file} cannot be loaded: ")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"critical_lambda": np.zeros_like}, "n_splits of its path must be the number of larger"),
        ({"n_splits": lambda a: a[::-1]}, "n_splits of its path must be the number of larger"),
        ({"lam": lambda a: a - 0.001}, "lam of its path must not be negative"),
        ({"lam": lambda a: a[::-1]}, "with increasing lam"),
        ({"lam": lambda a: np.append(a[:-1], np.inf)}, "lam of its path must be finite"),
        ({"lam": lambda a: a * 1.0001}, "n_splits|said to be complete"),
        ({"cost": lambda a: a[::-1]}, "without increasing cost"),
        ({"cost": lambda a: a - 100}, "a cost of its path is negative"),
        ({"cost": lambda a: a + 100}, "costs more than the unpruned forest"),
        ({"cost": lambda a: a * 0 + a[0]}, "has a cost, but no splits"),
        ({"cost": lambda a: a * np.nan}, "needs points|must be finite"),
        ({"error": lambda a: a[::-1]}, "error falls as lam grows"),
        ({"error": lambda a: a * np.nan}, "error of its path must be finite"),
        ({"error": lambda a: a + 1}, "objective of its path is less"),
        ({"objective": lambda a: a * np.inf}, "objective of its path must be finite"),
        ({"bound": np.zeros_like, "gap": None}, "only one of bound and gap"),
        ({"bound": lambda a: a * np.nan}, "bound of its path must be finite"),
        ({"gap": lambda a: a - 1}, "gap of its path must be positive"),
        ({"gap": lambda a: a * np.nan}, "gap of its path must be positive"),
    ],
)
def test_numbers_that_contradict_each_other(saved, changes, words):
    def edit(parts):
        for name, change in changes.items():
            i = parts.index(f"path.{name}")
            if change is None:
                del parts.table[i], parts.arrays[i]
            else:
                parts.arrays[i] = change(parts.arrays[i])

    check_refused(saved, edit, words)


@pytest.mark.parametrize(
    ("keys", "to", "words"),
    [
        (["path", "complete"], 1, "'complete' of its path must be true or false"),
        (["path", "complete"], "yes", "'complete' of its path must be true or false"),
        (["path", "sources"], [1, 2, 3, 4], "must be a list of strings"),
        (["path", "sources"], "abcd", "must be a list of strings"),
        (["path", "sources"], ["a", "a"], "must differ"),
        (["path", "unpruned"], {"error": 0.1}, "must have 'error' and 'cost'"),
        (["path", "unpruned"], None, "must have 'error' and 'cost'"),
        (["path", "unpruned", "error"], "0.1", "must be finite numbers"),
        (["path", "unpruned", "error"], True, "must be finite numbers"),
        (["path", "unpruned", "cost"], -1.0, "a cost of its path is negative"),
        (["path", "unpruned", "cost"], 0.0, "costs more than the unpruned forest"),
        (["forest"], {}, "settings of the forest lack divisor"),
        (["more"], 1, "unknown keys"),
        (["unpruned", "divisor"], "3", "divisor"),
        (["unpruned", "n_features"], float("nan"), "NaN"),
    ],
)
def test_headers_that_contradict_the_arrays(saved, keys, to, words):
    def edit(parts):
        inner = parts.header
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = to

    check_refused(saved, edit, words)
