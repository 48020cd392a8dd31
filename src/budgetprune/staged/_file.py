"""Staged models on disk. Like all model files, they may come from anywhere: all that is read is checked."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune._arrays import frozen
from budgetprune.costs import CostTable
from budgetprune.errors import InvalidInputError
from budgetprune.forest import Forest
from budgetprune.predictor._model_file import Sections, check_arrays, save_model
from budgetprune.staged._chain import Chain, Stage
from budgetprune.staged._join import join_forests, take_trees
from budgetprune.staged._model import StagedModel
from budgetprune.staged._objective import ErrorCosts, LogLoss, Objective, SquaredError, check_error_costs
from budgetprune.staged._points import StagedTradeOff

# For each stage of each chain, one after the other.
_PER_STAGE: dict[str, Any] = {
    "chain": np.int32,
    "n_trees": np.int64,
    "n_spread_trees": np.int64,
    "scale": np.float64,
    "n_sources": np.int64,
    "base": np.float64,  # two-dimensional
    "spread_base": np.float64,
}
_PER_POINT: dict[str, Any] = {
    "cost": np.float64,
    "score": np.float64,
    "cost_std": np.float64,
    "score_std": np.float64,
    "loss": np.float64,
    "lam": np.float64,
    "point_chain": np.int32,
    "thresholds": np.float64,  # two-dimensional, as wide as the longest chain
    "stops": np.float64,
}
_OTHERS: dict[str, Any] = {"sources": np.int32, "decay": np.float64, "error_costs": np.float64}
_DTYPES = _PER_STAGE | _PER_POINT | _OTHERS
_HEADER = {"objective", "price", "best", "point"}
_OBJECTIVES = ("error costs", "log loss", "squared error")
_LARGEST_SCALE = 100.0


def save_staged(file: str | os.PathLike[str], model: StagedModel, max_cost: float | None) -> None:
    """Write a staged model to a file, all at once or not at all."""
    stages = [stage for chain in model.chains for stage in chain.stages]
    spreads = [stage.spread for stage in stages if stage.spread is not None]
    trees = join_forests([*(stage.forest for stage in stages), *spreads])
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
    arrays |= {
        name: getattr(curve, name) for name in ("cost", "score", "cost_std", "score_std", "loss", "lam")
    }
    stored = {name: np.asarray(array, dtype=_DTYPES[name]) for name, array in arrays.items()}
    header = {
        "objective": _name_of(model.objective),
        "price": model.objective.price if isinstance(model.objective, SquaredError) else 1.0,
        "best": model.best,
        "point": model.point,
    }
    save_model(file, trees, model.costs, {"max_cost": max_cost}, staged=Sections(header, stored))


def _name_of(objective: Objective) -> str:
    kinds = (ErrorCosts, LogLoss, SquaredError)
    return next(name for name, kind in zip(_OBJECTIVES, kinds, strict=True) if isinstance(objective, kind))


# --- Reading ------------------------------------------------------------------------------------------------


def restore_model(forest: Forest, costs: CostTable, staged: Sections) -> StagedModel:
    """Make a model of what a file holds, or raise InvalidInputError."""
    header, arrays = staged
    _check_sizes(header, arrays)
    objective, answer = _objectives(header, arrays, forest)
    model = StagedModel(
        chains=_chains(forest, costs, arrays),
        trade_off=_curve(arrays),
        best=header["best"],
        point=header["point"],
        objective=objective,
        costs=costs,
        classes=forest.classes,
        answer=answer,
    )
    _check_curve(model)
    return model


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise InvalidInputError(f"its stages are damaged: {what}.")


def _check_sizes(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    _require(header.keys() == _HEADER, f"the header must have {', '.join(sorted(_HEADER))}")
    check_arrays(arrays, _DTYPES)
    absent = sorted(_DTYPES.keys() - arrays.keys())
    _require(not absent, f"{', '.join(absent)} are missing")
    two_dimensional = ("base", "thresholds", "stops", "error_costs")
    for name, array in arrays.items():
        _require(array.ndim == (2 if name in two_dimensional else 1), f"{name} has {array.ndim} dimensions")
    n_stages, n_points = arrays["chain"].size, arrays["cost"].size
    _require(n_stages > 0 and n_points > 0, "there are no stages, or no points")
    for name in _PER_STAGE:
        _require(len(arrays[name]) == n_stages, f"{name} must have an entry for each of {n_stages} stages")
    for name in _PER_POINT:
        _require(len(arrays[name]) == n_points, f"{name} must have an entry for each of {n_points} points")
    n_chains, chain = arrays["decay"].size, arrays["chain"]
    _require(
        bool(chain[0] == 0 and chain[-1] == n_chains - 1 and np.isin(np.diff(chain), (0, 1)).all()),
        "stages must be in the order of their chains",
    )
    for name in ("best", "point"):
        point = header[name]
        _require(type(point) is int and 0 <= point < n_points, f"{name} must be below {n_points}")


def _chains(forest: Forest, costs: CostTable, arrays: dict[str, NDArray[Any]]) -> tuple[Chain, ...]:
    n_trees, n_spread = arrays["n_trees"], arrays["n_spread_trees"]
    _require(bool(np.all(n_trees > 0) and np.all(n_spread >= 0)), "each stage must have trees")
    is_classifier = forest.classes is not None
    _require(bool(np.all((n_spread > 0) != is_classifier)), "trees of the expected error go with regression")
    _require(
        int(n_trees.max()) <= forest.n_trees
        and int(n_spread.max()) <= forest.n_trees
        and float(n_trees.sum(dtype=np.float64) + n_spread.sum(dtype=np.float64)) == forest.n_trees,
        "stages must use all trees, each once",
    )
    n_sources, sources = arrays["n_sources"], arrays["sources"]
    _require(
        bool(np.all((n_sources >= 0) & (n_sources <= sources.size)) and n_sources.sum() == sources.size),
        "n_sources must add up to the number of sources",
    )
    _require(bool(np.all((sources >= 0) & (sources < costs.n_sources))), "there is no such source")
    _require(arrays["base"].shape[1] == forest.n_outputs, f"base must have {forest.n_outputs} columns")
    _require(bool(np.all(np.isfinite(arrays["spread_base"]))), "spread_base must be finite")
    scale, decay = arrays["scale"], arrays["decay"]
    _require(
        bool(np.all((scale > 0) & (scale <= _LARGEST_SCALE))), f"scale must be in (0, {_LARGEST_SCALE:g}]"
    )
    _require(bool(np.all((decay >= 0) & (decay <= 1))), "decay must be between 0 and 1")
    link = forest.link if is_classifier else "identity"
    _require(not is_classifier or link in ("logistic", "softmax"), "the link must be logistic or softmax")
    tree = np.append(0, np.cumsum(n_trees))
    spread = np.append(0, np.cumsum(n_spread)) + tree[-1]
    source = np.append(0, np.cumsum(n_sources))
    stages = []
    for k in range(n_trees.size):
        part = replace(take_trees(forest, tree[k], tree[k + 1]), base=frozen(arrays["base"][k].copy()))
        error = None
        if not is_classifier:
            base = frozen(arrays["spread_base"][k : k + 1].copy())
            error = replace(take_trees(forest, spread[k], spread[k + 1]), base=base)
        own = tuple(sources[source[k] : source[k + 1]].tolist())
        stages.append(Stage(own, part, float(scale[k]), error))
    found = []
    for c in range(decay.size):
        own_stages = tuple(stages[k] for k in np.flatnonzero(arrays["chain"] == c).tolist())
        _check_sources(own_stages, costs)
        found.append(Chain(own_stages, float(decay[c]), link))  # type: ignore[arg-type]
    return tuple(found)


def _check_sources(stages: tuple[Stage, ...], costs: CostTable) -> None:
    """Trees must test only what has been bought, and nothing is bought twice."""
    has = costs.price == 0
    for stage in stages:
        own = list(stage.sources)
        _require(len(set(own)) == len(own) and not has[own].any(), "a source is bought twice")
        has[own] = True
        for forest in (stage.forest, stage.spread):
            if forest is not None:
                for k in np.unique(forest.feature[forest.is_split]).tolist():
                    needed = costs.needs[costs.needs_start[k] : costs.needs_start[k + 1]]
                    _require(bool(has[needed].all()), f"a tree tests feature {k}, which is not available yet")


def _objectives(
    header: dict[str, Any], arrays: dict[str, NDArray[Any]], forest: Forest
) -> tuple[Objective, ErrorCosts | None]:
    name, price = header["objective"], header["price"]
    _require(name in _OBJECTIVES, f"there is no objective {name!r:.40}")
    if forest.classes is None:
        _require(name == "squared error" and type(price) in (int, float), "regression has squared errors")
        _require(0 < price <= 1e100, "price must be positive")
        return SquaredError(float(price)), None
    _require(name != "squared error", "squared errors are for regression")
    answer = ErrorCosts(check_error_costs(arrays["error_costs"], forest.classes.size))
    return (answer if name == "error costs" else LogLoss()), answer


def _curve(arrays: dict[str, NDArray[Any]]) -> StagedTradeOff:
    chain, n_stages = arrays["point_chain"], np.bincount(arrays["chain"])
    _require(bool(np.all((chain >= 0) & (chain < n_stages.size))), "a point has a chain that does not exist")
    _require(
        arrays["thresholds"].shape[1] == n_stages.max(), "thresholds must be as wide as the longest chain"
    )
    _require(arrays["stops"].shape == arrays["thresholds"].shape, "stops must be as wide as thresholds")
    columns = {name: arrays[name] for name in ("cost", "score", "cost_std", "score_std", "loss", "lam")}
    return StagedTradeOff(
        **columns,
        chain=chain.astype(np.intp),
        thresholds=tuple(arrays["thresholds"][i, : n_stages[c]] for i, c in enumerate(chain.tolist())),
        stops=tuple(arrays["stops"][i, : n_stages[c]] for i, c in enumerate(chain.tolist())),
    )


def _check_curve(model: StagedModel) -> None:
    curve = model.trade_off
    _require(bool(np.all(np.isfinite(curve.cost)) and np.all(curve.cost >= 0)), "costs must be finite")
    _require(bool(np.all(np.diff(curve.cost) >= 0)), "points must be in the order of their cost")
    # Rules by which all rows stop at the same stage have no lambda.
    amounts = {"lam": np.where(np.isnan(curve.lam), 0.0, curve.lam)}
    amounts |= {name: getattr(curve, name) for name in ("cost_std", "score_std", "loss")}
    for name, values in amounts.items():
        _require(
            bool(np.all(np.isfinite(values) & (values >= 0))), f"{name} must be finite, and not negative"
        )
    _require(bool(np.all(np.isfinite(curve.score))), "scores must be finite")
    for thresholds, stops in zip(curve.thresholds, curve.stops, strict=True):
        _require(not np.isnan(thresholds).any(), "a threshold is not a number")
        _require(bool(np.all((stops >= 0) & (stops <= 1))), "stops must be shares")
