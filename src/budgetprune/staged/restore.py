"""Create a staged model from the content of a file, which may be corrupt: everything is checked."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetprune.costs import CostTable
from budgetprune.errors import InvalidInputError
from budgetprune.forest import LARGEST_SUM, Forest
from budgetprune.staged.model.chain import Chain, Stage
from budgetprune.staged.model.error_costs import LARGEST_PRICE, check_error_costs
from budgetprune.staged.model.join import take_trees
from budgetprune.staged.model.links import link_of
from budgetprune.staged.model.objective import (
    ErrorCostObjective,
    LogLossObjective,
    Objective,
    SquaredErrorObjective,
    ThresholdObjective,
)
from budgetprune.staged.model.staged_model import StagedModel
from budgetprune.staged.model.tradeoff import StagedTradeOff

# One entry for each stage of each chain, chain by chain.
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
# One entry for each stage of each chain; may be absent.
_OPTIONAL: dict[str, Any] = {"stage_score": np.float64}
DTYPES = _PER_STAGE | _PER_POINT | _OTHERS | _OPTIONAL
NUMBERS_OF_POINTS = ("cost", "score", "cost_std", "score_std", "loss", "lam")
OBJECTIVES = ("error costs", "log loss", "squared error")
_TWO_DIMENSIONAL = ("base", "thresholds", "stops", "error_costs")
_HEADER = {"objective", "price", "best", "point"}
_THRESHOLD = "threshold"  # may be absent
# Each stage becomes a forest, so a small file with very many stages could take much memory and time. Training
# makes at most 42 stages.
MOST_STAGES = 256
_LARGEST_SCALE = 100.0
_LAST_ROUND = 2**31 - 1
# Tolerance for rounding errors of sums and averages.
_ROUNDING = 1e-6

Arrays = dict[str, NDArray[Any]]


def restore_model(forest: Forest, costs: CostTable, header: Any, arrays: Arrays) -> StagedModel:
    """Create a staged model from the content of a file, or raise InvalidInputError.

    Parameters
    ----------
    forest : Forest
        The trees of all stages.
    costs : CostTable
        For the features of this forest.
    header : JSON value
        Objective and points.
    arrays : dict
        Arrays of known names and types: `DTYPES`.
    """
    _check_sizes(header, arrays)
    _check_points(header, arrays)
    _check_trees(forest, arrays)
    objective, answer = _objectives(header, arrays, forest)
    chains = _chains(forest, costs, arrays)
    curve = _curve(arrays)
    _check_costs(curve, chains, costs)
    return StagedModel(
        chains=chains,
        trade_off=curve,
        best=header["best"],
        point=header["point"],
        objective=objective,
        costs=costs,
        classes=forest.classes,
        answer=answer,
    )


def _require(condition: Any, what: str) -> None:
    if not condition:
        raise InvalidInputError(f"these are not valid stages: {what}.")


# --- Numbers ------------------------------------------------------------------------------------------------


def _check_sizes(header: Any, arrays: Arrays) -> None:
    """Check that no array is missing, and that each has one entry per stage, chain or point."""
    is_complete = isinstance(header, dict) and header.keys() - {_THRESHOLD} == _HEADER
    _require(is_complete, f"the header must have {', '.join(sorted(_HEADER))}")
    absent = sorted(DTYPES.keys() - _OPTIONAL.keys() - arrays.keys())
    _require(not absent, f"{', '.join(absent)} must not be missing")
    for name, array in arrays.items():
        n_dimensions = 2 if name in _TWO_DIMENSIONAL else 1
        _require(array.ndim == n_dimensions, f"{name} must be {('one', 'two')[n_dimensions - 1]}-dimensional")
    n_stages, n_points = arrays["chain"].size, arrays["cost"].size
    _require(1 <= n_stages <= MOST_STAGES, f"there must be 1 to {MOST_STAGES} stages, not {n_stages}")
    _require(n_points > 0, "there must be points")
    for name in [*_PER_STAGE, *(_OPTIONAL.keys() & arrays.keys())]:
        _require(len(arrays[name]) == n_stages, f"{name} must have an entry for each of {n_stages} stages")
    for name in _PER_POINT:
        _require(len(arrays[name]) == n_points, f"{name} must have an entry for each of {n_points} points")
    n_chains, chain = arrays["decay"].size, arrays["chain"]
    _require(
        chain[0] == 0 and chain[-1] == n_chains - 1 and np.isin(np.diff(chain), (0, 1)).all(),
        f"chain must grow from 0 by 0 or 1, up to the last of {n_chains} chains",
    )


def _check_points(header: dict[str, Any], arrays: Arrays) -> None:
    """Check that the values of the curve are in range, and that their chains and stages exist."""
    n_points, n_stages = arrays["cost"].size, np.bincount(arrays["chain"])
    for name in ("best", "point"):
        # bool is a subclass of int, but not a valid index.
        is_point = type(header[name]) is int and 0 <= header[name] < n_points
        _require(is_point, f"{name} must be an integer from 0 to {n_points - 1}")
    for name in NUMBERS_OF_POINTS:
        _require(np.all(np.isfinite(arrays[name])), f"{name} must be finite")
        _require(name == "score" or np.all(arrays[name] >= 0), f"{name} must not be negative")
    _require(np.all(np.diff(arrays["cost"]) >= 0), "points must be in the order of their cost")
    chain = arrays["point_chain"]
    _require(
        np.all((chain >= 0) & (chain < n_stages.size)), f"point_chain must be from 0 to {n_stages.size - 1}"
    )
    width = int(n_stages.max())
    for name in ("thresholds", "stops"):
        _require(arrays[name].shape[1] == width, f"{name} must have {width} columns, as the longest chain")
        is_behind = np.arange(width) >= n_stages[chain][:, np.newaxis]
        _require(not arrays[name][is_behind].any(), f"{name} must be 0 after the last stage of a chain")
    _require(not np.isnan(arrays["thresholds"]).any(), "thresholds must not be NaN")
    stops = arrays["stops"]
    _require(
        np.all((stops >= 0) & (stops <= 1)) and np.all(np.abs(stops.sum(axis=1) - 1) <= _ROUNDING),
        "stops must be shares that add up to 1",
    )


def _check_trees(forest: Forest, arrays: Arrays) -> None:
    """Check that stages use each tree once, and that scores are sums over trees."""
    n_trees, n_spread = arrays["n_trees"], arrays["n_spread_trees"]
    is_classifier = forest.classes is not None
    _require(np.all((n_trees > 0) & (n_trees <= forest.n_trees)), "each stage must have trees")
    has_spread = (n_spread > 0) & (n_spread <= forest.n_trees)
    _require(
        np.all(n_spread == 0) if is_classifier else np.all(has_spread),
        "each stage must have trees of the expected error for regression, and none for classes",
    )
    # These sums cannot overflow, because there are few stages.
    _require(n_trees.sum() + n_spread.sum() == forest.n_trees, "stages must use all trees, each once")
    links = ("logistic", "softmax", "identity") if is_classifier else ("identity",)
    _require(forest.link in links, f"link must be {' or '.join(links)}")
    rounds = forest.tree_round
    _require(rounds is not None and forest.divisor == 1, "trees must be boosted, and not averaged")
    assert rounds is not None
    # Joining stages renumbers their rounds consecutively.
    _require(rounds[-1] <= _LAST_ROUND - 2 * MOST_STAGES, "tree_round is too large")
    base, spread_base = arrays["base"], arrays["spread_base"]
    _require(base.shape[1] == forest.n_outputs, f"base must have {forest.n_outputs} columns")
    _require(np.array_equal(base[0], forest.base), "base must begin with the base of the forest")
    _require(not is_classifier or not spread_base.any(), "spread_base must be 0 for classes")
    with np.errstate(over="ignore"):
        total = np.abs(base).sum() + np.abs(spread_base).sum()
    _require(total <= LARGEST_SUM, f"base and spread_base must add up to at most {LARGEST_SUM:g}")


def _check_costs(curve: StagedTradeOff, chains: Sequence[Chain], costs: CostTable) -> None:
    """Check that no point costs more than all stages of its chain together."""
    most = np.array(
        [sum(costs.price[list(stage.sources)].sum() for stage in chain.stages) for chain in chains]
    )
    _require(
        np.all(curve.cost <= most[curve.chain] * (1 + _ROUNDING)),
        "cost must not be above the price of all stages of the chain",
    )


# --- Parts --------------------------------------------------------------------------------------------------


def _objectives(
    header: dict[str, Any], arrays: Arrays, forest: Forest
) -> tuple[Objective, ErrorCostObjective | None]:
    name, price, threshold = header["objective"], header["price"], header.get(_THRESHOLD)
    is_threshold = isinstance(threshold, int | float) and type(threshold) is not bool and 0 <= threshold <= 1
    _require(
        _THRESHOLD not in header
        or (is_threshold and forest.classes is not None and forest.classes.size == 2),
        "threshold must be a number from 0 to 1, for two classes",
    )
    _require(name in OBJECTIVES, f"there is no objective {reprlib.repr(name)}")
    _require(
        type(price) in (int, float) and 0 < price <= LARGEST_PRICE,
        f"price must be a number above 0, up to {LARGEST_PRICE:g}",
    )
    _require(
        (name == "squared error") == (forest.classes is None),
        "the objective must be the squared error for regression, and another one for classes",
    )
    if forest.classes is None:
        _require(arrays["error_costs"].shape == (0, 0), "error_costs must be empty for regression")
        return SquaredErrorObjective(float(price)), None
    _require(price == 1, "price must be 1 for classes")
    by_costs = ErrorCostObjective(check_error_costs(arrays["error_costs"], forest.classes.size))
    answer = by_costs if threshold is None else ThresholdObjective(float(threshold))
    return (by_costs if name == "error costs" else LogLossObjective()), answer


def _chains(forest: Forest, costs: CostTable, arrays: Arrays) -> tuple[Chain, ...]:
    scale, decay = arrays["scale"], arrays["decay"]
    _require(
        np.all((scale > 0) & (scale <= _LARGEST_SCALE)), f"scale must be above 0, up to {_LARGEST_SCALE:g}"
    )
    _require(np.all((decay >= 0) & (decay <= 1)), "decay must be from 0 to 1")
    sources, (forests, spreads) = _sources(costs, arrays), _forests(forest, arrays)
    stages = [Stage(*parts) for parts in zip(sources, forests, scale.tolist(), spreads, strict=True)]
    starts = np.flatnonzero(np.diff(arrays["chain"], prepend=-1)).tolist()
    link, found = link_of(forest), []
    for (first, end), own_decay in zip(pairwise([*starts, len(stages)]), decay.tolist(), strict=True):
        chain = Chain(tuple(stages[first:end]), own_decay, link)
        _check_sources(chain, costs)
        found.append(chain)
    return tuple(found)


def _sources(costs: CostTable, arrays: Arrays) -> list[tuple[int, ...]]:
    """Return the sources that each stage buys."""
    n_sources, sources = arrays["n_sources"], arrays["sources"]
    _require(
        np.all((n_sources >= 0) & (n_sources <= sources.size)) and n_sources.sum() == sources.size,
        "n_sources must add up to the length of sources",
    )
    _require(
        np.all((sources >= 0) & (sources < costs.n_sources)),
        f"sources must be numbers below {costs.n_sources}",
    )
    return [tuple(sources[a:b].tolist()) for a, b in pairwise(_offsets(n_sources))]


def _forests(forest: Forest, arrays: Arrays) -> tuple[list[Forest], list[Forest | None]]:
    """Return for each stage the trees that add to the scores, and those of the expected error."""
    n_stages = arrays["chain"].size
    tree = _offsets(np.append(arrays["n_trees"], arrays["n_spread_trees"]))
    _check_categories(forest, forest.tree_start[tree])
    base = [*arrays["base"], *arrays["spread_base"][:, np.newaxis]]
    parts = [
        take_trees(forest, a, b, own) if b > a else None
        for (a, b), own in zip(pairwise(tree), base, strict=True)
    ]
    return [part for part in parts[:n_stages] if part is not None], parts[n_stages:]


def _check_categories(forest: Forest, first_node: NDArray[np.int64]) -> None:
    """Check that stages share no sets of categories: a large shared set would be copied for each stage."""
    node = np.flatnonzero(forest.category_set >= 0)
    own, part = forest.category_set[node], np.searchsorted(first_node, node, side="right")
    owner = np.zeros(forest.category_start.size, dtype=np.intp)
    owner[own] = part
    _require(np.all(owner[own] == part), "stages must not share sets of categories")


def _check_sources(chain: Chain, costs: CostTable) -> None:
    """Check that stages test only available sources, and buy each source once, if they test it."""
    _require(not chain.stages[0].sources, "the first stage must not buy anything")
    has = costs.price == 0
    for k, stage in enumerate(chain.stages):
        own = list(stage.sources)
        _require(len(set(own)) == len(own) and not has[own].any(), "a source must be bought once, if at all")
        has[own] = True
        forests = [stage.forest] if stage.spread is None else [stage.forest, stage.spread]
        is_needed = costs.needed_by(np.concatenate([each.used_features for each in forests]))
        _require(has[is_needed].all(), f"stage {k} tests a feature whose sources have not been bought")
        _require(is_needed[own].all(), f"stage {k} buys a source, but tests no feature that needs it")


def _curve(arrays: Arrays) -> StagedTradeOff:
    chain, n_stages = arrays["point_chain"].astype(np.intp), np.bincount(arrays["chain"])
    n_own = n_stages[chain].tolist()
    scores = np.split(arrays["stage_score"], np.cumsum(n_stages)[:-1]) if "stage_score" in arrays else ()
    return StagedTradeOff(
        **{name: arrays[name] for name in NUMBERS_OF_POINTS},
        chain=chain,
        thresholds=tuple(each[:n] for each, n in zip(arrays["thresholds"], n_own, strict=True)),
        stops=tuple(each[:n] for each, n in zip(arrays["stops"], n_own, strict=True)),
        stage_score=tuple(scores),
    )


def _offsets(sizes: NDArray[np.int64]) -> list[int]:
    """Return the offsets of consecutive parts of these sizes, and the end of the last one."""
    found: list[int] = np.append(0, np.cumsum(sizes)).tolist()
    return found
