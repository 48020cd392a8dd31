"""ONNX: export only."""
