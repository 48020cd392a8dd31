"""Ranking scorers for scikit-learn, with query ids through metadata routing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metadata_routing import MetadataRequest

from budgetprune.errors import InvalidInputError, UnsupportedModelError
from budgetprune.ranking.documents import (
    Empty,
    check_empty,
    check_gain,
    check_k,
    check_qid_given,
    check_relevant,
)
from budgetprune.ranking.measures import average_precision_at, ndcg_at


def ap_scorer(k: int = 5, *, relevant: float = 1, empty: Empty = "skip") -> RankingScorer:
    """Make a scorer of `average_precision_at`; see `RankingScorer` for passing query ids."""
    return RankingScorer(
        average_precision_at, k=check_k(k), relevant=check_relevant(relevant), empty=check_empty(empty)
    )


def ndcg_scorer(
    k: int = 10, *, gain: Literal["exponential", "linear"] = "exponential", empty: Empty = "skip"
) -> RankingScorer:
    """Make a scorer of `ndcg_at`; see `RankingScorer` for passing query ids."""
    return RankingScorer(ndcg_at, k=check_k(k), gain=check_gain(gain), empty=check_empty(empty))


# scikit-learn's make_scorer cannot be used: its scorers refuse `qid` while metadata routing is off, and do
# not give its measures the classes of the columns of probabilities.
class RankingScorer:
    """Scorer of a fitted model's ranking of the documents of each query.

    Call it, ``scorer(model, X, y, qid=qid)``, or give it to scikit-learn, which passes query ids on if
    metadata routing is enabled::

        sklearn.set_config(enable_metadata_routing=True)
        search = GridSearchCV(model, grid, scoring=ap_scorer(5), cv=GroupKFold(5))
        search.fit(X, y, qid=qid, groups=qid)

    Documents are ranked by `predicted_relevance`. `qid` is requested from the start; `set_score_request`
    renames it, or requests `sample_weight` as well.
    """

    def __init__(self, measure: Callable[..., float], **options: Any) -> None:
        self._measure = measure
        self._options = options
        self._requests: dict[str, bool | str | None] = {"qid": True, "sample_weight": None}

    def __call__(
        self, estimator: Any, X: Any, y: ArrayLike, *, qid: Any = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the measure of the model's ranking of the rows `X`, whose relevance is `y`."""
        check_qid_given(qid)  # before a prediction that may take long
        score = predicted_relevance(estimator, X)
        return self._measure(y, score, qid, sample_weight=sample_weight, **self._options)

    def set_score_request(self, **requests: bool | str | None) -> Self:
        """Request ``qid`` or ``sample_weight``: True, False, None (refuse it), or another name for it."""
        unknown = requests.keys() - self._requests.keys()
        if unknown:
            raise InvalidInputError(
                f"this scorer takes no {', '.join(sorted(unknown))}; it can request qid and sample_weight."
            )
        self._routing(requests)
        self._requests |= requests
        return self

    def get_metadata_routing(self) -> Any:
        """Return the metadata requests of this scorer."""
        return self._routing(self._requests)

    def _routing(self, requests: Mapping[str, bool | str | None]) -> Any:
        routing = MetadataRequest(owner=repr(self))
        for name, request in requests.items():
            routing.score.add_request(param=name, alias=request)
        return routing

    def __repr__(self) -> str:
        name = {average_precision_at: "ap_scorer", ndcg_at: "ndcg_scorer"}.get(self._measure, "RankingScorer")
        return f"{name}({', '.join(f'{option}={value!r}' for option, value in self._options.items())})"


def predicted_relevance(estimator: Any, X: Any) -> NDArray[Any]:
    """Return the ranking scores of a fitted model, one per row.

    For a classifier that is the relevance it expects, the sum over its classes of class times probability
    (with two classes the probability of the larger one, which ranks the same); for others, what they predict.
    """
    name = type(estimator).__name__
    classes = getattr(estimator, "classes_", None)
    if not hasattr(estimator, "predict_proba"):
        if classes is not None and len(classes):
            raise UnsupportedModelError(
                f"{name} has no probabilities to rank documents by; wrap it in "
                "sklearn.calibration.CalibratedClassifierCV, or use a regressor."
            )
        return np.asarray(estimator.predict(X))
    try:
        relevance = np.asarray(classes, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UnsupportedModelError(
            f"the classes of {name} must be numbers to expect a relevance ({error}); fit it to numbers."
        ) from error
    probability = np.asarray(estimator.predict_proba(X))
    if probability.ndim != 2 or probability.shape[1:] != relevance.shape:
        raise UnsupportedModelError(
            f"{name} must have one column of probabilities for each of its classes_, "
            f"but their shapes are {probability.shape} and {relevance.shape}."
        )
    if relevance.size == 2:
        return np.asarray(probability[:, np.argmax(relevance)])
    # No matrix product: it may round equal rows differently, which would break ties by the order of rows.
    return np.asarray((probability * relevance).sum(axis=1))
