"""Write staged models to files.

The file holds the trees of all stages as one forest: those that add to the scores, chain by chain and stage
by stage, then those of the expected errors, in the same order. The section ``staged`` says which trees belong
to which stage, and how they are used. The format is described in ``docs/model-format.md``.
"""

from __future__ import annotations

import os

import numpy as np

from budgetprune.persistence.model_file import Sections, save_model
from budgetprune.staged.model.chain import Stage
from budgetprune.staged.model.join import join_forests, take_trees
from budgetprune.staged.model.objective import ErrorCosts, LogLoss, Objective, SquaredError
from budgetprune.staged.model.staged_model import StagedModel
from budgetprune.staged.restore import DTYPES, NUMBERS_OF_POINTS, OBJECTIVES, restore_model


def save_staged(
    file: str | os.PathLike[str],
    model: StagedModel,
    max_cost: float | None,
    further: Sections | None = None,
) -> None:
    """Write a staged model to a file, all at once or not at all.

    Parameters
    ----------
    file : path of the file
    model : StagedModel
    max_cost : what one example may cost at most
    further : Sections, optional
        See `save_model`.
    """
    stages = [stage for chain in model.chains for stage in chain.stages]
    forests = [stage.forest for stage in stages]
    forests += [stage.spread for stage in stages if stage.spread is not None]
    # What no tree uses is left out, so that a model that is loaded and saved again gives the same file.
    trees = join_forests([take_trees(each, 0, each.n_trees) for each in forests])
    section = _section(model, stages)
    restore_model(trees, model.costs, section)  # a file that is written can be loaded
    save_model(file, trees, model.costs, {"max_cost": max_cost}, further, section)


def _section(model: StagedModel, stages: list[Stage]) -> Sections:
    """Say how the trees are used, in plain values and arrays."""
    curve = model.trade_off
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
        "error_costs": model.answer.cost if model.answer is not None else np.zeros((0, 0)),
        "point_chain": curve.chain,
        "thresholds": [np.pad(each, (0, width - each.size)) for each in curve.thresholds],
        "stops": [np.pad(each, (0, width - each.size)) for each in curve.stops],
    }
    arrays |= {name: getattr(curve, name) for name in NUMBERS_OF_POINTS}
    if curve.stage_score:
        arrays["stage_score"] = np.concatenate(curve.stage_score)
    header = {
        "objective": _name_of(model.objective),
        "price": model.objective.price if isinstance(model.objective, SquaredError) else 1.0,
        "best": model.best,
        "point": model.point,
    }
    return Sections(header, {name: np.asarray(array, dtype=DTYPES[name]) for name, array in arrays.items()})


def _name_of(objective: Objective) -> str:
    kinds = (ErrorCosts, LogLoss, SquaredError)
    return next(name for name, kind in zip(OBJECTIVES, kinds, strict=True) if isinstance(objective, kind))
