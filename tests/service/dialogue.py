"""A client that follows the service step by step, with the model `classes`."""

from __future__ import annotations

from typing import Any, Protocol

from httpx import Response

from .models import predictor

PREDICTOR = predictor("classes")


class Client(Protocol):
    """What sends a request."""

    def post(self, path: str, *, json: Any) -> Response: ...


def dialogue(client: Client, row: dict[str, float]) -> tuple[dict[str, Any], list[str]]:
    """Do as told until nothing is next."""
    values, acquired, asked = {}, [], []
    while True:
        response = client.post("/v1/step", json={"values": values, "acquired": acquired})
        assert response.status_code == 200, response.text
        answer = response.json()
        if answer["next"] is None:
            return answer, asked
        asked.append(answer["next"])
        assert answer["reason"] == "waiting"
        acquired = [*answer["acquired"], answer["next"]]
        # A scan gives no value to those features that need a test as well.
        values |= {name: row[name] for name in answer["next_features"] if needs(name) <= set(acquired)}


def needs(feature: str) -> set[str]:
    return {name for name in PREDICTOR.source_names if feature in PREDICTOR.features_of(name)} or {feature}
