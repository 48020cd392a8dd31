"""The score that chooses a model and compares it, and the quality of its labels and probabilities."""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import get_scorer, get_scorer_names, r2_score

from budgetprune.costs import join_first
from budgetprune.errors import BudgetPruneError, InvalidInputError
from budgetprune.model import ClassQuality, Quality
from budgetprune.ranking import RankingScorer, ndcg_scorer
from budgetprune.selection import GivenClassifier, GivenRegressor, WeightedAccuracy
from budgetprune.utils.quality import (
    area_under_curve,
    calibration_bins,
    label_quality,
    mean_log_loss,
    normalised,
)
from budgetprune.workflow.tables import argument


@dataclass(frozen=True, eq=False)
class Answers:
    """Predictions of a model for some rows, with what is true.

    Attributes
    ----------
    labels : array of shape (n_rows,)
        Labels or targets.
    probabilities : float64 array of shape (n_rows, n_classes), or None for regression
    truth : array of shape (n_rows,)
        Anything that is not a class is a label that the model does not know.
    qid : array of shape (n_rows,), or None
        Query of each row.
    """

    labels: NDArray[Any]
    probabilities: NDArray[np.float64] | None
    truth: NDArray[Any]
    qid: NDArray[Any] | None = None

    def known(self, classes: NDArray[Any]) -> Answers:
        """Return the rows whose true label is a class of the model."""
        labels = set(classes.tolist())
        is_known = np.array([label in labels for label in self.truth.tolist()], dtype=np.bool_)
        if is_known.all():
            return self
        return Answers(
            self.labels[is_known],
            None if self.probabilities is None else self.probabilities[is_known],
            self.truth[is_known].astype(classes.dtype),
            None if self.qid is None else self.qid[is_known],
        )


@dataclass(frozen=True, eq=False)
class Score:
    """Score of predictions; larger is better.

    Attributes
    ----------
    name : str
        What tables and metadata call it.
    scorer : callable ``(estimator, X, y)``, or None
        None: accuracy, or R² for regression.
    classes : array of shape (n_classes,), or None for regression
    """

    name: str
    scorer: Any
    classes: NDArray[Any] | None

    @classmethod
    def of(
        cls,
        scoring: Any,
        classes: NDArray[Any] | None,
        *,
        class_weight: Any = None,
        has_queries: bool = False,
    ) -> Score:
        """Return the score for the options of a workflow.

        Parameters
        ----------
        scoring : name of a scorer of scikit-learn, callable, or None
        classes : labels in the form that the scorer will see
        class_weight : weights of these classes, which the default score has
        has_queries : whether rows belong to queries, so that the default score is NDCG
        """
        if scoring is not None:
            scorer = get_scorer(scoring)
            return cls(_name_of(scoring), _with_positive_class(scorer, classes), classes)
        if has_queries:
            return cls("NDCG@10", ndcg_scorer(), classes)
        if class_weight is not None:
            name = "balanced accuracy" if isinstance(class_weight, str) else "weighted accuracy"
            return cls(name, WeightedAccuracy(class_weight), classes)
        return cls("R²" if classes is None else "accuracy", None, classes)

    def check(self, y: NDArray[Any], qid: NDArray[Any] | None = None) -> None:
        """Score a constant model, so that an unsuitable scorer raises before any work."""
        if self.scorer is None:
            return
        if self.classes is None:
            labels, shares = np.full(len(y), np.mean(y)), None
        else:
            share = np.array([np.mean(y == label) for label in self.classes.tolist()])
            labels, shares = np.repeat(self.classes[[share.argmax()]], len(y)), np.tile(share, (len(y), 1))
        try:
            self._scored(Answers(labels, shares, y, qid))
        except BudgetPruneError:
            raise
        except (AttributeError, TypeError, ValueError) as error:
            raise InvalidInputError(
                f"{argument('scoring')} {self.name} cannot score these rows: {error}"
            ) from error

    def __call__(self, answers: Answers) -> float | None:
        """Score predictions; None if there are too few rows.

        A label that the model does not know counts as wrong for accuracy; other scores leave such rows out.
        """
        if self.scorer is None:
            if self.classes is not None:
                return float(np.mean(answers.labels == answers.truth))
            return float(r2_score(answers.truth, answers.labels)) if len(answers.truth) > 1 else None
        known = answers if self.classes is None else answers.known(self.classes)
        if not len(known.truth):
            return None
        try:
            found = self._scored(known)
        except (TypeError, ValueError):
            return None  # for example, test rows of one class have no AUC
        return found if np.isfinite(found) else None

    def _scored(self, answers: Answers) -> float:
        model: Any = GivenRegressor(answers.labels)
        if self.classes is not None:
            assert answers.probabilities is not None
            model = GivenClassifier(self.classes, answers.labels, answers.probabilities)
        given = {"qid": answers.qid} if isinstance(self.scorer, RankingScorer) else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            return float(self.scorer(model, answers.labels, answers.truth, **given))


def _name_of(scoring: Any) -> str:
    return scoring if isinstance(scoring, str) else str(getattr(scoring, "__name__", scoring))


def _with_positive_class(scorer: Any, classes: NDArray[Any] | None) -> Any:
    """Return a scorer for which the second of two classes is the positive one, whatever it is called."""
    measure, given = getattr(scorer, "_score_func", None), getattr(scorer, "_kwargs", {})
    is_binary = classes is not None and classes.size == 2
    if not is_binary or measure is None or "pos_label" in given or given.get("average", "binary") != "binary":
        return scorer
    if "pos_label" not in inspect.signature(measure).parameters:
        return scorer
    assert classes is not None
    positive = copy.copy(scorer)
    positive._kwargs = given | {"pos_label": classes.tolist()[1]}
    return positive


def check_scoring(scoring: Any) -> None:
    """Raise unless a scoring is None, the name of a scorer of scikit-learn, or a callable."""
    if scoring is None or callable(scoring):
        return
    if not isinstance(scoring, str):
        raise InvalidInputError(
            f"{argument('scoring')} must be the name of a scorer of scikit-learn, or a callable "
            f"(estimator, X, y), not {scoring!r}."
        )
    names = get_scorer_names()
    if scoring not in names:
        close = get_close_matches(scoring, names, n=3)
        hint = f"did you mean {join_first(map(repr, close))}?" if close else "see sklearn.metrics."
        raise InvalidInputError(f"{argument('scoring')} {scoring!r} is not a scorer of scikit-learn; {hint}")


def resolve_class_weight(class_weight: Any, labels: NDArray[Any]) -> Any:
    """Return class weights by label; ``"balanced"`` and None stay as they are.

    Parameters
    ----------
    class_weight : None, "balanced", or mapping from labels, or their names, to weights
        Classes that it lacks have weight 1.
    labels : classes
    """
    if not isinstance(class_weight, Mapping):
        return class_weight
    by_name = {str(label): label for label in labels.tolist()}
    unknown = [name for name in map(str, class_weight) if name not in by_name]
    if unknown:
        raise InvalidInputError(
            f"{argument('class_weight')} is for the class {unknown[0]!r}, which the target does not have; "
            f"its classes are {join_first(map(repr, by_name))}."
        )
    given = {by_name[str(name)]: float(weight) for name, weight in class_weight.items()}
    found = {label: given.get(label, 1.0) for label in by_name.values()}
    if not any(found.values()):
        raise InvalidInputError(f"{argument('class_weight')}: at least one class must have a weight above 0.")
    return found


def quality_of(
    answers: Answers, classes: NDArray[Any] | None, names: NDArray[Any] | None = None
) -> Quality | None:
    """Measure the labels and probabilities of a classifier on the rows with a known label; None if none.

    Parameters
    ----------
    answers : Answers
    classes : labels in the form of the answers
    names : what these labels are called; None: as they are
    """
    if classes is None or answers.probabilities is None:
        return None
    known = answers.known(classes)
    if not len(known.truth):
        return None
    number = {label: k for k, label in enumerate(classes.tolist())}
    truth, predicted = (
        np.array([number[label] for label in values.tolist()], dtype=np.int64)
        for values in (known.truth, known.labels)
    )
    assert known.probabilities is not None
    shares = normalised(known.probabilities)
    by_class = label_quality(truth, predicted, list(range(classes.size)))
    return Quality(
        auc=area_under_curve(truth, shares),
        log_loss=mean_log_loss(truth, shares),
        calibration_error=calibration_bins(truth, shares).error,
        by_class=tuple(
            ClassQuality(str(label), int(n), recall if n else None, precision if m else None)
            for label, n, m, recall, precision in zip(
                (classes if names is None else names).tolist(),
                *(each.tolist() for each in by_class),
                strict=True,
            )
        ),
    )
