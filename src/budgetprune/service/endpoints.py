"""Paths of the service."""

STEP, DECIDE = "/v1/step", "/v1/decide"
STEP_BATCH, DECIDE_BATCH = "/v1/batch", "/v1/batch/decide"
STEP_STREAM, DECIDE_STREAM = "/v1/stream", "/v1/stream/decide"
MODEL, MODEL_FILE, HEALTH, METRICS = "/v1/model", "/v1/model/file", "/healthz", "/metrics"
STREAMS = (STEP_STREAM, DECIDE_STREAM)
ENDPOINTS = (STEP, DECIDE, STEP_BATCH, DECIDE_BATCH, *STREAMS, MODEL, MODEL_FILE, HEALTH, METRICS)
