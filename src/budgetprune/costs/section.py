"""Section of model files that holds a table of costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from budgetprune.costs.cost_table import CostTable, check_cost_table
from budgetprune.errors import InvalidInputError
from budgetprune.persistence import Content, Section, add_prefix, remove_prefix
from budgetprune.utils.arrays import frozen

_NAME, _KEY, _PREFIX = "costs", "sources", "costs."
_ARRAYS: dict[str, Any] = {"price": np.float64, "needs_start": np.int64, "needs": np.int32}


def _write(costs: CostTable, others: Mapping[str, Any]) -> Content:
    check_cost_table(costs, others["forest"].n_features)
    arrays = {name: getattr(costs, name) for name in _ARRAYS}
    return Content({_KEY: list(costs.source_names)}, add_prefix(_PREFIX, arrays))


def _read(content: Content, others: Mapping[str, Any]) -> CostTable:
    sources, arrays = content.header.get(_KEY), remove_prefix(_PREFIX, content.arrays)
    if not isinstance(sources, list):
        raise InvalidInputError("sources must be a list of names.")
    absent = [name for name in _ARRAYS if name not in arrays]
    if absent:
        raise InvalidInputError(f"the costs lack {', '.join(absent)}.")
    costs = CostTable(source_names=tuple(sources), **{name: frozen(array) for name, array in arrays.items()})
    check_cost_table(costs, others["forest"].n_features)
    return costs


SECTIONS = (
    Section(name=_NAME, since=1, keys=(_KEY,), dtypes=add_prefix(_PREFIX, _ARRAYS), write=_write, read=_read),
)
