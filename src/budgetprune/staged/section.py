"""Section of model files that holds a staged model: how the trees of the forest are used.

The forest of the file holds the trees of all stages: those that add to the scores, chain by chain and stage
by stage, then those of the expected errors, in the same order. The section maps trees to stages. The format
is described in ``docs/model-format.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from budgetprune.forest import Forest
from budgetprune.persistence import Content, Section, add_prefix, remove_prefix
from budgetprune.staged.model.chain import Stage
from budgetprune.staged.model.join import join_forests, take_trees
from budgetprune.staged.model.objective import (
    ErrorCostObjective,
    LogLossObjective,
    Objective,
    SquaredErrorObjective,
)
from budgetprune.staged.model.staged_model import StagedModel
from budgetprune.staged.restore import DTYPES, NUMBERS_OF_POINTS, OBJECTIVES, restore_model

NAME, PREFIX = "staged", "staged."


def trees_of(model: StagedModel) -> Forest:
    """Join the trees of all stages to one forest, in the order of the file.

    Unused sets of categories are left out, so that a model that is loaded and saved again has the same bytes.
    """
    stages = _stages(model)
    forests = [stage.forest for stage in stages]
    forests += [stage.spread for stage in stages if stage.spread is not None]
    return join_forests([take_trees(each, 0, each.n_trees) for each in forests])


def _write(model: StagedModel, others: Mapping[str, Any]) -> Content:
    content = write_content(model)
    _read(content, others)  # a file that is written can be loaded
    return content


def _read(content: Content, others: Mapping[str, Any]) -> StagedModel:
    header, arrays = content.header.get(NAME), remove_prefix(PREFIX, content.arrays)
    return restore_model(others["forest"], others["costs"], header, arrays)


SECTIONS = (
    Section(name=NAME, since=3, keys=(NAME,), dtypes=add_prefix(PREFIX, DTYPES), write=_write, read=_read),
)


def _stages(model: StagedModel) -> list[Stage]:
    return [stage for chain in model.chains for stage in chain.stages]


def write_content(model: StagedModel) -> Content:
    """Convert a staged model, without its trees, to plain values and arrays."""
    stages, curve = _stages(model), model.trade_off
    width = max(map(len, model.chains))
    arrays = {
        "chain": np.repeat(np.arange(len(model.chains)), [len(chain) for chain in model.chains]),
        "n_trees": [stage.forest.n_trees for stage in stages],
        "n_spread_trees": [0 if stage.spread is None else stage.spread.n_trees for stage in stages],
        "scale": [stage.scale for stage in stages],
        "n_sources": [len(stage.sources) for stage in stages],
        "base": [stage.forest.base for stage in stages],
        "spread_base": [0.0 if stage.spread is None else float(stage.spread.base[0]) for stage in stages],
        "sources": [s for stage in stages for s in stage.sources],
        "decay": [chain.decay for chain in model.chains],
        "error_costs": _error_costs(model),
        "point_chain": curve.chain,
        "thresholds": [np.pad(each, (0, width - each.size)) for each in curve.thresholds],
        "stops": [np.pad(each, (0, width - each.size)) for each in curve.stops],
    }
    arrays |= {name: getattr(curve, name) for name in NUMBERS_OF_POINTS}
    if curve.stage_score:
        arrays["stage_score"] = np.concatenate(curve.stage_score)
    header = {
        "objective": _name_of(model.objective),
        "price": model.objective.price if isinstance(model.objective, SquaredErrorObjective) else 1.0,
        "best": model.best,
        "point": model.point,
    }
    if model.threshold is not None:
        header["threshold"] = model.threshold
    typed = {name: np.asarray(array, dtype=DTYPES[name]) for name, array in arrays.items()}
    return Content({NAME: header}, add_prefix(PREFIX, typed))


def _error_costs(model: StagedModel) -> Any:
    """Return the matrix by which rows stop; if they stop by log loss, that by which classes are chosen."""
    if isinstance(model.objective, ErrorCostObjective):
        return model.objective.cost
    return np.zeros((0, 0)) if model.answer is None else model.answer.cost


def _name_of(objective: Objective) -> str:
    kinds = (ErrorCostObjective, LogLossObjective, SquaredErrorObjective)
    return next(name for name, kind in zip(OBJECTIVES, kinds, strict=True) if isinstance(objective, kind))
