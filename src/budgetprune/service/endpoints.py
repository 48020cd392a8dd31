"""Paths of the service."""

STEP, DECIDE = "/v1/step", "/v1/decide"
STEP_BATCH, DECIDE_BATCH = "/v1/batch", "/v1/batch/decide"
MODEL, HEALTH, METRICS = "/v1/model", "/healthz", "/metrics"
ENDPOINTS = (STEP, DECIDE, STEP_BATCH, DECIDE_BATCH, MODEL, HEALTH, METRICS)
