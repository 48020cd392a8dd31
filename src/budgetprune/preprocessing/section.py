"""Section of model files that holds a preprocessing: its operations, as plain descriptions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from budgetprune.costs import CostTable, check_cost_table
from budgetprune.errors import InvalidInputError
from budgetprune.persistence import Content, Section, add_prefix
from budgetprune.preprocessing.external import External
from budgetprune.preprocessing.operations import KINDS, OneHot, Operation
from budgetprune.preprocessing.preprocessing import Preprocessing
from budgetprune.preprocessing.priced import PricedPreprocessing
from budgetprune.utils.arrays import frozen

NAME, _PREFIX = "preprocessing", "preprocessing."
_ARRAYS: dict[str, Any] = {"needs_start": np.int64, "needs": np.int32}
_NUMBERS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def _write(priced: PricedPreprocessing, others: Mapping[str, Any]) -> Content:
    found, raw_costs = priced.preprocessing, priced.raw_costs
    for operation in found.operations:
        if isinstance(operation, External):
            raise InvalidInputError(
                f"step {operation.step!r} ({type(operation.transformer).__name__}) cannot be stored in a "
                "model "
                "file, which holds no code and no pickle. Encoders of categories, SimpleImputer, scalers, "
                "Binarizer, KBinsDiscretizer, PolynomialFeatures, selection of features and functions of "
                "numpy "
                "can; compute other features before the pipeline, or pickle the estimator for programs that "
                "trust you."
            )
    header = {
        "columns": list(found.raw_names),
        "has_names": found.has_names,
        "holds_objects": list(found.holds_objects),
        "operations": [_describe(each) for each in found.operations],
        "outputs": list(found.outputs),
    }
    arrays = {name: getattr(raw_costs, name) for name in _ARRAYS}
    return Content({NAME: header}, add_prefix(_PREFIX, arrays))


def _describe(operation: Operation) -> dict[str, Any]:
    described: dict[str, Any] = _plain({"kind": operation.kind} | asdict(operation))  # type: ignore[call-overload]
    return described


def _plain(value: Any) -> Any:
    """Return a value in types of JSON; numbers that JSON lacks become a mapping."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": str(value)}
    return value


# --- Reading ------------------------------------------------------------------------------------------------


def _read(content: Content, others: Mapping[str, Any]) -> PricedPreprocessing:
    header, forest, costs = content.header.get(NAME), others["forest"], others["costs"]
    keys = {"columns", "has_names", "holds_objects", "operations", "outputs"}
    _require(isinstance(header, dict) and header.keys() == keys, f"it must have the keys {sorted(keys)}")
    assert isinstance(header, dict)
    names = _texts(header["columns"])
    _require(0 < len(names) == len(set(names)), "columns must have different names")
    _require(isinstance(header["has_names"], bool), "has_names must be true or false")
    objects = header["holds_objects"]
    _require(
        _are(objects, bool) and len(objects) == len(names), "holds_objects must have an entry per column"
    )
    _require(isinstance(header["operations"], list), "operations must be a list")
    operations: list[Operation] = []
    size = len(names)
    for described in header["operations"]:
        operations.append(_operation(described, size))
        size += operations[-1].n_outputs
    outputs = _integers(header["outputs"])
    _require(len(outputs) == forest.n_features, "there must be an output for each feature")
    _require(all(0 <= k < size for k in outputs), "an output does not exist")
    found = Preprocessing(
        raw_names=names,
        has_names=header["has_names"],
        holds_objects=tuple(objects),
        operations=tuple(operations),
        outputs=outputs,
        feature_names=tuple(forest.names),
        is_for_forest=True,
    )
    return _priced(found, costs, content.arrays)


def _priced(found: Preprocessing, costs: CostTable, arrays: Mapping[str, Any]) -> PricedPreprocessing:
    """Check that the costs of features follow from those of raw columns."""
    _require(all(_PREFIX + name in arrays for name in _ARRAYS), "the needs of the columns are missing")
    needs = {name: frozen(arrays[_PREFIX + name]) for name in _ARRAYS}
    raw_costs = CostTable(price=costs.price, source_names=costs.source_names, **needs)
    check_cost_table(raw_costs, len(found.raw_names))
    _require(bool(np.all(np.diff(raw_costs.needs_start) > 0)), "each column must need a source")
    expected = found.feature_costs(raw_costs)
    is_same = all(np.array_equal(getattr(costs, name), getattr(expected, name)) for name in _ARRAYS)
    _require(is_same, "the sources of features must be those of the columns that they need")
    return PricedPreprocessing(found, raw_costs, costs)


def _operation(described: Any, n_columns: int) -> Operation:
    """Read one operation; `n_columns` is the number of columns before it."""
    _require(
        isinstance(described, dict) and isinstance(described.get("kind"), str), "an operation has no kind"
    )
    kind = described["kind"]
    _require(kind in KINDS, f"it has an unknown operation, {kind!r}; a newer budgetprune may know it")
    given = {name: value for name, value in described.items() if name != "kind"}
    wanted = {field.name for field in fields(KINDS[kind])}  # type: ignore[arg-type]
    _require(given.keys() == wanted, f"the operation {kind!r} must have {', '.join(sorted(wanted))}")
    parts = {name: _READERS[name](value) for name, value in given.items()}
    _require(
        all(0 <= k < n_columns for k in parts["inputs"]), "an operation has an input that does not exist"
    )
    n_inputs = len(parts["inputs"])
    _require(n_inputs >= 1 if kind == "product" else n_inputs == 1, f"{kind!r} has {n_inputs} inputs")
    operation = KINDS[kind](**parts)
    if isinstance(operation, OneHot):
        _require(0 <= operation.size <= max(len(operation.labels), 1), "a one-hot encoding is too wide")
    check = getattr(operation, "check", None)
    if check is not None:
        check()
    return operation


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise InvalidInputError(f"this is not a preprocessing: {what}.")


def _are(values: Any, *types: type) -> bool:
    return isinstance(values, list) and all(type(value) in types for value in values)


def _texts(values: Any) -> tuple[str, ...]:
    _require(_are(values, str), "names must be strings")
    return tuple(values)


def _text(value: Any) -> str:
    _require(isinstance(value, str), "a name must be a string")
    return str(value)


def _integers(values: Any) -> tuple[int, ...]:
    _require(_are(values, int), "numbers of columns must be integers")
    return tuple(values)


def _integer(value: Any) -> int:
    _require(type(value) is int, "a size must be an integer")
    return int(value)


def _number(value: Any) -> float:
    if isinstance(value, dict):
        name = str(value.get("number"))
        _require(value.keys() == {"number"} and name in _NUMBERS, "a number is invalid")
        return _NUMBERS[name]
    _require(type(value) in (int, float), "an operand must be a number")
    return float(value)


def _numbers(values: Any) -> tuple[float, ...]:
    _require(isinstance(values, list), "numbers must be in a list")
    return tuple(map(_number, values))


def _label(value: Any) -> Any:
    if isinstance(value, dict):
        return _number(value)
    _require(value is None or type(value) in (str, int, float, bool), "a category must be a plain value")
    return value


def _labels(values: Any) -> tuple[Any, ...]:
    _require(isinstance(values, list), "categories must be in a list")
    found = tuple(map(_label, values))
    _require(len(set(found)) == len(found), "categories must differ from each other")
    return found


def _steps(values: Any) -> tuple[tuple[str, float | None], ...]:
    _require(isinstance(values, list), "steps must be in a list")
    _require(all(isinstance(each, list) and len(each) == 2 for each in values), "a step must be a pair")
    return tuple((_text(name), None if operand is None else _number(operand)) for name, operand in values)


def _rows(values: Any) -> tuple[tuple[float, ...], ...]:
    _require(isinstance(values, list), "a lookup table must be a list")
    return tuple(map(_numbers, values))


def _unknown(value: Any) -> Any:
    if value is None or type(value) is int:
        return value
    return _numbers(value)


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "inputs": _integers,
    "steps": _steps,
    "labels": _labels,
    "place": _text,
    "position": _integers,
    "size": _integer,
    "unknown": _unknown,
    "values": _rows,
    "marker": _label,
    "value": _label,
    "edges": _numbers,
}

SECTIONS = (
    Section(
        name=NAME,
        since=5,
        keys=(NAME,),
        dtypes=add_prefix(_PREFIX, _ARRAYS),
        write=_write,
        read=_read,
    ),
)
