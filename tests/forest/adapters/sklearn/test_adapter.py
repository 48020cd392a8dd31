"""Files of scikit-learn's models."""

from __future__ import annotations

import numpy as np
import pytest
import skops.io
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.preprocessing import FunctionTransformer

from budgetprune import InvalidInputError
from budgetprune.forest.adapters.sklearn import reader
from budgetprune.forest.registry import ADAPTERS

ADAPTER = ADAPTERS.find("sklearn")
X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > X[:, 1]).astype(int)


def shout(x):
    return x


@pytest.mark.parametrize("model", [RandomForestClassifier(3), HistGradientBoostingClassifier(max_iter=3)])
def test_skops_files_are_read_as_they_are(model):
    content = skops.io.dumps(model.fit(X, Y))
    again = reader.load(content)
    assert np.array_equal(again.predict(X), model.predict(X))
    assert reader.save(again) == b""


def test_types_that_could_run_code_are_refused():
    with pytest.raises(reader.UntrustedTypesError, match="shout") as refused:
        reader.load(skops.io.dumps(FunctionTransformer(shout)))
    explained = ADAPTER.explain_load_error(type(refused.value).__name__, str(refused.value))
    assert explained.startswith("holds types that are not trusted")
    assert ADAPTER.explain_load_error("ValueError", "no") is None


def test_a_file_that_is_no_archive_is_refused(tmp_path):
    (tmp_path / "m.skops").write_text("tree")
    with pytest.raises(InvalidInputError):
        ADAPTER.check_file(tmp_path / "m.skops")
