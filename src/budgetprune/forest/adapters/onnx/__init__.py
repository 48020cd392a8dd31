"""ONNX: models with one tree operator, in both directions."""
