"""Validation of test rows, and labels in the confusion matrix."""

from __future__ import annotations

import numpy as np
import pytest

from budgetprune import InvalidInputError
from budgetprune.report import summarise, to_json

from ..models import case


def test_labels_as_strings():
    found = case("boosted")
    as_text = summarise(found.model, found.X, list(map(str, found.y)), n_examples=0)
    assert as_text.points == summarise(found.model, found.X, found.y, n_examples=0).points


def test_unknown_labels_are_wrong():
    found = case("wine")
    y = found.y.astype(object)
    y[:3] = "Nero d'Avola"
    summary = summarise(found.model, found.X, y, n_examples=0)
    usual = summarise(found.model, found.X, found.y, n_examples=0)
    assert to_json(summary)["classes"] == (*usual.classes, "unknown to the model")
    own = summary.points[summary.delivered].full
    n_right = np.trace(own.confusion)
    assert own.n_wrong == len(y) - n_right
    assert sum(own.confusion[-1]) == 3
    assert own.score == pytest.approx(n_right / len(y), abs=1e-5)


def test_rare_labels_share_a_row(monkeypatch):
    monkeypatch.setattr("budgetprune.report.measure.rows.MOST_CLASSES", 2)
    found = case("wine")
    summary = summarise(found.model, found.X, found.y, n_examples=0)
    labels, count = np.unique(found.y, return_counts=True)
    assert to_json(summary)["classes"] == (labels[count.argmax()], "other labels")
    assert np.sum(summary.points[0].full.confusion) == len(found.y)
    assert np.sum(summary.points[0].full.confusion, axis=1)[0] == count.max()


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("wine", lambda y: y[1:], "45 rows, but 44 targets"),
        ("wine", lambda y: np.where(y == y[0], None, y), "of 1. row.s. is missing"),
        ("wine", lambda y: np.full(len(y), "Merlot"), "never one of the labels.*'Barbera'.*'Merlot'"),
        ("diabetes", lambda y: 0 * y, "the same in all rows"),
        ("diabetes", lambda y: y.astype(str) + "x", "must be a number"),
        ("diabetes", lambda y: np.where(y == y[0], np.inf, y), "infinite"),
    ],
)
def test_invalid_targets(name, change, words):
    found = case(name)
    with pytest.raises(InvalidInputError, match=words):
        summarise(found.model, found.X, change(found.y))
