"""When two methods are equally good, as far as a few seeds can tell."""

from __future__ import annotations

import numpy as np


def differs_by_noise(scores):
    """Is the mean difference of two methods, seed by seed, within three of its standard errors?

    `scores` has one pair per seed. A difference of exactly 0 everywhere is no difference.
    """
    difference = np.diff(np.asarray(scores), axis=1)[:, 0]
    error = difference.std(ddof=1) / np.sqrt(difference.size)
    return abs(difference.mean()) <= 3 * error + 1e-12
