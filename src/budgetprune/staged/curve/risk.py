"""Risk control: test that few labels differ from those of the model that acquires all sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta, binom

from budgetprune.errors import InvalidInputError
from budgetprune.staged.model.chain import Chain
from budgetprune.staged.model.staged_model import StagedModel
from budgetprune.staged.stopping.thresholds import stopping_stage

# Share of the rows held out for this test only.
TEST_SHARE = 0.2


@dataclass(frozen=True, eq=False)
class RiskCertificate:
    """Result of a test, on held-out rows, of how many labels differ from those of the full model.

    The *full model* is the same model if all rows acquire all sources.

    Attributes
    ----------
    share, confidence : float
        The requirement: at most this share of the labels differs, with this confidence.
    n_rows : int
        Number of held-out rows.
    differ : float64 array of shape (n_points,)
        Share of these rows whose label differs, for each point of the curve.
    is_certified : bool array of shape (n_points,)
        Points that meet the requirement: all of them together, with this confidence.
    is_full : bool array of shape (n_points,)
        Whether the point is the full model.
    """

    share: float
    confidence: float
    n_rows: int
    differ: NDArray[np.float64]
    is_certified: NDArray[np.bool_]
    is_full: NDArray[np.bool_]

    def bound(self, point: int) -> float:
        """Upper bound of the share of labels that differ at one point, with the given confidence."""
        if self.is_full[point]:
            return 0.0
        n_differ = round(self.differ[point] * self.n_rows)
        if n_differ == self.n_rows:
            return 1.0
        return float(beta.ppf(self.confidence, n_differ + 1, self.n_rows - n_differ))


def check_risk(risk: Any) -> tuple[float, float]:
    """Return share and confidence, or raise InvalidInputError."""
    try:
        share, confidence = (float(each) for each in risk)
    except (TypeError, ValueError):
        share = confidence = np.nan
    if not (0 < share < 1 and 0 < confidence < 1):
        raise InvalidInputError(
            "risk must be a pair (share, confidence) of numbers between 0 and 1, such as (0.01, 0.95); not "
            f"{risk!r}."
        )
    return share, confidence


def certify_risk(
    model: StagedModel, rows: NDArray[np.float64], share: float, confidence: float
) -> RiskCertificate:
    """Test the points of a model, from the most expensive one on, until one fails.

    The hypothesis of each test is that more than `share` of all labels differ; it is rejected if too few of
    the labels of `rows` do. This is fixed-sequence testing: the order of the tests does not depend on the
    rows, and the first failure ends them. So all points that pass meet the requirement together with the
    given confidence, for any distribution of the rows.
    """
    of_chains = [_all_stages(model, chain, rows) for chain in model.chains]
    full = of_chains[0][1][:, -1]
    curve = model.trade_off
    differ = np.empty(len(curve))
    for i in range(len(curve)):
        uncertainty, label = of_chains[int(curve.chain[i])]
        stage = stopping_stage(uncertainty, curve.thresholds[i])
        differ[i] = np.mean(label[np.arange(len(rows)), stage] != full)
    is_full = np.array([model.buys_everything(i) for i in range(len(curve))])
    is_certified = certify(differ, len(rows), share, confidence, is_full)
    return RiskCertificate(share, confidence, len(rows), differ, is_certified, is_full)


def certify(
    differ: NDArray[np.float64],
    n_rows: int,
    share: float,
    confidence: float,
    is_full: NDArray[np.bool_] | None = None,
) -> NDArray[np.bool_]:
    """Test points from the last to the first with a binomial test, until one fails.

    Parameters
    ----------
    differ : share of the labels that differ, for each point
    n_rows, share, confidence : as in `RiskCertificate`
    is_full : whether a point is the full model, which passes without a test
    """
    n_differ = np.rint(differ * n_rows)
    passes = binom.cdf(n_differ, n_rows, share) <= 1 - confidence
    if is_full is not None:
        passes |= is_full
    return np.asarray(np.logical_and.accumulate(passes[::-1])[::-1])


def _all_stages(
    model: StagedModel, chain: Chain, rows: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Compute uncertainties and labels at all stages, of shape (n_rows, n_stages)."""
    uncertainty, label, scores = [], [], None
    for k in range(len(chain)):
        scores = chain.advance(k, rows, scores)
        outputs = chain.outputs(k, rows, scores)
        uncertainty.append(model.objective.uncertainty(outputs))
        label.append(model.answers(outputs))
    return np.column_stack(uncertainty), np.column_stack(label)
