"""Steps that are called as they are: what each of their outputs needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sklearn.utils.validation import check_is_fitted

from budgetprune.costs import join_first
from budgetprune.errors import InvalidInputError
from budgetprune.preprocessing.external import External, as_input, split_columns
from budgetprune.preprocessing.raw_columns import is_missing
from budgetprune.preprocessing.translate.builder import Builder

# Function of the numbers of inputs and outputs; None: the numbers do not fit.
Needs = Callable[[int, int], list[tuple[int, ...]] | None]


def all_inputs(n_inputs: int, n_outputs: int) -> list[tuple[int, ...]]:
    """Each output needs all inputs."""
    return [tuple(range(n_inputs))] * n_outputs


def one_to_one(n_inputs: int, n_outputs: int) -> list[tuple[int, ...]] | None:
    """Each output needs the input at its position."""
    return [(k,) for k in range(n_inputs)] if n_inputs == n_outputs else None


def equal_blocks(n_inputs: int, n_outputs: int) -> list[tuple[int, ...]] | None:
    """Each input has the same number of outputs, one after the other."""
    if n_outputs % n_inputs:
        return None
    return [(k // (n_outputs // n_inputs),) for k in range(n_outputs)]


def mixing(builder: Builder, name: str, transformer: Any, inputs: list[int], is_flat: bool) -> list[int]:
    """Add a transformer each of whose outputs needs all inputs, such as PCA."""
    return add_external(builder, name, transformer, inputs, all_inputs, is_flat)


def columnwise(builder: Builder, name: str, transformer: Any, inputs: list[int], is_flat: bool) -> list[int]:
    """Add a transformer of single columns, such as PowerTransformer."""
    return add_external(builder, name, transformer, inputs, one_to_one, is_flat)


def blockwise(builder: Builder, name: str, transformer: Any, inputs: list[int], is_flat: bool) -> list[int]:
    """Add a transformer with several outputs per column, such as SplineTransformer."""
    return add_external(builder, name, transformer, inputs, equal_blocks, is_flat)


def add_external(
    builder: Builder, name: str, transformer: Any, inputs: list[int], needs: Needs, is_flat: bool
) -> list[int]:
    """Add a transformer that is called as it is."""
    size = _n_outputs(builder, name, transformer, inputs, is_flat)
    found = needs(len(inputs), size)
    if found is None:
        raise InvalidInputError(
            f"step {name!r} ({type(transformer).__name__}) has {len(inputs)} inputs, but {size} outputs, "
            "so it is not one-to-one; write a list with the inputs of each output."
        )
    needs_all = all(len(each) == len(inputs) for each in found)
    template = () if needs_all else _template(builder, name, transformer, inputs)
    return builder.add(
        External(tuple(inputs), name, transformer, size, tuple(found), template, is_flat),
        [f"{name}_{k}" for k in range(size)],
    )


def add_traced(builder: Builder, name: str, transformer: Any, inputs: list[int], is_flat: bool) -> list[int]:
    """Add a step for which the user says what its outputs need."""
    said = builder.needs[name]
    if isinstance(said, str):
        rules: dict[str, Needs] = {"all": all_inputs, "one-to-one": one_to_one}
        if said not in rules:
            raise _invalid(name, said)
        return add_external(builder, name, transformer, inputs, rules[said], is_flat)
    if isinstance(said, Mapping):
        said = _by_output(name, transformer, said)
    if not isinstance(said, Iterable):
        raise _invalid(name, said)
    names = [builder.names[k] for k in inputs]
    found = [_positions(name, each, names) for each in said]

    def given(n_inputs: int, n_outputs: int) -> list[tuple[int, ...]]:
        del n_inputs
        if len(found) != n_outputs:
            raise InvalidInputError(
                f"needs lists {len(found)} outputs of step {name!r}, but it has {n_outputs}."
            )
        return found

    return add_external(builder, name, transformer, inputs, given, is_flat)


def _by_output(name: str, transformer: Any, said: Mapping[Any, Any]) -> list[Any]:
    outputs = [str(each) for each in transformer.get_feature_names_out()]
    missing = [repr(each) for each in outputs if each not in said]
    if missing or len(said) > len(outputs):
        raise InvalidInputError(
            f"needs must list each output of step {name!r}: {join_first(map(repr, outputs))}."
        )
    return [said[each] for each in outputs]


def _positions(step: str, said: Any, names: list[str]) -> tuple[int, ...]:
    """Return positions of inputs that are given by names or positions."""
    found = []
    for each in [said] if isinstance(said, str | int) else said:
        if isinstance(each, int) and 0 <= each < len(names):
            found.append(each)
        elif each in names:
            found.append(names.index(each))
        else:
            raise InvalidInputError(
                f"needs names {each!r} for step {step!r}, but its inputs are {join_first(map(repr, names))}."
            )
    if not found:
        raise InvalidInputError(f"needs lists no input for an output of step {step!r}; list at least one.")
    return tuple(sorted(set(found)))


def _invalid(name: str, said: Any) -> InvalidInputError:
    return InvalidInputError(
        f"needs={{{name!r}: ...}} must be 'all', 'one-to-one' or a list with the inputs of each output, "
        f"not {said!r}."
    )


def _n_outputs(builder: Builder, name: str, transformer: Any, inputs: list[int], is_flat: bool) -> int:
    sample = builder.sample_of(inputs)
    if sample is not None:
        return len(
            split_columns(
                transformer.transform(as_input(transformer, [each[:1] for each in sample], is_flat))
            )
        )
    check_is_fitted(transformer)
    try:
        return len(transformer.get_feature_names_out())
    except (AttributeError, ValueError):
        raise InvalidInputError(
            f"the number of outputs of step {name!r} ({type(transformer).__name__}) is not known; give "
            "some raw rows (X=...)."
        ) from None


def _template(builder: Builder, name: str, transformer: Any, inputs: list[int]) -> tuple[Any, ...]:
    """Return the sample row with the fewest missing values."""
    sample = builder.sample_of(inputs)
    if sample is None:
        raise InvalidInputError(
            f"step {name!r} ({type(transformer).__name__}) is called as it is, and needs one row of "
            "values for inputs that are not known yet; give some raw rows (X=...)."
        )
    rows = list(zip(*(column.tolist() for column in sample), strict=True))
    return min(rows, key=lambda row: sum(map(is_missing, row)))
