"""Schemathesis looks for requests that the document allows and the service refuses, or the other way round.

``make fuzz-service`` tries more: as many for each endpoint as BUDGETPRUNE_FUZZ says, and new ones each time.
"""

from __future__ import annotations

import json
import os

import hypothesis
import pytest
import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import negative_data_rejection

from budgetprune.service import Access, Limits, create_app
from budgetprune.service.documents import Answer
from budgetprune.service.endpoints import STREAMS
from budgetprune.service.model_description import ModelDescription
from budgetprune.service.streams import NDJSON

from .models import NAMES, predictor

N_EXAMPLES = int(os.environ.get("BUDGETPRUNE_FUZZ", "0"))
SETTINGS = hypothesis.settings(
    max_examples=N_EXAMPLES or 8,
    derandomize=not N_EXAMPLES,
    deadline=None,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)
# A body that is wrong may also be too long for a service with small limits.
REFUSED = ["400", "413", "415", "422"]


@schemathesis.serializer(NDJSON)
def write_lines(context, value):
    return b"".join(json.dumps(row).encode() + b"\n" for row in value)


def config(*refused: str) -> SchemathesisConfig:
    checks = {"negative_data_rejection": {"expected-statuses": [*REFUSED, *refused]}}
    return SchemathesisConfig.from_dict({"seed": 1, "checks": checks})


CONFIG = config()


def in_process(name: str):
    # With a small limit, batches that are too long are short enough to be tried.
    app = create_app(predictor(name), Limits(batch_rows=3))
    return schemathesis.openapi.from_asgi("/openapi.json", app, config=CONFIG)


TOKEN = "a-token-of-the-fuzz-tests"


def with_token():
    """All checks, among them that requests without the token are refused."""
    app = create_app(predictor("classes"), Limits(batch_rows=3), access=Access(tokens=[TOKEN]))
    headers = {"authorization": f"Bearer {TOKEN}"}
    return schemathesis.openapi.from_asgi("/openapi.json", app, config=config("401"), headers=headers)


def make_consistent(case, name: str) -> None:
    """Take back what no schema can forbid: a source that was acquired, but whose features have no value."""
    if not isinstance(case.body, dict | list) or not case.meta.generation.mode.is_positive:
        return
    sources = ModelDescription(predictor(name)).sources
    for body in case.body if isinstance(case.body, list) else case.body.get("rows", [case.body]):
        has = body.get("values", {}).keys() | (body.get("known") or {}).keys()
        if body.get("acquired"):
            body["acquired"] = [
                source for source in body["acquired"] if has.issuperset(sources[source].features)
            ]


def validate(case, **options) -> None:
    """Check a response. In a stream, errors belong to lines."""
    if case.path not in STREAMS:
        case.call_and_validate(**options)
        return
    if not isinstance(case.body, list):
        return  # not lines
    is_valid = case.meta.generation.mode.is_positive
    response = case.call(**options)
    case.validate_response(response, excluded_checks=[negative_data_rejection])
    if response.status_code != 200:
        return
    answers = [json.loads(line) for line in response.content.splitlines()]
    assert len(answers) == len(case.body)
    for answer in answers:
        if "error" not in answer:
            Answer.model_validate(answer, strict=True)
        else:
            assert not is_valid, answer


@schemathesis.pytest.parametrize(**{name: in_process(name) for name in NAMES})
@SETTINGS
def test_in_process(case, request):
    name = next(name for name in NAMES if name in request.node.name)
    make_consistent(case, name)
    validate(case)


@schemathesis.pytest.parametrize(api=with_token())
@SETTINGS
def test_with_a_token(case):
    make_consistent(case, "classes")
    validate(case, headers={"Authorization": f"Bearer {TOKEN}"})


@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode))
def test_over_a_socket(service, mode):
    schema = schemathesis.openapi.from_url(f"{service.url}/openapi.json", config=CONFIG)
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) == 10
    for operation in operations:
        if mode.is_positive or operation.body:

            @SETTINGS
            @hypothesis.given(case=operation.as_strategy(generation_mode=mode))
            def check(case):
                make_consistent(case, "classes")
                validate(case)

            check()
