"""Response models for the OpenAPI document. They do not validate anything at run time."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

Label = bool | int | float | str
ByClass = dict[str, float]


class Answer(BaseModel):
    """A decision, or the source to acquire next."""

    decided: bool = Field(
        description="Whether the label is final (within the slack). For a staged model: whether no other "
        "source is worth its price."
    )
    reason: Literal["certain", "slack", "stopped", "complete", "waiting", "max_cost", "unavailable"] = Field(
        description="stopped: a staged model, more is not worth its price. waiting: for next. max_cost, "
        "unavailable: undecided, but no other source can be acquired."
    )
    label: Label | None = Field(
        description="Final if decided, else the best guess. Regression: a number; null if infinite."
    )
    probabilities: ByClass | None = Field(description="Exact if complete. Regression: null.")
    lower: ByClass | float | None = Field(
        description="Lower bound of the final probabilities, or of the target; null if infinite."
    )
    upper: ByClass | float | None
    cost: float = Field(description="Cost of the acquired sources.")
    acquired: list[str] = Field(description="Acquired sources, in order.")
    next: str | None = Field(description="The source to acquire next; null if there is none.")
    next_cost: float | None
    next_features: list[str] = Field(
        description="Features that need the next source. If it gives no value by itself, list it in acquired."
    )
    warnings: list[str] = Field(
        default=[], description="Values that count as missing; left out if there are none."
    )


class BatchAnswer(BaseModel):
    """An answer for each row, in the order of the rows."""

    answers: list[Answer]


class ModelFeature(BaseModel):
    """A feature, and the values that it may have."""

    name: str
    kind: Literal["number", "category"]
    categories: list[Label | None] | None = Field(description="Known values; null for numbers.")
    may_be_missing: bool = Field(description="Whether null is accepted.")
    used: bool = Field(description="Whether the model uses it.")


class ModelSource(BaseModel):
    """A source and the features that need it."""

    name: str
    price: float
    features: list[str]


class Settings(BaseModel):
    """Stopping rule of the predictor."""

    slack: float
    max_cost: float | None
    threshold: float | None
    tolerance: float | None


class Origin(BaseModel):
    """Origin of a model."""

    target: str = Field(description="Name of the target column.")
    task: Literal["classification", "regression"]
    model: str = Field(description="staged, or the kind of the pruned ensemble.")
    score_name: str = Field(description="Name of all scores.")
    budget: float | None = Field(description="Budget that the model was made for.")
    counting: Literal["full", "decided"] = Field(description="Kind of cost that the budget limits.")
    n_train: int = Field(description="Number of training rows.")
    created: str = Field(description="Date in ISO 8601.")
    versions: dict[str, str] = Field(description="Versions of the packages used for training.")
    choices: str = Field(description="Choices made on validation rows.")


class Stage(BaseModel):
    """A stage of a staged model, with shares of rows in cross-fitting."""

    sources: list[str] = Field(description="Sources that are acquired at this stage.")
    price: float = Field(description="Of these sources.")
    cost: float = Field(description="Of all sources up to this stage.")
    reached: float = Field(description="Share of rows that reach the stage.")
    stops: float = Field(description="Share of rows that stop here.")
    score: float | None = Field(description="Score if all rows stop here; null if unknown.")


class Expected(BaseModel):
    """Average cost and score of a row."""

    cost: float
    score: float | None
    rows: Literal["test", "validation", "cross-fitted"] = Field(
        description="Rows that were measured. The model was chosen on validation rows."
    )


class CurvePoint(BaseModel):
    """Cost and score at another budget, cross-fitted."""

    cost: float
    score: float


class OfferedModel(BaseModel):
    """The model file to download."""

    path: str
    bytes: int
    has_budgets: bool = Field(description="Whether ?budget= gives models for other budgets.")


class Model(BaseModel):
    """The served model."""

    budgetprune: str = Field(description="Version of the library.")
    kind: Literal["staged", "pruned"]
    trees: int
    classes: list[Label] | None = Field(description="null for regression.")
    features: list[ModelFeature]
    sources: list[ModelSource]
    settings: Settings
    unit: str | None = Field(description="Unit of prices and costs, if known.")
    total_price: float = Field(description="Of all sources that features need.")
    origin: Origin | None = Field(description="null if the file has no metadata.")
    expected: Expected | None = Field(description="null if it was not measured.")
    stages: list[Stage] | None = Field(description="null for pruned models.")
    curve: list[CurvePoint] | None = Field(description="From cheap to expensive; null if unknown.")
    file: OfferedModel | None = Field(description="null if it is not offered.")


class Health(BaseModel):
    """The service can answer."""

    status: Literal["ok"]


class Problem(BaseModel):
    """Description of an error."""

    message: str
    where: str | None = Field(description="Part of the request that is wrong, if known.")


class Error(BaseModel):
    """Error response."""

    error: Problem
