"""The routes of the service."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from importlib.metadata import version
from typing import Any, NamedTuple

from fastapi import FastAPI
from fastapi.routing import APIRoute
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from budgetprune.predictor import BudgetPredictor
from budgetprune.service import documents
from budgetprune.service.access import Access
from budgetprune.service.card import write_card
from budgetprune.service.counts import OwnRow
from budgetprune.service.decisions import Decisions
from budgetprune.service.endpoints import (
    DECIDE,
    DECIDE_BATCH,
    DECIDE_STREAM,
    HEALTH,
    METRICS,
    MODEL,
    MODEL_FILE,
    STEP,
    STEP_BATCH,
    STEP_STREAM,
)
from budgetprune.service.error_responses import refuse_in_one_shape
from budgetprune.service.errors import (
    BUSY,
    INVALID,
    JSON,
    NOT_JSON,
    TOO_LARGE,
    WRONG_TYPE,
)
from budgetprune.service.gate import Gate
from budgetprune.service.handlers import RequestHandler
from budgetprune.service.hosts import Hosts
from budgetprune.service.metrics import Metrics
from budgetprune.service.middleware import AnswerDirectly
from budgetprune.service.model_description import ModelDescription
from budgetprune.service.offers import MappedResponse, Offers
from budgetprune.service.rates import RateMemory
from budgetprune.service.schemas import body_of, lines_of, request_schemas, require_access
from budgetprune.service.served import ServedModel
from budgetprune.service.streams import NDJSON, StreamResponse, Streams
from budgetprune.utils.limits import Limits

_REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": documents.Error, "description": what}
    for status, what in {
        NOT_JSON: "Invalid JSON (NaN and infinity are invalid), or nested too deep.",
        TOO_LARGE: "More bytes, or more lists and objects, than the limit allows.",
        WRONG_TYPE: "Content-Type is not application/json.",
        INVALID: "Unknown names, invalid values, or acquired sources without values.",
        BUSY: "Stopping or overloaded: try again after Retry-After.",
    }.items()
}


class DirectRoute(APIRoute):
    """A route whose endpoint takes the request and returns the response, bypassing FastAPI's handler.

    FastAPI's handler took 30 of the 55 microseconds that an empty request spent in the app. Requests for
    decisions do not even come here, unless the app is mounted in another: `AnswerDirectly` answers them.
    Their bodies are parsed by `budgetprune.service.bodies`, which knows the model's features. Fuzz tests
    compare the parser with the OpenAPI document.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """See FastAPI."""
        handler: Callable[[Request], Coroutine[Any, Any, Response]] = self.endpoint
        return handler


class Application(NamedTuple):
    """The app, and the part of it that a server can call without ASGI."""

    app: FastAPI
    decisions: Decisions


def create_app(
    predictor: BudgetPredictor | ServedModel,
    limits: Limits | None = None,
    *,
    hosts: Hosts | None = None,
    access: Access | None = None,
) -> FastAPI:
    """Create the ASGI app that serves a predictor.

    Parameters
    ----------
    predictor : BudgetPredictor or ServedModel
    limits : Limits, optional
        Limits on the size of a request.
    hosts : Hosts, optional
        Accepted ``Host`` headers. None accepts all.
    access : Access, optional
        Tokens and the limit of each client. None: no tokens, no limit.

    Returns
    -------
    app : FastAPI
        Runs on any ASGI server. Its only state are its metrics and, with a limit, the requests of clients.
    """
    return build_application(predictor, limits or Limits(), hosts, access=access).app


def build_application(
    predictor: BudgetPredictor | ServedModel,
    limits: Limits,
    hosts: Hosts | None,
    row: OwnRow | None = None,
    *,
    access: Access | None = None,
    rates: RateMemory | None = None,
) -> Application:
    """Create the app; see `create_app`. With a row and rates, it counts as one of several workers."""
    model = ServedModel.of(predictor)
    description = ModelDescription(model.predictor)
    metrics = Metrics(description, row)
    # FastAPI's HTML pages would load scripts from a CDN.
    app = FastAPI(
        title="budgetprune",
        version=version("budgetprune"),
        description="Send the values you have; get the decision, or the source to acquire next.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.router.route_class = DirectRoute
    gate = Gate.of(access, rates)
    handler = RequestHandler(model.predictor, description)
    decisions = Decisions(handler, metrics, limits, hosts, gate)
    streams = Streams(handler, metrics, limits, decisions.reader.memory, decisions.scheduler)
    app.add_middleware(AnswerDirectly, decisions=decisions, metrics=metrics, hosts=hosts, gate=gate)
    refuse_in_one_shape(app)
    _add_decision_routes(app, decisions)
    _add_stream_routes(app, streams)
    _add_state(app, write_card(model, description), metrics)
    if model.offered is not None:
        _add_offers(app, Offers(model.offered))
    document = app.openapi()
    document["components"]["schemas"] |= request_schemas(description, limits)
    _answer_head(app, HEALTH)
    if access is not None:
        require_access(document, access, documents.Error.__name__)
    return Application(app, decisions)


def _add_decision_routes(app: FastAPI, decisions: Decisions) -> None:
    def route_to(path: str) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        async def answer(request: Request) -> Response:
            return Response(await decisions(path, request.scope, request.receive), media_type=JSON)

        return answer

    for path, schema, answer, summary in (
        (STEP, "StepRequest", documents.Answer, "Return the decision or the next source"),
        (DECIDE, "DecideRequest", documents.Answer, "Decide a complete row"),
        (STEP_BATCH, "StepBatch", documents.BatchAnswer, "Steps for many examples"),
        (DECIDE_BATCH, "DecideBatch", documents.BatchAnswer, "Decide many complete rows"),
    ):
        app.post(
            path,
            name=schema,
            summary=summary,
            responses={200: {"model": answer}, **_REFUSALS},
            openapi_extra=body_of(schema),
        )(route_to(path))


def _add_stream_routes(app: FastAPI, streams: Streams) -> None:
    def route_to(path: str) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        async def answer(request: Request) -> Response:
            return StreamResponse(streams, path, request)

        return answer

    refusals: dict[int | str, dict[str, Any]] = {status: _REFUSALS[status] for status in (WRONG_TYPE, BUSY)}
    for path, row, name, summary in (
        (STEP_STREAM, "StepRequest", "StepStream", "Steps for any number of examples, one per line"),
        (DECIDE_STREAM, "DecideRequest", "DecideStream", "Decide any number of complete rows, one per line"),
    ):
        answers = {
            "description": "An answer or an error for each row.",
            "content": lines_of(NDJSON, "Answer"),
        }
        app.post(
            path,
            name=name,
            summary=summary,
            response_class=Response,
            responses={200: answers, **refusals},
            openapi_extra={"requestBody": {"required": True, "content": lines_of(NDJSON, row)}},
        )(route_to(path))


def _add_state(app: FastAPI, description: bytes, metrics: Metrics) -> None:
    @app.get(
        HEALTH, summary="Health check", responses={200: {"model": documents.Health}, BUSY: _REFUSALS[BUSY]}
    )
    async def health(_request: Request) -> Response:
        return Response(b'{"status":"ok"}', media_type=JSON)

    @app.get(MODEL, summary="Description of the served model", responses={200: {"model": documents.Model}})
    async def model(_request: Request) -> Response:
        return Response(description, media_type=JSON)

    @app.get(METRICS, summary="Counters for Prometheus", response_class=PlainTextResponse)
    async def counters(_request: Request) -> Response:
        return Response(metrics.text(), media_type=CONTENT_TYPE_LATEST)


def _add_offers(app: FastAPI, offers: Offers) -> None:
    budget = {
        "name": "budget",
        "in": "query",
        "description": "Another budget: limit of the average cost of a prediction.",
        "schema": {"type": "number", "minimum": 0},
    }
    file = {MappedResponse.media_type: {"schema": {"type": "string", "format": "binary"}}}

    @app.get(
        MODEL_FILE,
        summary="The model file, as it is or for another budget",
        response_class=Response,
        responses={
            200: {"description": "For `budgetprune` and `BudgetModel.load`.", "content": file},
            INVALID: _REFUSALS[INVALID] | {"description": "Invalid budget, or too small for this model."},
            BUSY: _REFUSALS[BUSY],
        },
        openapi_extra={"parameters": [budget]},
    )
    async def model_file(request: Request) -> Response:
        return await offers.response(request.query_params)


def _answer_head(app: FastAPI, path: str) -> None:
    """Let HEAD return the response of GET; the server omits the body.

    FastAPI would give both methods the same operation ID and emit a warning.
    """
    document = app.openapi()["paths"][path]
    responses = {
        status: {"description": response["description"]}
        for status, response in document["get"]["responses"].items()
    }
    operation = document["get"]["operationId"].removesuffix("_get") + "_head"
    document["head"] = document["get"] | {"operationId": operation, "responses": responses}
    for route in app.routes:
        if isinstance(route, APIRoute) and route.path == path:
            route.methods = {*(route.methods or ()), "HEAD"}
