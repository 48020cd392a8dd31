"""A short run of the fuzzer of importers."""

from __future__ import annotations

from .fuzz_importers import fuzz


def test_a_few_hundred_damaged_models(tmp_path):
    """`make fuzz` tries 20,000, and checks the bounds of arrays in kernels too."""
    reasons = fuzz(400, tmp_path)
    assert sum(reasons.values()) == 400
    for kind in ("xgboost", "xgboost stub", "lightgbm", "lightgbm stub", "sklearn", "onnx", "catboost stub"):
        assert len([reason for reason in reasons if reason.startswith(f"{kind}:")]) > 5  # many checks
        assert reasons[f"{kind}: imported, and predicts"]  # and some models are fine
