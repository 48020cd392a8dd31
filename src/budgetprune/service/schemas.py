"""Request schemas for the OpenAPI document, with the model's features and sources."""

from __future__ import annotations

import math
from typing import Any

from budgetprune.service.access import Access
from budgetprune.service.endpoints import HEALTH, METRICS
from budgetprune.service.errors import TOO_MANY, UNAUTHORIZED
from budgetprune.service.model_description import Feature, ModelDescription
from budgetprune.utils.limits import Limits

Schema = dict[str, Any]


def request_schemas(description: ModelDescription, limits: Limits) -> dict[str, Schema]:
    """Return the schemas of all request bodies, by name."""
    features = description.features
    values = _object({name: _value(feature) for name, feature in features.items()})
    used = [name for name, feature in features.items() if feature.is_used]
    sources = _or_null({"type": "array", "items": _ref("Source"), "maxItems": len(description.sources)})
    max_cost = _or_null({"type": "number", "minimum": 0})
    step = {
        "values": _ref("Values") | {"description": "Acquired values, paid with all sources they need."},
        "known": _or_null(_ref("Values")) | {"description": "Values known for free."},
        "acquired": sources | {"description": "Acquired sources, in order, including those without values."},
        "unavailable": sources | {"description": "Sources that cannot be acquired."},
        "max_cost": max_cost | {"description": "Replaces the model's max_cost."},
    }
    return {
        "Source": {"type": "string", "enum": list(description.sources)},
        "Values": values,
        "CompleteRow": values | {"required": used},
        "StepRequest": _object(step, "values"),
        "DecideRequest": _object({"values": _ref("CompleteRow"), "max_cost": max_cost}, "values"),
        "StepBatch": _batch("StepRequest", limits),
        "DecideBatch": _batch("DecideRequest", limits),
    }


def body_of(schema: str) -> Schema:
    """Return the OpenAPI description of a route's body."""
    content = {"application/json": {"schema": _ref(schema)}}
    return {"requestBody": {"required": True, "content": content}}


def lines_of(media_type: str, row: str) -> Schema:
    """Return the OpenAPI description of text with one JSON object per line.

    As in OpenAPI 3.2, lines are described as the items of an array.
    """
    description = f"One {row} per line, without brackets and commas."
    return {media_type: {"schema": {"type": "array", "items": _ref(row), "description": description}}}


def require_access(document: Schema, access: Access, error: str) -> None:
    """Add tokens and limits to an OpenAPI document, with the schema of errors named `error`."""
    content = {"application/json": {"schema": _ref(error)}}
    if access.needs_token:
        scheme = {"type": "http", "scheme": "bearer"}
        document["components"]["securitySchemes"] = {"token": scheme}
    for path, operations in document["paths"].items():
        for operation in operations.values():
            if access.needs_token and path != HEALTH and not (path == METRICS and access.open_metrics):
                operation["security"] = [{"token": []}]
                operation["responses"][str(UNAUTHORIZED)] = {
                    "description": "There is no valid token.",
                    "content": content,
                }
            if access.rate is not None and path != HEALTH:
                operation["responses"][str(TOO_MANY)] = {
                    "description": "Too many requests of this client: try again after Retry-After.",
                    "content": content,
                }


def _value(feature: Feature) -> Schema:
    missing = ["null"] if feature.may_be_missing else []
    if feature.categories is None:
        schema: Schema = {"type": ["number", "boolean", *missing]}
        if feature.limit < math.inf:
            schema |= {"exclusiveMinimum": -feature.limit, "exclusiveMaximum": feature.limit}
        return schema
    if not feature.may_be_missing:
        return {"enum": list(feature.categories)}
    # Unknown categories of an accepted type count as missing.
    are_texts = {isinstance(category, str) for category in feature.categories}
    kinds = ["string"] * (True in are_texts) + ["number", "boolean"] * (False in are_texts)
    return {"type": [*kinds, "null"], "examples": list(feature.categories[:5])}


def _batch(row: str, limits: Limits) -> Schema:
    return _object({"rows": {"type": "array", "items": _ref(row), "maxItems": limits.batch_rows}}, "rows")


def _object(properties: Schema, *required: str) -> Schema:
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return schema | ({"required": list(required)} if required else {})


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}
