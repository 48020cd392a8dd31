"""Loading of skops files. It runs in a separate process and imports nothing of budgetprune."""

from __future__ import annotations

from typing import Any

PACKAGE = "skops"

# Types that hold the nodes of scikit-learn's trees. Loading them runs no code of the file, and the importer
# checks that the nodes form trees. Imputers and encoders of pipelines have a data type, which is read from an
# empty array.
TRUSTED = (
    "sklearn.tree._tree.Tree",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "numpy.dtype",
)


class UntrustedTypesError(Exception):
    """The file holds types that could run any code."""


def load(content: bytes) -> Any:
    """Load a model of scikit-learn; raise if the file holds types that skops does not trust."""
    from skops import io

    untrusted = sorted(set(io.get_untrusted_types(data=content)) - set(TRUSTED))
    if untrusted:
        raise UntrustedTypesError(", ".join(untrusted[:5]))
    return io.loads(content, trusted=list(TRUSTED))


def save(model: Any) -> bytes:
    """Return b"": the file is loaded as it is.

    skops has no parser of its own that could fail, and it warns of other versions of scikit-learn.
    """
    return b""
