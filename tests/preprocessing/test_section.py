"""The section of model files that holds a preprocessing."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.golden.raw_columns import ROWS, raw_answers, with_preprocessing
from tests.golden.write import averaged

from budgetprune import BudgetPredictor, InvalidInputError
from budgetprune.persistence.container import open_container, write_container
from budgetprune.persistence.sections import PACKED, VERSION

FILE = Path(__file__).parents[1] / "golden" / "preprocessing-5.budgetprune"


def test_golden_file_predicts_what_it_did():
    assert raw_answers(BudgetPredictor.load(FILE)) == json.loads(FILE.with_suffix(".json").read_text())


def test_golden_file_is_still_written(tmp_path):
    with_preprocessing(averaged()[0]).save(tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == FILE.read_bytes()
    BudgetPredictor.load(FILE).save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == FILE.read_bytes()


def test_steps_ask_for_raw_values():
    predictor = BudgetPredictor.load(FILE)
    values = dict(zip(predictor.feature_names, ROWS[0], strict=True))
    decision = predictor.decide(lambda source: values[source])
    assert decision.label == predictor.simulate(ROWS).label[0]


def changed(tmp_path, change):
    """Write the golden file with another header, whose digest fits."""
    with open_container(FILE, newest=VERSION, packed_since=PACKED) as stored:
        header = dict(stored.header)
        arrays = {name: stored.read(name) for name in stored.entries}
    found = header["preprocessing"]
    change(found, arrays)
    write_container(tmp_path / "changed", 5, header, arrays)
    return tmp_path / "changed"


def first(kind):
    """Return a function that gives the first operation of a kind."""
    return lambda found: next(each for each in found["operations"] if each["kind"] == kind)


CHANGES = {
    "no kind": lambda found, arrays: found["operations"][0].pop("kind"),
    "unknown kind": lambda found, arrays: found["operations"][0].update(kind="run"),
    "more fields": lambda found, arrays: found["operations"][0].update(code="1"),
    "later input": lambda found, arrays: found["operations"][0].update(inputs=[9]),
    "negative input": lambda found, arrays: found["operations"][0].update(inputs=[-1]),
    "two inputs": lambda found, arrays: found["operations"][0].update(inputs=[0, 1]),
    "no factors": lambda found, arrays: first("product")(found).update(inputs=[]),
    "unknown step": lambda found, arrays: found["operations"][0].update(steps=[["eval", 1.0]]),
    "step without operand": lambda found, arrays: found["operations"][0].update(steps=[["add", None]]),
    "step that is no pair": lambda found, arrays: found["operations"][0].update(steps=[["add"]]),
    "operand": lambda found, arrays: found["operations"][0].update(steps=[["add", "1"]]),
    "number": lambda found, arrays: found["operations"][0].update(steps=[["add", {"number": "pi"}]]),
    "wide": lambda found, arrays: first("one-hot")(found).update(size=2**40),
    "position": lambda found, arrays: first("one-hot")(found).update(position=[0, 5, 0]),
    "labels": lambda found, arrays: first("one-hot")(found).update(labels=["a", "a", "b"]),
    "label": lambda found, arrays: first("one-hot")(found).update(labels=["a", ["a"], "b"]),
    "short table": lambda found, arrays: first("lookup")(found).update(values=[[1.0]]),
    "edges": lambda found, arrays: first("bins")(found).update(edges="1"),
    "output": lambda found, arrays: found["outputs"].__setitem__(0, 99),
    "outputs": lambda found, arrays: found["outputs"].pop(),
    "outputs of another type": lambda found, arrays: found["outputs"].__setitem__(0, 1.0),
    "columns": lambda found, arrays: found["columns"].__setitem__(0, "TSH"),
    "no columns": lambda found, arrays: found.update(columns=[], holds_objects=[]),
    "names": lambda found, arrays: found.update(has_names=1),
    "objects": lambda found, arrays: found["holds_objects"].pop(),
    "no operations": lambda found, arrays: found.update(operations={}),
    "other keys": lambda found, arrays: found.update(more=1),
    "no needs": lambda found, arrays: arrays.pop("preprocessing.needs"),
    "other needs": lambda found, arrays: arrays.update(
        {"preprocessing.needs": np.array([0, 2, 1, 3, 4], dtype=np.int32)}
    ),
    "free column": lambda found, arrays: arrays.update(
        {
            "preprocessing.needs": np.array([1, 2, 3, 4], dtype=np.int32),
            "preprocessing.needs_start": np.array([0, 0, 1, 2, 3, 4], dtype=np.int64),
        }
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_damaged_descriptions_are_refused(name, tmp_path):
    file = changed(tmp_path, CHANGES[name])
    with pytest.raises(InvalidInputError, match=r"changed|preprocessing|arithmetic|one-hot|lookup|costs"):
        BudgetPredictor.load(file)
