"""Try to break the loader of staged models: ``make fuzz``, or ``python -m tests.staged.fuzz_staged_file``.

Every case must be refused with InvalidInputError, or give a model that can be used: it predicts, decides
step by step as it predicts, and is saved to the same bytes again. See `tests.persistence.fuzz_model_file`.
"""

from __future__ import annotations

import faulthandler
import sys
import warnings
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from budgetprune import BudgetPredictor, InvalidInputError, StagedPredictor
from budgetprune.forest.schema import MISSING
from budgetprune.model import BudgetModel

from ..fuzzing import FLOATS, INTEGERS, SECONDS_PER_CASE, walk
from ..golden.staged_models import STAGED
from ..golden.write import FOLDER, with_path
from ..persistence.fuzz_model_file import main, try_cases
from ..persistence.mutations import EDITS, Edit, accident, intents, put
from ..persistence.parts import Parts, assemble
from ..predictor.extremes import EXTREMES

MODULE = "tests.staged.fuzz_staged_file"

N_ROWS, N_POINTS = 4, 3
NUMBERS = [0.0, 1.0, -1.25, 2.5, 40.0, 1e30, -1e30, 33.0, 49.5]


@cache
def originals() -> tuple[bytes, ...]:
    """Files that are all right: one model with a description as well."""
    found = [(FOLDER / f"{name}-3.budgetprune").read_bytes() for name in STAGED]
    parts = Parts(found[0])
    about = with_path().about
    assert about is not None
    parts.header["about"] = about.to_json()
    return (*found, assemble(parts.text().encode(), parts.body(), parts.version))


# --- In a child ---------------------------------------------------------------------------------------------


def judge(file: Path) -> str | None:
    """Load a file and use what it holds; return why it was refused, or None. Other errors are findings."""
    faulthandler.dump_traceback_later(SECONDS_PER_CASE, exit=True)
    try:
        predictor = BudgetPredictor.load(file)
    except InvalidInputError as error:
        return reason_of(file, error)
    else:
        told = use(predictor)
        again = file.with_name("again")
        predictor.save(again)
        twin, content = BudgetPredictor.load(again), again.read_bytes()
        twin.save(again)
        assert again.read_bytes() == content
        assert use(twin) == told
        return judge_model(file)
    finally:
        faulthandler.cancel_dump_traceback_later()


def judge_model(file: Path) -> str | None:
    """The same for what a predictor has no use for: the description of the model."""
    try:
        model = BudgetModel.load(file)
    except InvalidInputError as error:
        return f"model: {reason_of(file, error)}"
    again = file.with_name("again")
    model.save(again)
    assert type(BudgetModel.load(again).predictor) is type(model.predictor)
    return None


def reason_of(file: Path, error: InvalidInputError) -> str:
    before, name, reason = str(error).partition(f"{file} cannot be loaded: ")
    if before or not name:
        raise AssertionError("the message does not begin with the file") from error
    return reason


def use(predictor: BudgetPredictor) -> list[bytes]:
    """Use a model at several budgets; return what it predicts."""
    assert isinstance(predictor, StagedPredictor)
    repr(predictor)
    curve = predictor.model.trade_off
    found = []
    for point in np.unique(np.linspace(0, len(curve) - 1, N_POINTS).astype(int)).tolist():
        found += use_point(predictor.with_budget(float(curve.cost[point])))
    return found + use_point(predictor) + use_point(predictor.with_budget(None))


def use_point(predictor: StagedPredictor) -> list[bytes]:
    """Compare what is decided step by step with what is simulated. Nothing may overflow."""
    walk(predictor.forest)
    named = named_rows(predictor)
    if named is None:
        return []
    values = predictor._engine.values
    X = np.array([[values.read(k, row[name]) for k, name in enumerate(values.names)] for row in named])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        told = predictor.simulate(X)
        check(predictor, told)
        for i, row in enumerate(named):
            for fetch in (row, partial(fetched, predictor, row)):
                decision = predictor.decide(fetch)
                np.testing.assert_array_equal(decision.label, told.label[i])
                np.testing.assert_allclose(decision.cost, told.cost[i])
                assert decision.decided == told.decided[i]
        step(predictor, named[0])
        answers = predictor.predict(X)
    found = [told.label, told.cost, told.decided, told.acquired, answers]
    found += [] if told.probabilities is None else [told.probabilities]
    return [array.tobytes() for array in found]


def check(predictor: StagedPredictor, told: Any) -> None:
    """What is simulated is in range."""
    limit = np.inf if predictor.max_cost is None else predictor.max_cost
    assert (told.cost <= limit * (1 + 1e-9)).all()
    assert np.isfinite(told.cost).all()
    if told.probabilities is None:
        assert np.isfinite(told.label).all()
    else:
        np.testing.assert_allclose(told.probabilities.sum(axis=1), 1)
        assert np.isin(told.label, predictor.model.classes).all() or told.label.dtype.kind == "f"


def fetched(predictor: StagedPredictor, row: dict[str, Any], source: str) -> dict[str, Any]:
    return {name: row[name] for name in predictor.features_of(source)}


def step(predictor: StagedPredictor, row: dict[str, Any]) -> None:
    """Ask what is next with little, with more, and with nothing to be had."""
    half = dict(list(row.items())[::2])
    for decision in (
        predictor.step({}),
        predictor.step(half),
        predictor.step({}, known=half),
        predictor.step({}, unavailable=predictor.source_names),
        predictor.step({}, known=half, unavailable=predictor.source_names[::2], max_cost=1.0),
    ):
        assert decision.next is None or decision.next in predictor._engine.source_names
        assert np.isfinite(decision.cost)
        assert decision.probabilities is None or np.isfinite(decision.probabilities).all()


def named_rows(predictor: StagedPredictor) -> list[dict[str, Any]] | None:
    """Rows as a user would write them; None if there is no value that some feature accepts."""
    forest, values = predictor.forest, predictor._engine.values
    rows: list[dict[str, Any]] = [{} for _ in range(N_ROWS)]
    for k, name in enumerate(values.names):
        labels = None if forest.categories is None else forest.categories[k]
        offered = [*(NUMBERS if labels is None else labels[:7]), None]
        accepted = [value for value in offered if is_accepted(values, k, value)]
        if not accepted:
            return None
        for i, row in enumerate(rows):
            row[name] = accepted[(3 * i + 5 * k) % len(accepted)]
    return rows


def is_accepted(values: Any, k: int, value: Any) -> bool:
    try:
        values.read(k, value)
    except InvalidInputError:
        return False
    return True


def run_batch(first: int, n_cases: int, folder: Path) -> dict[str, int]:
    """Run some cases of either kind here; count the reasons for refusals, "" for models that loaded."""
    file = folder / "case"
    for content, dtype in product(originals()[:3], ("<f8", "<f4")):
        # Kernels are compiled before time and memory count.
        parts = Parts(content)
        parts.header["forest"].update(input_dtype=dtype)
        file.write_bytes(assemble(parts.text().encode(), parts.body(), parts.version))
        assert judge(file) is None
    accidents = partial(accident, files=originals())
    return try_cases(first, n_cases, file, judge, accidents, intents(originals(), STAGED_EDITS))


# --- Intent -------------------------------------------------------------------------------------------------


def edit_section(draw: st.DrawFn, parts: Parts) -> None:
    """Put other numbers into an array of the section, into one place or all of them."""
    own = [i for i, entry in enumerate(parts.table) if entry["name"].startswith("staged.")]
    array = parts.arrays[draw(st.sampled_from(own))].reshape(-1)
    if not array.size:
        return
    i, j = (draw(st.integers(0, array.size - 1)) for _ in range(2))
    place = draw(st.sampled_from([slice(i, i + 1), slice(i, i + 1), slice(None)]))
    if array.dtype.kind == "f":
        extremes = draw(st.sampled_from([-1, 1])) * draw(st.sampled_from(EXTREMES))
        array[place] = draw(st.sampled_from([*FLOATS, 0.25, 1.0, extremes, array[j], array[i] / 2]))
    else:
        near = [int(array[j]), int(array[i]) + 1, int(array[i]) - 1]
        put(array, place, draw(st.sampled_from(near) | st.sampled_from(INTEGERS)))


def edit_settings(draw: st.DrawFn, parts: Parts) -> None:
    """Choose another point, objective or price, or another setting of the forest that exists."""
    section, forest, options = (parts.header.get(name) for name in ("staged", "forest", "options"))
    match draw(st.sampled_from(["point", "objective", "price", "forest", "max_cost"])):
        case "point" if isinstance(section, dict):
            section[draw(st.sampled_from(["best", "point"]))] = draw(st.integers(-1, 5))
        case "objective" if isinstance(section, dict):
            section["objective"] = draw(st.sampled_from(["error costs", "log loss", "squared error", ""]))
        case "price" if isinstance(section, dict):
            section["price"] = draw(st.sampled_from([*EXTREMES, 0, 1, True, None]))
        case "forest" if isinstance(forest, dict):
            forest["missing"] = draw(st.sampled_from(MISSING))
            forest["input_dtype"] = draw(st.sampled_from(["<f4", "<f8"]))
            forest["absent_is_missing"] = draw(st.booleans())
        case "max_cost" if isinstance(options, dict):
            options["max_cost"] = draw(st.sampled_from([None, 0, 0.5, 1, 5, 16, 1e300, -1, True]))


def move(draw: st.DrawFn, parts: Parts, name: str) -> None:
    """Give a part of what one stage has to another."""
    array = parts.arrays[parts.index(name)]
    if array.size:
        i, j = (draw(st.integers(0, array.size - 1)) for _ in range(2))
        put(array, i, int(array[i]) + 1)
        put(array, j, int(array[j]) - 1)


def edit_stages(draw: st.DrawFn, parts: Parts) -> None:
    """Change several arrays of the section at once, so that they still fit each other, or nearly."""
    names = {entry["name"] for entry in parts.table}
    if not {f"staged.{name}" for name in ("chain", "decay", "sources", "thresholds", "stops")} <= names:
        return
    chain, decay, sources, thresholds, stops = (
        parts.arrays[parts.index(f"staged.{name}")]
        for name in ("chain", "decay", "sources", "thresholds", "stops")
    )
    kinds = [
        "trees",
        "spread trees",
        "sources",
        "order",
        "shuffle",
        "chains",
        "thresholds",
        "stops",
        "double",
    ]
    match draw(st.sampled_from(kinds)):
        case "trees":
            move(draw, parts, "staged.n_trees")
        case "spread trees":
            move(draw, parts, "staged.n_spread_trees")
        case "sources":
            move(draw, parts, "staged.n_sources")
        case "order":
            sources[:] = draw(st.permutations(sources.tolist()))
        case "shuffle":
            per_stage = [i for i, array in enumerate(parts.arrays) if len(array) == chain.size]
            order = list(draw(st.permutations(range(chain.size))))
            for i in per_stage:
                parts.arrays[i] = parts.arrays[i][order]
        case "chains" if chain.size:
            chain[draw(st.integers(0, chain.size - 1)) :] += 1
            parts.arrays[parts.index("staged.decay")] = np.resize(decay, int(chain[-1]) + 1)
        case "thresholds":
            thresholds[:] = draw(st.sampled_from([-np.inf, np.inf, 0.0, 0.5, 2.0]))
        case "stops":
            stops[:] = 1.0 / max(1, stops.shape[-1])
        case "double":
            for name in names:
                i = parts.index(name)
                if name.startswith("staged.") and len(parts.arrays[i]) == len(thresholds):
                    parts.arrays[i] = np.repeat(parts.arrays[i], 2, axis=0)
    parts.describe()


STAGED_EDITS: list[Edit] = [*EDITS, *[edit_section] * 4, *[edit_stages] * 4, *[edit_settings] * 2]


if __name__ == "__main__":
    sys.exit(main(MODULE, run_batch))
