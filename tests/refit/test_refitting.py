"""`refit`: what may be refitted how, what comes of it, and the ways back."""

from dataclasses import replace

import lightgbm as lgb
import numpy as np
import onnxruntime
import pytest
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss

from budgetprune import Forest, InvalidInputError, UnsupportedModelError
from budgetprune.losses import find_loss
from budgetprune.refit import Sample, kinds_for, refit, refit_pruning
from budgetprune.refit.refitting import CLIP, with_mean_1

from .twins import pruned, random_pruning

pytestmark = pytest.mark.uncompiled

N_ROWS = 80
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N_ROWS, 4))
SCORE = X[:, 0] - X[:, 1] ** 2 + RNG.normal(size=N_ROWS) / 2
CLASSES = np.array(["high", "low", "mid"])[np.searchsorted([-1.5, 0.0], SCORE)]
SIDE = SCORE > -0.7
WEIGHT = RNG.integers(0, 4, N_ROWS)
SMALL = {"max_leaf_nodes": 7, "random_state": 0}

MODELS = {
    "forest": (RandomForestClassifier(5, **SMALL), CLASSES, ("squared", "softmax")),
    "forest, two classes": (RandomForestClassifier(5, **SMALL), SIDE, ("squared", "softmax")),
    "regression forest": (RandomForestRegressor(5, **SMALL), SCORE, ("squared",)),
    "regression extra trees": (ExtraTreesRegressor(5, **SMALL), SCORE, ("squared",)),
    "boosting": (GradientBoostingClassifier(n_estimators=4, **SMALL), SIDE, ("own",)),
    "hist": (HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=5, **SMALL), CLASSES, ("own",)),
    "hist, poisson": (
        HistGradientBoostingRegressor(loss="poisson", max_iter=4, min_samples_leaf=5, **SMALL),
        np.exp(SCORE),
        ("own",),
    ),
    "lightgbm": (
        lgb.LGBMClassifier(n_estimators=4, min_child_samples=5, num_leaves=6, verbose=-1),
        CLASSES,
        ("own",),
    ),
}
WAYS = [(name, kind) for name, (_, _, kinds) in MODELS.items() for kind in kinds]


@pytest.fixture(scope="module")
def fitted():
    """Each model, its targets, its forest and a pruning of it."""
    cases = {}
    for name, (model, y, _) in MODELS.items():
        forest = Forest.from_model(model.fit(X, y))
        cases[name] = model, y, forest, random_pruning(forest, 3)
    return cases


def score_loss(forest, kind, y, weight=1.0):
    """Mean loss of a forest's scores, as the kind of refit sees it."""
    scores = forest.scores(X)
    target = y if forest.classes is None else np.searchsorted(forest.classes, y)
    if kind == "squared" and forest.classes is not None:
        off = scores - np.eye(forest.classes.size)[target]
        return np.mean(weight * (off**2).sum(axis=1) / 2)
    return np.mean(weight * find_loss(forest.loss or "squared").value(scores, target))


@pytest.mark.parametrize(("name", "kind"), WAYS)
def test_the_loss_falls_and_inner_nodes_answer_for_their_leaves(fitted, name, kind):
    _, y, _, pruning = fitted[name]
    old = pruning.forest
    found = refit(old, X, y, kind=kind, ridge=1.0, sample_weight=WEIGHT)
    new = found.forest
    weight = with_mean_1(WEIGHT.astype(float))
    before = (
        old
        if kind != "softmax"
        else replace(old, value=np.log(np.maximum(old.value, CLIP)), link="softmax", loss="softmax")
    )
    assert score_loss(new, kind, y, weight) < score_loss(before, kind, y, weight)
    assert found.converged
    assert 0 < found.gradient_norm <= 1e-3
    assert found.n_steps > 0
    assert (found.kind, found.ridge) == (kind, 1.0)

    stop = new.apply(X)
    assert np.array_equal(stop, old.apply(X))
    mass = np.array([weight[(stop == h).any(axis=1)].sum() for h in range(new.n_nodes)])
    for h in range(new.n_nodes - 1, -1, -1):
        if new.is_split[h]:
            children = [h + 1, new.right[h]]
            mass[h] = mass[children].sum()
            shares = mass[children] if mass[h] else None
            assert new.value[h] == pytest.approx(np.average(new.value[children], axis=0, weights=shares))
    leaves = ~new.is_split
    assert found.shift[leaves] == pytest.approx((new.value - before.value)[leaves] / new.divisor)


@pytest.mark.parametrize("name", ["forest", "regression forest", "hist"])
def test_nodes_without_rows(fitted, name):
    """Leaves keep their values, and nodes above them take the plain mean of both children."""
    _, y, _, pruning = fitted[name]
    forest = pruning.forest
    (kind, *_) = kinds_for(forest)
    found = refit(forest, X[:2], y[:2], kind=kind, ridge=0.0).forest
    reached = np.zeros(forest.n_nodes, dtype=bool)
    reached[forest.apply(X[:2])] = True
    for h in range(forest.n_nodes - 1, -1, -1):
        if forest.is_split[h]:
            children = [h + 1, forest.right[h]]
            reached[h] = reached[children].any()
            if not reached[h]:
                assert found.value[h] == pytest.approx(found.value[children].mean(axis=0))
        elif not reached[h]:
            assert np.array_equal(found.value[h], forest.value[h])
    assert not reached.all()


@pytest.mark.parametrize(("name", "kind"), WAYS)
def test_a_pruning_is_refitted_as_its_forest_is(fitted, name, kind):
    _, y, forest, pruning = fitted[name]
    one = refit(pruning.forest, X, y, kind=kind, ridge=2.0, sample_weight=WEIGHT)
    sample = Sample.of(forest, X, y, WEIGHT)
    two = refit_pruning(pruning, sample, kind, 2.0)
    assert np.array_equal(one.forest.value, two.forest.value)
    tight = refit_pruning(pruning, sample, kind, 2.0, tolerance=1e-8)
    other = refit_pruning(pruning, sample, kind, 3.0, tolerance=1e-8)
    warm = refit_pruning(pruning, sample, kind, 2.0, tolerance=1e-8, start=other.shift)
    assert warm.forest.value == pytest.approx(tight.forest.value, abs=1e-5)
    again = refit_pruning(pruning, sample, kind, 2.0, start=tight.shift)
    assert again.n_steps == 0
    assert again.forest.value == pytest.approx(tight.forest.value, abs=1e-9)


@pytest.mark.parametrize(("name", "kind"), WAYS)
def test_weights_repeat_rows(fitted, name, kind):
    """Up to the unit of the ridge, which is a row of average weight."""
    _, y, _, pruning = fitted[name]
    rows = np.repeat(np.arange(N_ROWS), WEIGHT)
    ridge = 1.5
    settings = {"kind": kind, "tolerance": 1e-9}
    weighted = refit(pruning.forest, X, y, ridge=ridge, sample_weight=WEIGHT, **settings)
    unit = WEIGHT[WEIGHT > 0].mean()
    repeated = refit(pruning.forest, X[rows], y[rows], ridge=ridge * unit, **settings)
    counted = refit(
        pruning.forest,
        X[WEIGHT > 0],
        y[WEIGHT > 0],
        ridge=ridge,
        sample_weight=WEIGHT[WEIGHT > 0],
        **settings,
    )
    scaled = refit(pruning.forest, X, y, ridge=ridge, sample_weight=1e-300 * WEIGHT, **settings)
    for other in (repeated, counted, scaled):
        assert other.forest.value == pytest.approx(weighted.forest.value, abs=1e-5)


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e300])
def test_weights_of_any_size(scale):
    assert with_mean_1(scale * np.array([1.0, 3.0, 0.0])) == pytest.approx([0.5, 1.5, 0.0])


@pytest.mark.parametrize("name", ["forest", "forest, two classes"])
def test_squared_values_stay_probabilities(fitted, name):
    _, y, _, pruning = fitted[name]
    for ridge in (0.0, 0.1, 10.0):
        found = refit(pruning.forest, X, y, kind="squared", ridge=ridge).forest
        assert found.value.min() >= 0
        assert found.value.sum(axis=1) == pytest.approx(1, abs=1e-12)
        assert found.predict_proba(X).sum(axis=1) == pytest.approx(1, abs=1e-12)


def test_one_row_and_roots_alone(fitted):
    for name, kind in WAYS:
        _, y, forest, _ = fitted[name]
        roots = pruned(forest, np.zeros(forest.n_nodes, dtype=bool)).forest
        for ridge in (0.0, 1.0):
            found = refit(roots, X[:1], y[:1], kind=kind, ridge=ridge)
            assert found.converged
            assert np.isfinite(found.forest.value).all()


# --- Ways back ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind"), [way for way in WAYS if way[1] != "softmax" and way[0] != "lightgbm"]
)
def test_back_to_scikit_learn(fitted, name, kind):
    _, y, _, pruning = fitted[name]
    found = refit(pruning.forest, X, y, kind=kind, ridge=1.0).forest
    model = found.to_sklearn()
    if found.is_classifier:
        assert model.predict_proba(X) == pytest.approx(found.predict_proba(X), abs=1e-7)
    else:
        assert model.predict(X) == pytest.approx(found.predict(X))
    assert not np.allclose(found.scores(X), pruning.forest.scores(X))


def test_back_to_lightgbm(fitted):
    _, y, _, pruning = fitted["lightgbm"]
    found = refit(pruning.forest, X, y, kind="own", ridge=1.0).forest
    assert found.to_lightgbm().predict(X) == pytest.approx(found.predict_proba(X))


@pytest.mark.parametrize("name", ["forest", "forest, two classes"])
def test_softmax_goes_to_onnx_only(fitted, name):
    _, y, _, pruning = fitted[name]
    found = refit(pruning.forest, X, y, kind="softmax", ridge=1.0).forest
    with pytest.raises(UnsupportedModelError, match=r"softmax link.*refit='squared'.*to_onnx"):
        found.to_sklearn()
    rows = X.astype(np.float32)
    session = onnxruntime.InferenceSession(found.to_onnx().SerializeToString())
    outputs = dict(zip([o.name for o in session.get_outputs()], session.run(None, {"X": rows}), strict=True))
    assert outputs["probabilities"] == pytest.approx(found.predict_proba(rows), abs=1e-5)
    assert log_loss(y, found.predict_proba(X)) < log_loss(y, pruning.forest.predict_proba(X))


def test_records_of_the_old_values_go(fitted):
    for name, kind in (("regression forest", "squared"), ("hist", "own")):
        _, y, _, pruning = fitted[name]
        found = refit(pruning.forest, X, y, kind=kind, ridge=1.0).forest
        assert found.variance is None
        assert found.split_gain is None


# --- What is refused ----------------------------------------------------------------------------------------


def test_kinds(fitted):
    for name, (_, _, kinds) in MODELS.items():
        assert kinds_for(fitted[name][2]) == kinds


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("hist", "squared", r"'squared' does not fit this forest; use 'own'\."),
        ("boosting", "softmax", r"'softmax' does not fit this forest; use 'own'\."),
        ("regression forest", "softmax", r"'softmax' does not fit this forest; use 'squared'\."),
        ("forest", "own", r"'own' does not fit this forest; use 'squared' or 'softmax'\."),
        ("forest", "hinge", r"'hinge' does not fit"),
    ],
)
def test_kinds_that_do_not_fit(fitted, name, kind, message):
    _, y, forest, pruning = fitted[name]
    with pytest.raises(InvalidInputError, match=message):
        refit(forest, X, y, kind=kind, ridge=1.0)
    with pytest.raises(InvalidInputError, match=message):
        refit_pruning(pruning, Sample.of(forest, X, y), kind, 1.0)


def test_losses_that_nobody_knows():
    model = HistGradientBoostingRegressor(loss="absolute_error", max_iter=2).fit(X, SCORE)
    with pytest.raises(UnsupportedModelError, match="cannot be refitted: its loss is not one that"):
        refit(Forest.from_model(model), X, SCORE, kind="own", ridge=1.0)


def test_numbers_and_rows_that_make_no_sense(fitted):
    _, y, forest, pruning = fitted["forest"]
    for ridge in (-1.0, np.nan, np.inf, "strong"):
        with pytest.raises(InvalidInputError, match="ridge must be a finite number of at least 0"):
            refit(forest, X, y, kind="squared", ridge=ridge)
    with pytest.raises(InvalidInputError, match="tolerance must be a finite number"):
        refit(forest, X, y, kind="squared", ridge=1.0, tolerance=-1)
    with pytest.raises(InvalidInputError, match="y has labels that the forest does not know: 'tiny'"):
        refit(forest, X, np.where(y == "low", "tiny", y), kind="softmax", ridge=1.0)
    with pytest.raises(InvalidInputError, match="y must have one entry for each of the 80 rows"):
        refit(forest, X, y[:-1], kind="softmax", ridge=1.0)
    with pytest.raises(InvalidInputError, match="X has 3 feature"):
        refit(forest, X[:, :3], y, kind="softmax", ridge=1.0)
    start = np.zeros(forest.value.shape)
    with pytest.raises(InvalidInputError, match=r"start has the shape.*shift of a refit of the same pruning"):
        refit_pruning(pruning, Sample.of(forest, X, y), "softmax", 1.0, start=start)


def test_warns_if_it_does_not_converge(fitted):
    _, y, forest, _ = fitted["forest"]
    with pytest.warns(ConvergenceWarning, match=r"ended after \d+ steps with a gradient of .* larger ridge"):
        found = refit(forest, X, y, kind="softmax", ridge=0.1, tolerance=0.0)
    assert not found.converged
    assert 0 < found.gradient_norm < 1e-8
