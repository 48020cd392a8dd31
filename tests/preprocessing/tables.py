"""Tables and transformers for the tests of preprocessing."""

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.impute import IterativeImputer, KNNImputer, MissingIndicator, SimpleImputer
from sklearn.pipeline import FeatureUnion, make_pipeline, make_union
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)

NUMBERS = ["age", "income", "visits"]
TEXTS = ["city", "plan"]


def make_table(n=120, seed=0, missing=True):
    """Rows with numbers and texts, some of them missing, and their labels."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n).astype(float),
            "city": rng.choice(["Ulm", "Bonn", "Trier", "Jena", "Celle"], n, p=[0.4, 0.3, 0.2, 0.07, 0.03]),
            "income": rng.lognormal(3, 1, n),
            "plan": rng.choice(["a", "b", "c"], n),
            "visits": rng.integers(0, 5, n),
        }
    ).astype({"city": object, "plan": object})
    score = table["age"] / 40 + (table["city"] == "Ulm") * 2 + (table["plan"] == "b") + rng.normal(0, 0.7, n)
    y = np.where(score > score.median(), "yes", "no")
    if missing:
        table.loc[rng.random(n) < 0.15, "age"] = np.nan
        table.loc[rng.random(n) < 0.15, "city"] = np.nan
    return table, y


def ignoring():
    return OneHotEncoder(handle_unknown="ignore")


# Each takes a table with missing values in "age" and "city", and is translated.
TRANSLATED = {
    "one-hot": make_column_transformer((ignoring(), TEXTS), remainder="passthrough"),
    "one-hot, drop": make_column_transformer((OneHotEncoder(drop="first"), TEXTS), remainder="drop"),
    "one-hot, drop if binary": make_column_transformer(
        (OneHotEncoder(drop="if_binary", handle_unknown="ignore"), ["plan", "visits"])
    ),
    "one-hot, rare": make_column_transformer(
        (OneHotEncoder(min_frequency=8, handle_unknown="infrequent_if_exist", sparse_output=False), TEXTS),
        (OneHotEncoder(max_categories=3, handle_unknown="ignore"), ["visits"]),
    ),
    "one-hot of numbers": make_column_transformer((ignoring(), ["visits", "age"])),
    "ordinal": make_column_transformer(
        (
            OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2),
            TEXTS,
        ),
        (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan), ["visits", "plan"]),
        (OrdinalEncoder(min_frequency=10), ["city"]),
        remainder="passthrough",
    ),
    "target encoder": make_column_transformer((TargetEncoder(), [*TEXTS, "visits"]), remainder="passthrough"),
    "imputers": make_column_transformer(
        (SimpleImputer(add_indicator=True), NUMBERS),
        (make_pipeline(SimpleImputer(strategy="most_frequent"), ignoring()), TEXTS),
        (make_pipeline(SimpleImputer(strategy="constant", fill_value="?"), ignoring()), TEXTS),
        (SimpleImputer(missing_values=2, strategy="median"), ["visits"]),
        (MissingIndicator(features="all"), ["age", "city"]),
    ),
    "scalers": make_column_transformer(
        (StandardScaler(), NUMBERS),
        (RobustScaler(with_centering=False), NUMBERS),
        (MinMaxScaler(feature_range=(-1, 2), clip=True), NUMBERS),
        (MaxAbsScaler(), NUMBERS),
        (Binarizer(threshold=2.0), ["visits"]),
    ),
    "bins": make_column_transformer(
        (KBinsDiscretizer(4, encode="onehot"), ["income"]),
        (KBinsDiscretizer(3, encode="ordinal", strategy="kmeans"), ["income", "visits"]),
    ),
    "polynomial": make_column_transformer(
        (make_pipeline(SimpleImputer(), PolynomialFeatures(3)), NUMBERS),
        (PolynomialFeatures((2, 2), interaction_only=True, include_bias=False), ["income", "visits"]),
    ),
    "functions": make_column_transformer(
        (FunctionTransformer(np.log1p), ["income"]), (FunctionTransformer(), NUMBERS)
    ),
    "selection": make_pipeline(
        make_column_transformer((ignoring(), TEXTS), (SimpleImputer(), NUMBERS), sparse_threshold=0),
        VarianceThreshold(0.01),
        SelectKBest(k=6),
    ),
    "selectors of columns": make_column_transformer(
        (ignoring(), make_column_selector(dtype_include=object)),
        (SimpleImputer(), make_column_selector(dtype_include="number")),
    ),
    "positions, slices and masks": ColumnTransformer(
        [
            ("one", ignoring(), [1, -2]),
            ("two", StandardScaler(), slice("income", "income")),
            ("three", "passthrough", [True, False, False, False, True]),
            ("four", "drop", slice(0, 2)),
            ("none", StandardScaler(), []),
        ]
    ),
    "pandas": make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), TEXTS), remainder=StandardScaler()
    ).set_output(transform="pandas"),
    "nested": make_pipeline(
        ColumnTransformer(
            [
                ("keep", "passthrough", NUMBERS),
                ("text", make_pipeline(SimpleImputer(strategy="most_frequent"), OrdinalEncoder()), TEXTS),
            ],
            verbose_feature_names_out=False,
        ).set_output(transform="pandas"),
        ColumnTransformer([("a", SimpleImputer(), ["age", "plan"]), ("b", "passthrough", [4, 1])]),
        "passthrough",
    ),
    "union": make_column_transformer(
        (
            FeatureUnion([("x", MinMaxScaler()), ("y", StandardScaler())], transformer_weights={"y": 2.5}),
            NUMBERS,
        ),
        (make_union(SimpleImputer(), Binarizer()), ["visits"]),
    ),
    "weights": ColumnTransformer(
        [("a", StandardScaler(), NUMBERS), ("b", "passthrough", ["visits"])], transformer_weights={"a": 0.3}
    ),
}

# Each is called as it is; it has the needs of its outputs.
EXTERNAL = {
    "PCA": make_column_transformer((make_pipeline(SimpleImputer(), PCA(2)), NUMBERS), (ignoring(), TEXTS)),
    "imputers of all columns": make_column_transformer(
        (KNNImputer(), ["age", "income"]), (IterativeImputer(max_iter=2), ["age", "visits"])
    ),
    "powers": make_column_transformer((PowerTransformer(), NUMBERS)),
    "quantiles": make_column_transformer((QuantileTransformer(n_quantiles=20), NUMBERS)),
    "splines": make_column_transformer((SplineTransformer(4), ["income", "visits"])),
    "norm": make_column_transformer((Normalizer(), ["income", "visits"]), remainder="drop"),
    "one-to-one": make_column_transformer(
        (FunctionTransformer(lambda x: x * 2 + 1, feature_names_out="one-to-one"), NUMBERS)
    ),
    "words": make_column_transformer(
        (CountVectorizer(analyzer="char"), "plan"), (StandardScaler(), ["visits"])
    ),
    "text function": make_column_transformer(
        (
            make_pipeline(
                FunctionTransformer(lambda x: x.map(str.upper), feature_names_out="one-to-one"), ignoring()
            ),
            ["plan"],
        ),
        (FrozenEstimator(StandardScaler().fit(make_table()[0][["income"]])), ["income"]),
    ),
}
