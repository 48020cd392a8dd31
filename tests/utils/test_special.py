"""Link functions against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from budgetprune.utils.special import expit, logit, softmax

pytestmark = pytest.mark.uncompiled

EPSILON = np.finfo(np.float64).eps
LARGE = [700.0, 709.782712893384, 709.7827128933841, 710.0, 745.2, 1e3, 1e300, np.inf]


def numbers(n: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    spread = rng.normal(size=n) * 10.0 ** rng.integers(-20, 4, n)
    return np.concatenate([spread, LARGE, np.negative(LARGE), [0.0, -0.0, np.nan]])


def test_expit():
    x = numbers(500)
    with np.errstate(all="ignore"):
        expected = special.expit(x)
    np.testing.assert_allclose(expit(x), expected, rtol=4 * EPSILON, atol=0)
    rows = x[:500].reshape(100, 5)
    np.testing.assert_array_equal(expit(rows), expit(x[:500]).reshape(100, 5))
    np.testing.assert_array_equal(expit(rows[:, 1]), expit(rows)[:, 1])
    assert expit(np.empty((0, 2))).shape == (0, 2)


def test_logit():
    near = np.nextafter([0.0, 1.0, 0.5, 0.5, 0.3, 0.65], [1.0, 0.0, 0.0, 1.0, 0.0, 1.0])
    shares = np.concatenate([np.random.default_rng(0).random(500), near, [0.0, 1e-300, 0.5, 1.0]])
    for share in shares.tolist():
        np.testing.assert_allclose(logit(share), special.logit(share), rtol=4 * EPSILON, atol=0)
    for wrong in (-0.1, 1.1, np.nan):
        assert np.isnan(logit(wrong))


@pytest.mark.parametrize("scale", [0.0, 1e-9, 1.0, 300.0, 1e4, 1e300])
def test_softmax(scale):
    x = scale * np.random.default_rng(0).normal(size=(40, 3))
    np.testing.assert_allclose(softmax(x), special.softmax(x, axis=1), rtol=4 * EPSILON, atol=0)
    np.testing.assert_allclose(softmax(x, axis=0), special.softmax(x, axis=0), rtol=4 * EPSILON, atol=0)
    np.testing.assert_allclose(softmax(x[0]), special.softmax(x[0]), rtol=4 * EPSILON, atol=0)
