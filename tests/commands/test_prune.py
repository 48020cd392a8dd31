"""``budgetprune prune``: models that others have trained."""

from __future__ import annotations

import pickle
import shutil
import zipfile

import joblib
import lightgbm
import numpy as np
import pandas as pd
import pytest
import skops.io
import xgboost
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from budgetprune.model import BudgetModel

from ..persistence.archives import write_zeros
from .commands import check_refused, patients


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    """A folder with validation rows (labels as text, and as numbers), and models of many kinds."""
    folder = tmp_path_factory.mktemp("cells")
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X, named = X.iloc[:, :8], y.map({0: "bad", 1: "good"})
    X[300:].assign(kind=named).to_csv(folder / "named.csv", index=False)
    X[300:].assign(kind=y).to_csv(folder / "numbered.csv", index=False)
    X[300:].set_axis(list("abcdefgh"), axis=1).assign(kind=named).to_csv(folder / "other.csv", index=False)
    lines = "".join(f"{name},{k + 1}\n" for k, name in enumerate(X))
    (folder / "costs.csv").write_text(f"feature,cost\n{lines}")
    forest = RandomForestClassifier(8, random_state=0).fit(X[:300], named[:300])
    skops.io.dump(forest, folder / "forest.skops")
    joblib.dump(forest, folder / "forest.joblib")
    nameless = ExtraTreesClassifier(8, random_state=0).fit(X[:300].to_numpy(), named[:300])
    (folder / "nameless.pkl").write_bytes(pickle.dumps(nameless))
    skops.io.dump(HistGradientBoostingClassifier(max_iter=8).fit(X[:300], named[:300]), folder / "hist.skops")
    skops.io.dump(LogisticRegression().fit([[0.0], [1.0]], [0, 1]), folder / "line.skops")
    skops.io.dump(make_pipeline(forest), folder / "pipe.skops")
    boosted = lightgbm.LGBMClassifier(n_estimators=8, verbose=-1).fit(X[:300], y[:300])
    boosted.booster_.save_model(folder / "boosted.txt")
    skops.io.dump(boosted, folder / "boosted.skops")
    for ending in ("json", "ubj"):
        xgboost.XGBClassifier(n_estimators=8).fit(X[:300], y[:300]).save_model(folder / f"boosted.{ending}")
    return folder


@pytest.fixture
def prune(cells, run, tmp_path):
    """Prune a model for the cells; `--trust` saves the process that tries its file."""

    def call(model, *words, data="named.csv", costs="costs.csv"):
        base = ["prune", cells / model, "--data", cells / data, "--target", "kind", "--out", tmp_path / "m"]
        return run(*base, *(["--costs", cells / costs] if costs else []), *words)

    return call


@pytest.mark.parametrize(
    ("model", "data", "kind"),
    [
        ("forest.skops", "named.csv", "RandomForestClassifier"),
        ("pipe.skops", "named.csv", "RandomForestClassifier"),
        ("hist.skops", "named.csv", "HistGradientBoostingClassifier"),
        ("boosted.txt", "numbered.csv", "Booster"),
        ("boosted.json", "numbered.csv", "Booster"),
        ("boosted.ubj", "numbered.csv", "Booster"),
    ],
)
def test_models_of_all_kinds(prune, cells, tmp_path, model, data, kind):
    told = prune(model, "--budget", 12, "--json", data=data).json
    assert told["model"] == kind
    assert (told["n_train"], told["n_validation"]) == (0, 269)
    assert told["compared"]["chosen"]["cost"] <= 12 < told["compared"]["whole"]["cost"]
    assert told["compared"]["chosen"]["score"] > 0.85
    pruned = BudgetModel.load(tmp_path / "m")
    frame = pd.read_csv(cells / data)
    # LightGBM remembers spaces as underscores; the model has the names of the table again.
    assert pruned.predictor.feature_names == tuple(frame.columns[:-1])
    answers = pruned.predictor.predict(frame.drop(columns="kind"))
    assert np.mean(answers == frame["kind"]) > 0.85


def test_pickles_need_trust(prune):
    for model in ("forest.joblib", "nameless.pkl"):
        check_refused(
            prune(model, "--budget", 12), "is a pickle, and loading it runs whatever code .*--trust"
        )
    assert prune("forest.joblib", "--budget", 12, "--trust", "--quiet") == (0, "", "")


def test_pickles_are_not_opened_without_trust(run, cells, tmp_path):
    class Bomb:
        def __reduce__(self):
            return exec, (f"open({str(tmp_path / 'exploded')!r}, 'w').close()",)

    (tmp_path / "bomb.pkl").write_bytes(pickle.dumps(Bomb()))
    words = ["--data", cells / "named.csv", "--target", "kind", "--out", tmp_path / "m"]
    assert run("prune", tmp_path / "bomb.pkl", *words).status == 2
    assert not (tmp_path / "exploded").exists()


def test_help_says_why(run):
    said = " ".join(run("prune", "--help").out.replace("│", " ").split())
    assert "Loading a pickle can run arbitrary code with your permissions" in said


def test_names_come_from_the_table(prune, tmp_path):
    told = prune("nameless.pkl", "--trust", "--budget", 8, "--json", data="other.csv", costs=None).json
    assert told["compared"]["chosen"]["cost"] <= 8
    assert BudgetModel.load(tmp_path / "m").predictor.feature_names == tuple("abcdefgh")


def test_test_rows_and_decided_costs(prune, cells):
    words = ["--budget", 10, "--decided", "--test", cells / "named.csv", "--json", "--trust"]
    told = prune("forest.skops", *words).json
    assert told["counting"] == "decided"
    assert told["compared"]["rows"] == "test"
    assert told["compared"]["chosen"]["decided_cost"] <= 10


@pytest.mark.parametrize(
    ("model", "how", "words"),
    [
        ("line.skops", {}, "cannot turn a sklearn.LogisticRegression into a Forest"),
        ("boosted.skops", {}, "types that are not trusted .*LGBMClassifier"),
        ("boosted.txt", {}, "never one of the model's classes, which are 0, 1; it holds 'bad', 'good'"),
        (
            "forest.skops",
            {"data": "other.csv", "costs": None},
            "other.csv lacks 'mean radius', .*which the model needs",
        ),
        ("costs.csv", {}, "an unknown ending"),
    ],
)
def test_what_is_refused(prune, model, how, words):
    trusted = [] if "not trusted" in words else ["--trust"]
    check_refused(prune(model, "--budget", 12, *trusted, **how), words)


def test_archives_that_unpack_to_much_more_than_they_are(cells, run, tmp_path):
    shutil.copy(cells / "forest.skops", tmp_path / "bomb.skops")
    with zipfile.ZipFile(tmp_path / "bomb.skops", "a") as archive:
        write_zeros(archive, "more.npy", "|u1", (2**28,))
    words = ["--data", cells / "named.csv", "--target", "kind", "--out", tmp_path / "m"]
    check_refused(
        run("prune", tmp_path / "bomb.skops", *words), r"bomb\.skops cannot be loaded: .* unpack to"
    )


@pytest.mark.parametrize("name", ["bad.skops", "bad.txt", "bad.json", "bad.ubj", "bad.joblib", "bad.pkl"])
def test_files_that_are_something_else(cells, run, tmp_path, name):
    (tmp_path / name).write_text("feature,cost\n")
    words = ["--data", cells / "named.csv", "--target", "kind", "--out", tmp_path / "m", "--trust"]
    check_refused(run("prune", tmp_path / name, *words), r"bad\.\w+ (cannot be loaded|is not a model)")


def test_trees_that_are_none(cells, prune, tmp_path, run):
    """A file that nobody vouches for may have nodes that go in circles; no kernel walks there."""
    forest = skops.io.load(cells / "forest.skops", trusted=["sklearn.tree._tree.Tree"])
    tree = forest.estimators_[0].tree_
    state = tree.__getstate__()
    state["nodes"]["left_child"][0] = 0 if state["nodes"]["left_child"][0] < 0 else tree.node_count + 5
    tree.__setstate__(state)
    skops.io.dump(forest, tmp_path / "odd.skops")
    words = ["--data", cells / "named.csv", "--target", "kind", "--out", tmp_path / "m"]
    check_refused(
        run("prune", tmp_path / "odd.skops", *words),
        "this model is damaged: node 0 of tree 0 has the left child",
    )


def test_labels_that_the_model_does_not_know(prune, cells, tmp_path, run):
    frame = pd.read_csv(cells / "named.csv")
    frame.loc[5, "kind"] = "ugly"
    frame.to_csv(tmp_path / "d.csv", index=False)
    said = run(
        "prune",
        cells / "forest.skops",
        "--data",
        tmp_path / "d.csv",
        "--target",
        "kind",
        "--out",
        tmp_path / "m",
        "--trust",
    )
    check_refused(said, "'kind' has a label that the model does not know in line 7")


def test_a_constant_target(cells, run, tmp_path):
    pd.read_csv(cells / "named.csv").assign(kind="bad").to_csv(tmp_path / "d.csv", index=False)
    words = ["--data", tmp_path / "d.csv", "--target", "kind", "--out", tmp_path / "m", "--trust"]
    check_refused(run("prune", cells / "forest.skops", *words), "the target 'kind' is always 'bad'")


def test_test_rows_may_have_other_labels(prune, cells, tmp_path):
    frame = pd.read_csv(cells / "named.csv")
    frame.loc[:99, "kind"] = "ugly"
    frame.to_csv(tmp_path / "t.csv", index=False)
    told = prune("forest.skops", "--budget", 12, "--test", tmp_path / "t.csv", "--json", "--trust").json
    assert 0.5 < told["compared"]["chosen"]["score"] <= 169 / 269


def test_text_among_numbers(cells, run, tmp_path):
    frame = pd.read_csv(cells / "numbered.csv").astype({"mean area": object})
    frame.loc[5, "mean area"] = "much"
    frame.to_csv(tmp_path / "d.csv", index=False)
    words = ["--target", "kind", "--out", tmp_path / "m", "--trust"]
    said = run("prune", cells / "boosted.json", "--data", tmp_path / "d.csv", *words)
    check_refused(said, "column 'mean area' holds numbers, but also text: 'much' in line 7")


def test_a_lightgbm_file_that_was_cut(run, tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    frame = patients(400)[["age", "lab", "ill"]]
    frame["ill"] = (frame["ill"] == "yes").astype(int)
    frame[200:].to_csv(tmp_path / "own.csv", index=False)
    model = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1)
    text = model.fit(frame[["age", "lab"]][:200], frame["ill"][:200]).booster_.model_to_string()
    whole = tmp_path / "b.txt"
    words = ["prune", whole, "--data", tmp_path / "own.csv", "--target", "ill", "--out", tmp_path / "m"]
    for n_bytes in (len(text) // 4, len(text) // 2):
        whole.write_text(text[:n_bytes])
        check_refused(run(*words), "b.txt cannot be loaded: it is damaged or incomplete")
    whole.write_text(text.replace("leaf_value=", "leaf_value=1 ", 1))
    check_refused(run(*words), "b.txt cannot be loaded: it is damaged")
    whole.write_text(text)
    assert run(*words, "--trust").status == 0
