"""The routes of the service."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from importlib.metadata import version
from typing import Any

import orjson
from fastapi import FastAPI
from fastapi.routing import APIRoute
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from budgetprune.predictor import BudgetPredictor
from budgetprune.service import documents
from budgetprune.service.bodies import BodyReader, parse, parse_rows
from budgetprune.service.counts import OwnRow
from budgetprune.service.endpoints import (
    DECIDE,
    DECIDE_BATCH,
    HEALTH,
    METRICS,
    MODEL,
    STEP,
    STEP_BATCH,
)
from budgetprune.service.errors import (
    BUSY,
    INVALID,
    JSON,
    NOT_JSON,
    TOO_LARGE,
    WRONG_TYPE,
    RefusedError,
    refuse_in_one_shape,
)
from budgetprune.service.handlers import Answer, HandleRequest, RequestHandler
from budgetprune.service.hosts import Hosts
from budgetprune.service.metrics import Metrics
from budgetprune.service.middleware import CheckHost, CountRequests
from budgetprune.service.model_description import ModelDescription
from budgetprune.service.scheduling import CooperativeScheduler
from budgetprune.service.schemas import body_of, request_schemas
from budgetprune.utils.limits import KIB, Limits

# Bodies up to this many bytes are answered immediately; larger ones in time slices.
SMALL = 16 * KIB
# Answers serialized between two yields.
ROWS_AT_ONCE = 50
SHOWN_BAD_ROWS = 5

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

    FastAPI's handler took 30 of the 55 microseconds that an empty request spent in the app. Bodies are parsed
    by `budgetprune.service.bodies`, which knows the model's features. Fuzz tests compare the parser with the
    OpenAPI document.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """See FastAPI."""
        handler: Callable[[Request], Coroutine[Any, Any, Response]] = self.endpoint
        return handler


def create_app(
    predictor: BudgetPredictor,
    limits: Limits | None = None,
    *,
    hosts: Hosts | None = None,
    row: OwnRow | None = None,
) -> FastAPI:
    """Create the ASGI app that serves a predictor.

    Parameters
    ----------
    predictor : BudgetPredictor
    limits : Limits, optional
        Limits on the size of a request.
    hosts : Hosts, optional
        Accepted ``Host`` headers. None accepts all.
    row : OwnRow, optional
        Where to count, for several processes with common metrics. None: the metrics are of this app alone.

    Returns
    -------
    app : FastAPI
        Runs on any ASGI server. Its only state is its metrics.
    """
    limits = limits or Limits()
    description = ModelDescription(predictor)
    handler = RequestHandler(predictor, description)
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
    if hosts is not None:
        app.add_middleware(CheckHost, hosts=hosts)
    app.add_middleware(CountRequests, metrics=metrics)
    refuse_in_one_shape(app)
    _add_decision_routes(app, handler, metrics, limits)
    _add_state(app, _model_document(predictor, description), metrics)
    document = app.openapi()
    document["components"]["schemas"] |= request_schemas(description, limits)
    _answer_head(app, HEALTH)
    return app


def _add_decision_routes(app: FastAPI, handler: RequestHandler, metrics: Metrics, limits: Limits) -> None:
    reader, scheduler = BodyReader(limits), CooperativeScheduler()

    def add(path: str, handle: HandleRequest, schema: str, summary: str) -> None:
        def answer(raw: bytes) -> bytes:
            found = handle(parse(raw, limits), "body")
            metrics.count_answer(found)
            return orjson.dumps(found)

        def answer_in_slices(raw: bytes) -> Generator[None, None, bytes]:
            yield
            return answer(raw)

        async def single(request: Request) -> Response:
            raw = await reader.receive(request, limits.body)
            try:
                if len(raw) <= SMALL:
                    content = answer(raw)
                else:
                    content = await scheduler.run(answer_in_slices(raw), request.is_disconnected)
            finally:
                reader.release(raw)
            return Response(content, media_type=JSON)

        _post(app, path, single, schema, documents.Answer, summary)

    def add_batch(path: str, handle: HandleRequest, schema: str, summary: str) -> None:
        async def batch(request: Request) -> Response:
            raw = await reader.receive(request, limits.batch_body)
            try:
                work = _answer_all(raw, handle, limits, metrics)
                content = await scheduler.run(work, request.is_disconnected)
            finally:
                reader.release(raw)
            return Response(content, media_type=JSON)

        _post(app, path, batch, schema, documents.BatchAnswer, summary)

    add(STEP, handler.step, "StepRequest", "Return the decision or the next source")
    add(DECIDE, handler.decide, "DecideRequest", "Decide a complete row")
    add_batch(STEP_BATCH, handler.step, "StepBatch", "Steps for many examples")
    add_batch(DECIDE_BATCH, handler.decide, "DecideBatch", "Decide many complete rows")


def _post(app: FastAPI, path: str, handler: Any, schema: str, answer: Any, summary: str) -> None:
    app.post(
        path,
        name=schema,
        summary=summary,
        responses={200: {"model": answer}, **_REFUSALS},
        openapi_extra=body_of(schema),
    )(handler)


def _answer_all(
    raw: bytes, handle: HandleRequest, limits: Limits, metrics: Metrics
) -> Generator[None, None, bytes]:
    """Answer each row. Any invalid row rejects the batch; the error lists the first few."""
    answers: list[Answer] = []
    refusals: list[RefusedError] = []
    for i, row in enumerate(parse_rows(raw, limits)):
        try:
            answers.append(handle(row, f"rows[{i}]"))
        except RefusedError as refusal:
            refusals.append(refusal)
            if len(refusals) == SHOWN_BAD_ROWS:
                break
        yield
    if refusals:
        raise _together(refusals)
    texts: list[bytes] = []
    for part in (answers[i : i + ROWS_AT_ONCE] for i in range(0, len(answers), ROWS_AT_ONCE)):
        for answer in part:
            metrics.count_answer(answer)
        texts.append(orjson.dumps(part)[1:-1])
        yield
    return b'{"answers":[' + b",".join(texts) + b"]}"


def _together(refusals: list[RefusedError]) -> RefusedError:
    """Combine the errors of several rows into one."""
    messages = [f"{(refusal.where or '').partition('.')[0]}: {refusal}" for refusal in refusals]
    return RefusedError(INVALID, " ".join(messages), refusals[0].where)


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


def _model_document(predictor: BudgetPredictor, description: ModelDescription) -> bytes:
    features = [
        {
            "name": feature.name,
            "kind": "number" if feature.categories is None else "category",
            "categories": feature.categories,
            "may_be_missing": feature.may_be_missing,
            "used": feature.is_used,
        }
        for feature in description.features.values()
    ]
    sources = [
        {"name": source.name, "price": source.price, "features": source.features}
        for source in description.sources.values()
    ]
    settings = {name: getattr(predictor, name) for name in documents.Settings.model_fields}
    return orjson.dumps(
        {
            "budgetprune": version("budgetprune"),
            "trees": predictor.forest.n_trees,
            "classes": description.classes,
            "features": features,
            "sources": sources,
            "settings": settings,
        }
    )
