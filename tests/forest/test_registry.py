"""Registry of adapters: which library a model or a file belongs to."""

from __future__ import annotations

import pytest
from sklearn.ensemble import RandomForestClassifier

from budgetprune import Forest, UnsupportedModelError
from budgetprune.forest.registry import ADAPTERS, adapter_of, adapter_of_suffix, find_adapter


def test_libraries_of_the_package():
    assert {"sklearn", "lightgbm", "xgboost", "onnx"} <= set(ADAPTERS.names)


def test_a_model_belongs_to_a_library_by_the_exact_name_of_its_class():
    class Special(RandomForestClassifier):
        pass

    assert find_adapter(RandomForestClassifier()).name == "sklearn"
    assert adapter_of(Special()) is None
    with pytest.raises(UnsupportedModelError, match=r"cannot turn a .*Special into a Forest"):
        find_adapter(Special())


@pytest.mark.parametrize(
    ("suffix", "name"),
    [(".skops", "sklearn"), (".txt", "lightgbm"), (".json", "xgboost"), (".ubj", "xgboost")],
)
def test_a_file_belongs_to_a_library_by_its_suffix(suffix, name):
    assert adapter_of_suffix(suffix).name == name


def test_no_library_reads_other_files():
    assert adapter_of_suffix(".csv") is None


def test_a_forest_goes_back_to_its_own_library(get_case):
    case = get_case("random forest")
    back = case.forest.to_model()
    assert type(back) is type(case.forest.origin)
    assert Forest.from_model(back).n_nodes == case.forest.n_nodes


def test_a_library_that_is_not_written_says_so(get_case):
    forest = get_case("random forest").forest
    with pytest.raises(UnsupportedModelError, match="imported from a model of LightGBM can be exported"):
        forest.to_model("lightgbm")
