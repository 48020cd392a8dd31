"""Small genuine models of every library, and ways to damage them."""

from __future__ import annotations

import copy
import json
import pickle
import re
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import catboost
import lightgbm as lgb
import numpy as np
import onnx
import pandas as pd
import xgboost as xgb
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from budgetprune.forest import Forest

from ...fuzzing import FLOATS, INTEGERS
from .onnx import models as hand_made

N_ROWS, N_FEATURES, CATEGORIES = 90, 5, 4
NAMES = tuple(f"Column_{k}" for k in range(N_FEATURES))
CONFIG = json.dumps({"learner": {"gradient_booster": {"tree_train_param": {"lambda": "1"}}}})
ODD = [None, True, "", "many", [], {}, [[1, 2], [3]], "nan", -1, 10**30]

Rng = np.random.Generator
Damaged = Callable[[], Any]  # makes the model, or a stub of it; a library may crash on the way


@cache
def training() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    X[:, CATEGORIES] = rng.integers(0, 40, N_ROWS)
    return X, X[:, 0] - X[:, 1] + (X[:, CATEGORIES] % 3) + 0.3 * rng.normal(size=N_ROWS)


def classes(n_classes: int) -> np.ndarray:
    y = training()[1]
    return np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y)


# --- Genuine models -----------------------------------------------------------------------------------------


@cache
def xgboost_models() -> tuple[bytes, ...]:
    X, y = training()
    types = ["float"] * CATEGORIES + ["c"]
    made = []
    for objective, target in (
        ("binary:logistic", classes(2)),
        ("multi:softprob", classes(3)),
        ("reg:squarederror", y),
        ("count:poisson", classes(4)),
    ):
        settings = {"objective": objective, "max_depth": 3, "nthread": 1, "max_cat_to_onehot": 2}
        settings |= {"num_class": 3} if "multi" in objective else {}
        data = xgb.DMatrix(X, target, feature_types=types, enable_categorical=True)
        made.append(bytes(xgb.train(settings, data, 2).save_raw("json")))
    return tuple(made)


@cache
def lightgbm_models() -> tuple[str, ...]:
    X, y = training()
    made = []
    settings = {"num_leaves": 5, "min_data_in_leaf": 4, "verbose": -1, "num_threads": 1}
    settings |= {"min_data_per_group": 1, "max_cat_to_onehot": 2, "cat_smooth": 1}
    for own, target in (
        ({"objective": "binary"}, classes(2)),
        ({"objective": "multiclass", "num_class": 3}, classes(3)),
        ({"objective": "regression"}, y),
        ({"objective": "binary", "boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6}, classes(2)),
    ):
        data = lgb.Dataset(X, target, categorical_feature=[CATEGORIES])
        made.append(lgb.train({**settings, **own}, data, 3).model_to_string())
    return tuple(made)


@cache
def sklearn_models() -> tuple[bytes, ...]:
    X, y = training()
    two, three = classes(2), classes(3)
    hist = {"max_iter": 2, "max_leaf_nodes": 5, "min_samples_leaf": 4, "categorical_features": [CATEGORIES]}
    few = {"n_estimators": 3, "random_state": 0}
    models = [
        DecisionTreeClassifier(max_depth=3).fit(X, three),
        DecisionTreeRegressor(max_leaf_nodes=6).fit(X, y),
        RandomForestClassifier(**few, max_depth=4).fit(X, three),
        ExtraTreesRegressor(**few, max_depth=3).fit(X, y),
        BaggingClassifier(DecisionTreeClassifier(max_depth=3), max_features=3, **few).fit(X, two),
        BaggingRegressor(DecisionTreeRegressor(max_depth=3), max_samples=0.2, **few).fit(X, y),
        GradientBoostingClassifier(**few, max_depth=2).fit(X, three),
        GradientBoostingRegressor(**few, max_depth=2).fit(X, y),
        HistGradientBoostingClassifier(**hist).fit(X, two),
        HistGradientBoostingRegressor(**hist, loss="poisson").fit(X, np.exp(y / 4)),
    ]
    return tuple(map(pickle.dumps, models))


@cache
def catboost_models() -> tuple[bytes, ...]:
    """Models in JSON, with and without categories, with trees of each kind."""
    X, y = training()
    table = pd.DataFrame(X, columns=[f"x{k}" for k in range(N_FEATURES)])
    table["x4"] = (table["x4"] % 9).astype(int)
    settings = {"iterations": 2, "depth": 3, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
    settings |= {"one_hot_max_size": 20, "cat_features": ["x4"]}
    made = []
    for loss, target in (("Logloss", classes(2)), ("MultiClass", classes(3)), ("RMSE", y)):
        for policy in ("SymmetricTree", "Depthwise"):
            model = catboost.CatBoost(settings | {"loss_function": loss, "grow_policy": policy})
            with tempfile.TemporaryDirectory() as folder:
                model.fit(table, target).save_model(f"{folder}/model.json", format="json")
                made.append(Path(folder, "model.json").read_bytes())
    return tuple(made)


@cache
def onnx_models() -> tuple[bytes, ...]:
    forests = []
    for model in (*map(pickle.loads, sklearn_models()), *map(XGBoostStub, xgboost_models())):
        forest = Forest.from_model(model)
        if not (forest.category_set >= 0).any():
            forests.append(forest)
    exported = [forest.to_onnx() for forest in forests]
    by_hand = [
        hand_made.classifier([0, 1], leaves={1: [0.3], 2: [0.8]}),
        hand_made.classifier([3, 5, 7], leaves=hand_made.MIXED, post_transform="SOFTMAX"),
        hand_made.regressor(hand_made.stump("BRANCH_EQ", 3.0)),
        hand_made.latest(),
        hand_made.latest(
            nodes_modes=[6], membership_values=[1, 40, np.nan], nodes_missing_value_tracks_true=[1]
        ),
    ]
    return tuple(model.SerializeToString() for model in (*exported, *by_hand))


def genuine_models() -> Iterator[Any]:
    for content in xgboost_models():
        booster = xgb.Booster()
        booster.load_model(bytearray(content))
        yield booster
        yield XGBoostStub(content)
    for text in lightgbm_models():
        yield lgb.Booster(model_str=text)
        yield LightGBMStub(text)
    yield from map(pickle.loads, sklearn_models())
    yield from onnx_models()
    yield from map(CatBoostStub, catboost_models())


# --- Damage -------------------------------------------------------------------------------------------------


def odd_number(rng: Rng, like: Any) -> Any:
    """A number that is wrong as an index, a size or a value; mostly of the kind that was there."""
    if rng.random() < 0.4 and isinstance(like, int | np.integer):
        return int(rng.integers(-2, 16))  # a node or a feature, most likely
    pool = INTEGERS if isinstance(like, int | np.integer) == (rng.random() < 0.9) else FLOATS
    return pool[rng.integers(len(pool))]


def resized(rng: Rng, entries: list[Any]) -> list[Any]:
    match rng.integers(3):
        case 0:
            return entries[: rng.integers(len(entries) + 1)]
        case 1:
            return entries + entries[: rng.integers(1, 4)]
        case _:
            return entries[1:] + entries[:1]


def damage_list(rng: Rng, entries: list[Any]) -> list[Any]:
    """Change an entry or two, seldom the length."""
    if not entries or rng.random() < 0.15:
        return resized(rng, entries)
    changed = list(entries)
    for _ in range(rng.integers(1, 3)):
        place = int(rng.integers(len(changed)))
        changed[place] = odd_number(rng, changed[place])
    return changed


def damage_document(rng: Rng, document: dict[str, Any]) -> None:
    """Damage the JSON of an XGBoost model: mostly arrays of trees, else anything."""
    model = document["learner"]["gradient_booster"]["model"]
    if rng.random() < 0.75:
        tree = model["trees"][rng.integers(len(model["trees"]))]
        fields = [field for field, entries in tree.items() if isinstance(entries, list)]
        field = fields[rng.integers(len(fields))]
        tree[field] = damage_list(rng, tree[field])
        return
    container: Any = document["learner"]
    while True:
        keys = list(container if isinstance(container, dict) else range(len(container)))
        if not keys:
            return
        key = keys[rng.integers(len(keys))]
        if isinstance(container[key], dict | list) and rng.random() < 0.85:
            container = container[key]
            continue
        old = container[key]
        if isinstance(old, str) and re.fullmatch(r"-?\d+", old):
            container[key] = str(odd_number(rng, 1))
        elif rng.random() < 0.3:
            container[key] = copy.copy(ODD[rng.integers(len(ODD))])
        else:
            container[key] = odd_number(rng, old)
        return


def damage_json(rng: Rng, document: Any) -> None:
    """Damage a number, a list or a key somewhere in JSON: mostly in the trees."""
    container = document
    while True:
        keys = list(container if isinstance(container, dict) else range(len(container)))
        if not keys:
            return
        likely = [key for key in keys if str(key).endswith("trees")]
        key = likely[0] if likely and rng.random() < 0.7 else keys[rng.integers(len(keys))]
        old = container[key]
        if isinstance(old, dict | list) and rng.random() < 0.9:
            container = old
            continue
        if isinstance(old, list) and rng.random() < 0.7:
            container[key] = damage_list(rng, old) if all(map(is_number, old)) else resized(rng, old)
        elif isinstance(container, dict) and rng.random() < 0.1:
            del container[key]
        elif rng.random() < 0.3:
            container[key] = copy.copy(ODD[rng.integers(len(ODD))])
        else:
            container[key] = odd_number(rng, old)
        return


def is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def damage_text(rng: Rng, text: str) -> str:
    """Damage a line of a LightGBM model: mostly numbers of a tree."""
    lines = text.split("\n")
    is_number = re.compile(r"\w+=-?\d[-+.e\d ]*")
    places = [i for i, line in enumerate(lines) if is_number.fullmatch(line) or rng.random() < 0.03]
    i = places[rng.integers(len(places))]
    key, sign, value = lines[i].partition("=")
    if is_number.fullmatch(lines[i]):
        numbers = [float(word) if re.search(r"[.e]", word) else int(word) for word in value.split(" ")]
        value = " ".join(map(str, damage_list(rng, numbers)))
    elif value and rng.random() < 0.7:
        words = value.split(" ")
        words[rng.integers(len(words))] = str([*ODD, *INTEGERS][rng.integers(len(ODD) + len(INTEGERS))])
        value = " ".join(words)
    else:
        sign = "" if rng.random() < 0.5 else sign
    lines[i] = f"{key}{sign}{value}"
    text = "\n".join(lines)
    sizes = [len(tree) for tree in re.findall(r"Tree=\d+\n.*?\n\n\n", text, flags=re.DOTALL)]
    return re.sub("tree_sizes=.*", f"tree_sizes={' '.join(map(str, sizes))}", text)


def damage_graph(rng: Rng, model: onnx.ModelProto) -> None:
    """Damage a node of an ONNX graph: mostly its numbers, else its attributes, inputs or outputs."""
    nodes = model.graph.node
    node = nodes[rng.integers(len(nodes))]
    if not node.attribute or rng.random() < 0.1:
        match rng.integers(4):
            case 0:
                node.op_type = str(
                    rng.choice(["Cast", "Concat", "Div", "Exp", "Gather", "TreeEnsemble", "Sin"])
                )
            case 1 if node.input:
                node.input[0] = str(rng.choice(["X", "rows", "sums", "label", "nothing"]))
            case 2:
                nodes.remove(node)
            case _:
                model.graph.input[0].type.tensor_type.elem_type = int(rng.integers(0, 20))
        return
    attribute = node.attribute[rng.integers(len(node.attribute))]
    kinds = onnx.AttributeProto
    if rng.random() < 0.1:
        attribute.name = str(rng.choice([other.name for other in node.attribute] + ["new"]))
    elif attribute.type == kinds.INTS and attribute.ints:
        changed = damage_list(rng, list(attribute.ints))
        attribute.ints[:] = [
            int(np.clip(number, -(2**63), 2**63 - 1)) for number in changed if number == number
        ]
    elif attribute.type == kinds.FLOATS and attribute.floats:
        attribute.floats[:] = [
            float(np.float32(number)) for number in damage_list(rng, list(attribute.floats))
        ]
    elif attribute.type == kinds.STRINGS and attribute.strings:
        place = int(rng.integers(len(attribute.strings)))
        words = [b"LEAF", b"BRANCH_LT", b"BRANCH_EQ", b"BRANCH_NEQ", b"", b"\xff"]
        attribute.strings[place] = words[rng.integers(len(words))]
    elif attribute.type == kinds.TENSOR:
        array = onnx.numpy_helper.to_array(attribute.t).copy()
        if array.size and rng.random() < 0.8:
            fill(rng, array)
        else:
            array = array.ravel()[: rng.integers(array.size + 1)]
        attribute.t.CopyFrom(onnx.numpy_helper.from_array(array))
    elif attribute.type == kinds.INT:
        attribute.i = int(odd_number(rng, 1))
    else:
        attribute.type = int(rng.integers(0, 12))


def damage_estimator(rng: Rng, model: Any) -> None:
    """Damage nodes of a tree of scikit-learn, or an attribute of the ensemble or of a tree."""
    trees = trees_of(model)
    tree = trees[rng.integers(len(trees))]
    if rng.random() < 0.7:
        damage_nodes(rng, tree)
        return
    owner = tree if rng.random() < 0.3 else model
    names = sorted(name for name in vars(owner) if name not in ("estimator_", "_bin_mapper"))
    name = names[rng.integers(len(names))]
    old = getattr(owner, name)
    if isinstance(old, np.ndarray) and old.dtype.kind in "iufb" and rng.random() < 0.8:
        new = old.copy()
        if rng.random() < 0.5 and new.ndim and len(new):
            new = new[: rng.integers(len(new))] if rng.random() < 0.5 else np.concatenate([new, new[:2]])
        elif new.size:
            fill(rng, new)
    elif isinstance(old, list) and old and rng.random() < 0.8:
        new = resized(rng, old)
    else:
        new = copy.copy([*ODD, *INTEGERS, *FLOATS][rng.integers(len(ODD) + len(INTEGERS) + len(FLOATS))])
    setattr(owner, name, new)


def trees_of(model: Any) -> list[Any]:
    if hasattr(model, "_predictors"):
        return [tree for one_round in model._predictors for tree in one_round]
    return list(np.ravel(model.estimators_)) if hasattr(model, "estimators_") else [model]


def damage_nodes(rng: Rng, tree: Any) -> None:
    """Change fields of nodes, or values."""
    if not hasattr(tree, "tree_"):
        fill(rng, tree.nodes[rng.choice(tree.nodes.dtype.names)])
        return
    state = tree.tree_.__getstate__()
    if rng.random() < 0.15:
        fill(rng, state["values"])
    else:
        fill(rng, state["nodes"][rng.choice(state["nodes"].dtype.names)])
    tree.tree_.__setstate__(state)


def fill(rng: Rng, array: np.ndarray) -> None:
    """Write an odd number, as far as its type has it, into one place of an array."""
    place = tuple(int(rng.integers(n)) for n in array.shape)
    number = odd_number(rng, array[place])
    if array.dtype.kind in "iub":
        number = 0 if isinstance(number, float) else number
        array[place] = np.array([number]).astype(np.uint64, casting="unsafe").astype(array.dtype)[0]
    else:
        with np.errstate(over="ignore"):
            array[place] = float(number)


# --- Cases --------------------------------------------------------------------------------------------------


class XGBoostStub:
    """What the importer asks of a Booster, without the library, which would refuse or crash on much of it."""

    def __init__(self, content: bytes, config: str = CONFIG) -> None:
        self._content, self._config = content, config

    def save_raw(self, kind: str) -> bytearray:
        assert kind == "json"
        return bytearray(self._content)

    def save_config(self) -> str:
        return self._config


class LightGBMStub:
    """The same for LightGBM."""

    def __init__(self, text: str, pandas_categorical: Any = None, names: tuple[str, ...] = NAMES) -> None:
        self._text, self._names, self.pandas_categorical = text, names, pandas_categorical

    def model_to_string(self) -> str:
        return self._text

    def num_feature(self) -> int:
        return len(self._names)

    def feature_name(self) -> list[str]:
        return list(self._names)


class CatBoostStub:
    """The same for CatBoost."""

    def __init__(self, content: bytes, names: tuple[str, ...] = NAMES) -> None:
        self._content, self.feature_names_ = content, names

    def is_fitted(self) -> bool:
        return True

    def save_model(self, file: str, format: str) -> None:
        assert format == "json"
        Path(file).write_bytes(self._content)


CatBoostStub.__module__, CatBoostStub.__name__, CatBoostStub.__qualname__ = "catboost.core", *["CatBoost"] * 2

# Importers go by the names of classes.
for stub, module in ((XGBoostStub, "xgboost.core"), (LightGBMStub, "lightgbm.basic")):
    stub.__module__, stub.__name__, stub.__qualname__ = module, "Booster", "Booster"

# Stubs of the kinds without that word hold what the library has loaded and written again.
KINDS = (
    *("xgboost", "xgboost stub", "lightgbm", "lightgbm stub", "sklearn", "sklearn"),
    *("onnx", "catboost stub"),
)


def damaged_model(seed: int) -> tuple[str, Damaged]:
    """A kind of model, and a function that makes a damaged one of it: the same for the same seed."""
    rng = np.random.default_rng(seed)
    kind = KINDS[rng.integers(len(KINDS))]
    n_times = int(rng.choice([1, 1, 1, 2, 4]))

    def of_xgboost() -> Any:
        models = xgboost_models()
        document = json.loads(models[rng.integers(len(models))])
        for _ in range(n_times):
            damage_document(rng, document)
        content = json.dumps(document).encode()
        if kind == "xgboost stub":
            return XGBoostStub(content)
        booster = xgb.Booster()
        booster.load_model(bytearray(content))
        return XGBoostStub(bytes(booster.save_raw("json")), booster.save_config())

    def of_lightgbm() -> Any:
        models = lightgbm_models()
        text = models[rng.integers(len(models))]
        for _ in range(n_times):
            text = damage_text(rng, text)
        if kind == "lightgbm stub":
            known = [None, [list("abc")], [[0, 1]], [[[]]], "many", [3]][rng.integers(6)]
            return LightGBMStub(text, known)
        booster = lgb.Booster(model_str=text)
        names = tuple(booster.feature_name())
        return LightGBMStub(booster.model_to_string(), booster.pandas_categorical, names)

    def of_sklearn() -> Any:
        models = sklearn_models()
        model = pickle.loads(models[rng.integers(len(models))])
        for _ in range(n_times):
            damage_estimator(rng, model)
        return model

    def of_onnx() -> Any:
        models = onnx_models()
        content = models[rng.integers(len(models))]
        if rng.random() < 0.1:
            garbled = bytearray(content)
            garbled[rng.integers(len(garbled))] ^= int(rng.integers(1, 256))
            return bytes(garbled)
        model = onnx.load_model_from_string(content)
        for _ in range(n_times):
            damage_graph(rng, model)
        return model

    def of_catboost() -> Any:
        models = catboost_models()
        document = json.loads(models[rng.integers(len(models))])
        for _ in range(n_times):
            damage_json(rng, document)
        return CatBoostStub(json.dumps(document).encode())

    makers = {
        "xgboost": of_xgboost,
        "lightgbm": of_lightgbm,
        "sklearn": of_sklearn,
        "onnx": of_onnx,
        "catboost": of_catboost,
    }
    return kind, makers[kind.partition(" ")[0]]
