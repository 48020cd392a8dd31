"""Scores that choose models, class weights, and the quality of labels and probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    balanced_accuracy_score,
    f1_score,
    log_loss,
    precision_score,
    recall_score,
    roc_auc_score,
)

from budgetprune import FitOptions, InvalidInputError, PruneOptions
from budgetprune.ranking import ndcg_at
from budgetprune.workflow.scores import Answers, Score, quality_of, resolve_class_weight


@pytest.fixture(scope="module")
def binary():
    X, y = make_classification(400, weights=[0.8], flip_y=0.1, random_state=0)
    labels = np.array(["no", "yes"])[y]
    model = LogisticRegression().fit(X[:200], labels[:200])
    return model.classes_, Answers(model.predict(X[200:]), model.predict_proba(X[200:]), labels[200:])


def test_scorers_of_scikit_learn(binary):
    """The second class is the positive one, whatever it is called."""
    classes, answers = binary
    truth, labels, second = answers.truth, answers.labels, answers.probabilities[:, 1]
    expected = {
        None: np.mean(truth == labels),
        "roc_auc": roc_auc_score(truth == "yes", second),
        "neg_log_loss": -log_loss(truth, answers.probabilities),
        "f1": f1_score(truth, labels, pos_label="yes"),
        "recall": recall_score(truth, labels, pos_label="yes"),
        "f1_macro": f1_score(truth, labels, average="macro"),
        "neg_brier_score": -np.mean((second - (truth == "yes")) ** 2),
    }
    for scoring, value in expected.items():
        score = Score.of(scoring, classes)
        score.check(truth)
        assert score(answers) == pytest.approx(value), scoring
        assert score.name == (scoring or "accuracy")
    assert Score.of(lambda model, X, y: 0.25, classes)(answers) == 0.25


def test_default_scores(binary):
    classes, answers = binary
    balanced = Score.of(None, classes, class_weight="balanced")
    assert balanced.name == "balanced accuracy"
    assert balanced(answers) == pytest.approx(balanced_accuracy_score(answers.truth, answers.labels))
    weighted = Score.of(None, classes, class_weight={"no": 0.0, "yes": 2.0})
    expected = recall_score(answers.truth, answers.labels, pos_label="yes")
    assert weighted(answers) == pytest.approx(expected)
    y, guess, qid = np.array([0.0, 2, 1, 0]), np.array([0.1, 0.3, 0.9, 0.2]), np.array([0, 0, 1, 1])
    ndcg = Score.of(None, None, has_queries=True)
    ndcg.check(y, qid)
    assert ndcg.name == "NDCG@10"
    assert ndcg(Answers(guess, None, y, qid)) == ndcg_at(y, guess, qid) == 1.0
    assert Score.of(None, None)(Answers(y, None, y)) == 1.0
    assert Score.of(None, None)(Answers(y[:1], None, y[:1])) is None


def test_labels_that_the_model_does_not_know(binary):
    classes, answers = binary
    truth = answers.truth.astype(object)
    truth[:50] = None
    some = Answers(answers.labels, answers.probabilities, truth)
    rest = Answers(answers.labels[50:], answers.probabilities[50:], answers.truth[50:])
    auc, accuracy = Score.of("roc_auc", classes), Score.of(None, classes)
    assert auc(some) == auc(rest)
    assert accuracy(some) == pytest.approx(accuracy(rest) * 150 / 200)
    assert quality_of(some, classes) == quality_of(rest, classes)
    nobody = Answers(answers.labels, answers.probabilities, np.full(200, None))
    assert auc(nobody) is None
    assert quality_of(nobody, classes) is None


def test_quality(binary):
    classes, answers = binary
    found = quality_of(answers, classes, np.array(["well", "ill"]))
    truth, labels = answers.truth, answers.labels
    assert found.auc == pytest.approx(roc_auc_score(truth == "yes", answers.probabilities[:, 1]))
    assert found.log_loss == pytest.approx(log_loss(truth, answers.probabilities))
    assert [each.label for each in found.by_class] == ["well", "ill"]
    assert [each.n_rows for each in found.by_class] == [np.sum(truth == "no"), np.sum(truth == "yes")]
    for each, label in zip(found.by_class, classes, strict=True):
        assert each.recall == pytest.approx(recall_score(truth, labels, pos_label=label))
        assert each.precision == pytest.approx(precision_score(truth, labels, pos_label=label))
    never = Answers(np.full(200, "no"), answers.probabilities, truth)
    assert quality_of(never, classes).by_class[1].precision is None
    one = Answers(labels, answers.probabilities, np.full(200, "no"))
    assert quality_of(one, classes).auc is None
    assert quality_of(one, classes).by_class[1].recall is None


@pytest.mark.parametrize("scoring", ["r2", "neg_mean_absolute_error"])
def test_scores_that_do_not_suit_the_target(scoring, binary):
    classes, answers = binary
    with pytest.raises(InvalidInputError, match=rf"scoring \(--scoring\) {scoring} cannot score these rows"):
        Score.of(scoring, classes).check(answers.truth)
    with pytest.raises(InvalidInputError, match="roc_auc cannot score these rows"):
        Score.of("roc_auc", None).check(np.arange(5.0))


def test_class_weights_by_name():
    labels = np.array([1, 2, 3])
    assert resolve_class_weight({"2": 5}, labels) == {1: 1.0, 2: 5.0, 3: 1.0}
    assert resolve_class_weight({2: 5, "3": 0}, labels) == {1: 1.0, 2: 5.0, 3: 0.0}
    assert resolve_class_weight("balanced", labels) == "balanced"
    with pytest.raises(InvalidInputError, match="is for the class '4', which the target does not have"):
        resolve_class_weight({"4": 1}, labels)
    with pytest.raises(InvalidInputError, match="at least one class must have a weight above 0"):
        resolve_class_weight(dict.fromkeys("123", 0), labels)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"scoring": "roc_acu"}, r"'roc_acu' is not a scorer of scikit-learn; did you mean 'roc_auc'"),
        ({"scoring": 3}, "must be the name of a scorer"),
        ({"class_weight": "even"}, "must be 'balanced', or weights by class"),
        ({"class_weight": {"a": -1}}, "of 'a' must be a finite number of at least 0"),
        ({"threshold": 1.0}, r"threshold \(--threshold\) must be above 0 and below 1, not 1.0"),
        ({"threshold": "half"}, "must be above 0 and below 1"),
        ({"unit": 3}, r"unit \(--unit\) must be a str"),
        ({"qid": 3}, r"qid \(--qid\) must be a str"),
    ],
)
def test_invalid_options(options, words):
    for kind in (FitOptions, PruneOptions):
        with pytest.raises(InvalidInputError, match=words):
            kind(**options)


def test_options_that_contradict_each_other():
    with pytest.raises(InvalidInputError, match="not both: each of them chooses the class"):
        FitOptions(threshold=0.3, error_costs=5)
    with pytest.raises(InvalidInputError, match="is for ranking by numbers"):
        FitOptions(qid="query", task="classification")
