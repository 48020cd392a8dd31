"""Category numbering and sets in scikit-learn's histogram-based gradient boosting."""

from __future__ import annotations

from math import isnan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetprune.errors import UnsupportedModelError
from budgetprune.forest.damage import check_model

# Categories that are whole numbers below this limit are used as their own codes: sets have a bit for each.
_SMALL = 4096

_MOST = 256  # bits in a set of scikit-learn


def swapped(table: NDArray[Any]) -> NDArray[np.bool_]:
    """Mask of the splits whose children change sides in a Forest.

    In scikit-learn, unknown categories go to the side of missing values; in a Forest, categories outside the
    set go right. So if unknown ones go left, the children are exchanged, and the set holds the known
    categories that went right.
    """
    by_category = (table["is_leaf"] == 0) & (table["is_categorical"] != 0)
    return np.asarray(by_category & (table["missing_go_to_left"] != 0))


class Encoding(NamedTuple):
    """Mapping of columns to features, and of categories to numbers, by an ensemble's preprocessing."""

    columns: NDArray[np.intp]  # column of X for each feature of the trees
    numbers: dict[int, NDArray[np.int64]]  # by column: the number in a Forest of each category
    categories: tuple[tuple[Any, ...] | None, ...] | None  # as in Forest

    def category_fields(
        self,
        feature: NDArray[np.int64],
        by_category: NDArray[np.bool_],
        bits: NDArray[np.uint32],
        is_swapped: NDArray[np.bool_],
    ) -> dict[str, Any]:
        """The fields of Forest about categories.

        Parameters
        ----------
        feature : column of X that each node tests
        by_category : mask of the nodes that do so by category
        bits : sets that scikit-learn sends left there, by its own category numbers, of shape (n_sets, 8)
        is_swapped : whether the other categories go left instead
        """
        is_member = np.unpackbits(bits.astype("<u4").view(np.uint8), axis=1, bitorder="little") != 0
        is_member ^= is_swapped[:, np.newaxis]
        tested = feature[by_category]
        n_words = np.ones(tested.size, dtype=np.int64)
        words = [np.empty(0, dtype=np.uint32)]
        place = []  # sets are numbered column by column
        for column in np.unique(tested).tolist():
            own = np.flatnonzero(tested == column)
            numbers = self.numbers[column]
            width = 1 + numbers.max(initial=0) // 32
            wide = np.zeros((own.size, 32 * width), dtype=np.bool_)
            wide[:, numbers] = is_member[own, : numbers.size]
            words.append(np.packbits(wide, axis=1, bitorder="little").view("<u4").ravel())
            n_words[own] = width
            place.append(own)
        order = np.concatenate([np.empty(0, dtype=np.int64), *place])
        category_set = np.full(feature.size, -1)
        category_set[np.flatnonzero(by_category)[order]] = np.arange(order.size)
        return {
            "category_set": category_set,
            "category_start": np.concatenate([[0], np.cumsum(n_words[order])]),
            "category_bits": np.concatenate(words),
            "categories": self.categories,
        }


def find_encoding(model: Any) -> Encoding:
    """Read the preprocessing: the trees see categorical columns first, numbered, and then the others."""
    n_columns = model.n_features_in_
    if model.is_categorical_ is None:
        return Encoding(np.arange(n_columns), {}, None)
    check_model(
        np.shape(model.is_categorical_) == (n_columns,) and model.is_categorical_.dtype == np.bool_,
        f"which of its {n_columns} columns are categories is not known",
    )
    categorical = np.flatnonzero(model.is_categorical_)
    encoder = model._preprocessor.named_transformers_["encoder"]
    numbers: dict[int, NDArray[np.int64]] = {}
    categories: list[tuple[Any, ...] | None] = [None] * n_columns
    for column, found in zip(categorical.tolist(), encoder.categories_, strict=True):
        check_model(
            len(found) <= _MOST + 1, f"column {column} has {len(found)} categories, more than {_MOST}"
        )
        # NaN is the last entry of the encoder's categories, but it gets no code.
        known = tuple(category for category in found.tolist() if not _is_nan(category))
        if all(_is_small_number(category) for category in known):
            # These categories are used as their own codes, as in scikit-learn, also if X is an array.
            numbers[column] = np.array(known, dtype=np.int64)
            categories[column] = tuple(range(1 + numbers[column].max(initial=-1)))
            continue
        _check_readable(model, column, known)
        numbers[column] = np.arange(len(known))
        categories[column] = known
    columns = np.concatenate([categorical, np.flatnonzero(~model.is_categorical_)])
    return Encoding(columns, numbers, tuple(categories))


def _check_readable(model: Any, column: int, known: tuple[Any, ...]) -> None:
    """Raise if scikit-learn reads categories from arrays, where a Forest reads their numbers."""
    is_text = any(isinstance(category, str) for category in known)
    if not is_text and not hasattr(model, "feature_names_in_"):
        raise UnsupportedModelError(
            f"column {column} of the array that this {type(model).__name__} was trained on has categories "
            f"like {known[0]!r}; number them from 0 (up to {_SMALL - 1}), or train it on a table with names "
            "of columns."
        )


def _is_nan(category: Any) -> bool:
    return isinstance(category, float) and isnan(category)


def _is_small_number(category: Any) -> bool:
    return isinstance(category, int | float) and category in range(_SMALL)
