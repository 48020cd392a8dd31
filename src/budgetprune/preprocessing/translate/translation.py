"""`translate`: a `Preprocessing` that computes what a fitted transformer of scikit-learn computes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.feature_selection import SelectorMixin

from budgetprune.errors import InvalidInputError
from budgetprune.preprocessing.category_numbers import CategoryNumbers
from budgetprune.preprocessing.external import split_columns
from budgetprune.preprocessing.operations import Column
from budgetprune.preprocessing.preprocessing import Preprocessing, Translator, objects_of
from budgetprune.preprocessing.raw_columns import as_numbers, as_objects
from budgetprune.preprocessing.translate import containers, encoders, external, numbers
from budgetprune.preprocessing.translate.builder import Builder, Handler
from budgetprune.preprocessing.translate.category_numbers import category_numbers
from budgetprune.utils.feature_names import default_names

# Rows on which a translation is compared with the transformer.
N_CHECKED = 200

_HANDLERS: Mapping[str, Handler] = {
    "Pipeline": containers.pipeline,
    "ColumnTransformer": containers.column_transformer,
    "FeatureUnion": containers.feature_union,
    "OneHotEncoder": encoders.one_hot,
    "OrdinalEncoder": encoders.by_category,
    "TargetEncoder": encoders.by_category,
    "StandardScaler": numbers.scaler,
    "MinMaxScaler": numbers.scaler,
    "MaxAbsScaler": numbers.scaler,
    "RobustScaler": numbers.scaler,
    "Binarizer": numbers.binarizer,
    "SimpleImputer": numbers.simple_imputer,
    "MissingIndicator": numbers.missing_indicator,
    "KBinsDiscretizer": numbers.bins,
    "PolynomialFeatures": numbers.polynomial,
    "FunctionTransformer": numbers.function,
    "PowerTransformer": external.columnwise,
    "QuantileTransformer": external.columnwise,
    "SplineTransformer": external.blockwise,
    "KNNImputer": external.mixing,
    "IterativeImputer": external.mixing,
    "Normalizer": external.mixing,
    "CountVectorizer": external.mixing,
    "TfidfVectorizer": external.mixing,
    "HashingVectorizer": external.mixing,
}


def find_handler(transformer: Any) -> Handler | None:
    """Return the function that translates a transformer, None if it cannot be traced.

    Subclasses may compute something else, so classes are compared by name.
    """
    kind = type(transformer)
    if kind is CategoryNumbers:
        return category_numbers
    is_sklearn = kind.__module__.partition(".")[0] == "sklearn"
    if is_sklearn and kind.__name__ in _HANDLERS:
        return _HANDLERS[kind.__name__]
    if isinstance(transformer, SelectorMixin):
        return numbers.selection
    # Components of all columns: PCA, TruncatedSVD, KMeans and the like.
    return (
        external.mixing if is_sklearn and isinstance(transformer, ClassNamePrefixFeaturesOutMixin) else None
    )


def translate(transformer: Any, X: Any, needs: Mapping[str, Any]) -> Preprocessing:
    """Implement `Preprocessing.from_sklearn`."""
    if not hasattr(transformer, "transform"):
        raise InvalidInputError(
            f"a preprocessing must be a fitted transformer of scikit-learn, not {type(transformer).__name__}."
        )
    names, has_names = _raw_names(transformer, X)
    head = None if X is None else (X.iloc[:N_CHECKED] if hasattr(X, "iloc") else X[:N_CHECKED])
    sample = None if head is None else _sample(head, names)
    builder = Builder(names, sample, needs, find_handler, external.add_traced)
    outputs = builder.step("", transformer, list(range(len(names))))
    builder.check_needs()
    operations = tuple(builder.operations)
    is_text = tuple(sample is not None and sample[k].dtype == object for k in range(len(names)))
    found = Preprocessing(
        raw_names=names,
        has_names=has_names,
        holds_objects=objects_of(names, operations, is_text),
        operations=operations,
        outputs=tuple(outputs),
        feature_names=_feature_names(transformer, [builder.names[k] for k in outputs]),
    )
    if head is not None and builder.sample is not None:
        _check(found, [builder.sample[k] for k in outputs], transformer.transform(head))
    return found


def _raw_names(transformer: Any, X: Any) -> tuple[tuple[str, ...], bool]:
    if hasattr(transformer, "feature_names_in_"):
        return tuple(map(str, transformer.feature_names_in_)), True
    if hasattr(X, "columns"):
        return tuple(map(str, X.columns)), True
    size = getattr(transformer, "n_features_in_", None if X is None else np.shape(X)[1])
    if size is None:
        raise InvalidInputError(
            f"the number of raw columns of this {type(transformer).__name__} is not known; fit it, and "
            "give some raw rows (X=...)."
        )
    return default_names(int(size)), False


def _sample(X: Any, names: tuple[str, ...]) -> list[Column]:
    """Return the columns of some rows: numbers where all values are numbers, else objects."""
    if hasattr(X, "toarray"):
        X = X.toarray()
    elif not hasattr(X, "columns"):
        X = np.asarray(X, dtype=None if hasattr(X, "dtype") else object)
    if X.shape[1] != len(names):
        raise InvalidInputError(
            f"X has {X.shape[1]} columns, but the preprocessing was fitted on {len(names)}."
        )
    found = []
    for k, name in enumerate(names):
        column = X.iloc[:, k] if hasattr(X, "iloc") else X[:, k]
        try:
            found.append(as_numbers(column, name))
        except InvalidInputError:
            found.append(as_objects(column))
    return found


def _feature_names(transformer: Any, usual: list[str]) -> tuple[str, ...]:
    """Return names of the encoded features, made unique."""
    try:
        names = [str(name) for name in transformer.get_feature_names_out()]
    except (AttributeError, ValueError, TypeError):
        names = usual
    if len(names) != len(usual):
        names = usual
    taken: dict[str, None] = {}
    for name in names:
        unique, number = name, 2
        while unique in taken:
            unique, number = f"{name} ({number})", number + 1
        taken[unique] = None
    return tuple(taken)


def _check(found: Preprocessing, encoded: list[Column | None], expected: Any) -> None:
    """Raise unless the translation computes what the transformer does, up to rounding."""
    columns = split_columns(expected)
    if len(columns) != len(encoded):
        raise InvalidInputError(
            f"the preprocessing has {len(columns)} outputs, but {len(encoded)} were expected; please "
            "report this."
        )
    for name, own, other in zip(found.feature_names, encoded, columns, strict=True):
        assert own is not None
        if own.dtype == object or other.dtype == object:
            is_same = own.tolist() == other.tolist()
        else:
            # Sparse and single-precision computations round differently.
            is_same = np.allclose(own, other, rtol=1e-5, atol=1e-6, equal_nan=True)
        if not is_same:
            raise InvalidInputError(
                f"the feature {name!r} is not computed as scikit-learn does, so this preprocessing is not "
                "supported; please report this."
            )


TRANSLATORS = (Translator("sklearn", translate),)
