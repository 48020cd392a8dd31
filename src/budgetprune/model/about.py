"""`About`: metadata of a model, as plain values that are validated when they are read."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import MISSING, asdict, dataclass, fields, replace
from typing import Any, Literal

from budgetprune.errors import InvalidInputError


@dataclass(frozen=True)
class ClassQuality:
    """Recall and precision of one class.

    Attributes
    ----------
    label : str
    n_rows : int
        Rows of the class.
    recall, precision : float or None
        None if the class has no rows, or is never predicted.
    """

    label: str
    n_rows: int
    recall: float | None
    precision: float | None


@dataclass(frozen=True)
class Quality:
    """Quality of the labels and class probabilities of one model, on the rows with a known label.

    Attributes
    ----------
    auc : float or None
        Area under the ROC curve; with more than two classes, the average over the classes, each against the
        rest. None if all rows have the same class.
    log_loss : float
    calibration_error : float
        Expected calibration error.
    by_class : tuple of ClassQuality
    """

    auc: float | None
    log_loss: float
    calibration_error: float
    by_class: tuple[ClassQuality, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self) | {"by_class": [asdict(each) for each in self.by_class]}

    @classmethod
    def from_json(cls, stored: Any) -> Quality:
        """Read plain values, or raise InvalidInputError."""
        parts = _parts(cls, stored)
        if not isinstance(parts["by_class"], list | tuple):
            raise InvalidInputError("Invalid model metadata: by_class.")
        classes = tuple(ClassQuality(**_parts(ClassQuality, each)) for each in parts["by_class"])
        found = cls(**(parts | {"by_class": classes}))
        _check(found, _QUALITY)
        for each in classes:
            _check(each, _CLASS_QUALITY)
        return found


@dataclass(frozen=True)
class Figures:
    """Cost, score and size of one model on a set of rows.

    Attributes
    ----------
    cost : float
        Average full cost of a row; for a staged model, the average acquisition cost.
    decided_cost : float or None
        Average cost if each row stops once it is decided; None if it was not computed.
    score : float or None
        None if there were too few rows.
    n_features : int
        Number of features that splits test.
    n_splits : int
    loss : float or None
        Average cost of errors; None if errors have no price.
    quality : Quality or None
        For classifiers, on test rows.
    """

    cost: float
    decided_cost: float | None
    score: float | None
    n_features: int
    n_splits: int
    loss: float | None = None
    quality: Quality | None = None


@dataclass(frozen=True)
class Compared:
    """Comparison of the unpruned ensemble with the chosen model on the same rows.

    A staged model is compared with a plain ensemble trained on all columns.

    Attributes
    ----------
    rows : {"test", "validation"}
        Test rows are held out. Validation rows were used for model selection, so their scores are optimistic.
    n_rows : int
    whole, chosen : Figures
    """

    rows: Literal["test", "validation"]
    n_rows: int
    whole: Figures
    chosen: Figures


@dataclass(frozen=True)
class About:
    """Metadata that describes the origin of a model.

    Attributes
    ----------
    target : str
        Name of the target column.
    task : {"classification", "regression"}
    score_name : str
        Name of the score that chose the model: ``"accuracy"``, ``"R²"``, ``"NDCG@10"``, or a scorer of
        scikit-learn.
    budget : float or None
        Limit of the average cost of a prediction, of the kind given by `counting`.
    counting : {"full", "decided"}
        Staged models always count acquired sources: ``"decided"``.
    lam : float
        The chosen point of the path, or of a staged model's curve.
    n_train, n_validation : int
        Number of training rows (0 for an existing ensemble), and of rows used for costs and model selection.
        A staged model uses all rows for both, by cross-fitting; they count as training rows.
    created : str
        Date in ISO 8601.
    versions : dict of str
        Versions of the packages used for training.
    choices : str
        Description of the choices made on the validation rows V.
    tradeoff : dict of lists of float, or None
        ``full_cost``, ``cost`` and ``score`` of points of the path, from expensive to cheap, cross-fitted
        inside V with refitted leaves (`TradeOff`). None if there were too few rows, and for staged models,
        which store a separate curve.
    model : str
        ``"staged"``, or the pruned ensemble: ``"random-forest"``, or the class name of an existing model.
    compared : Compared or None
    unit : str
        Unit of the prices; empty if unknown.
    """

    target: str
    task: Literal["classification", "regression"]
    score_name: str
    budget: float | None
    counting: Literal["full", "decided"]
    lam: float
    n_train: int
    n_validation: int
    created: str
    versions: dict[str, str]
    choices: str
    tradeoff: dict[str, list[float]] | None
    model: str = ""
    compared: Compared | None = None
    unit: str = ""

    def __post_init__(self) -> None:
        _check(self, _ABOUT)
        if self.compared is not None:
            _check(self.compared, _COMPARED)
            for figures in (self.compared.whole, self.compared.chosen):
                _check(figures, _FIGURES)

    def to_json(self) -> dict[str, Any]:
        """Return the metadata as plain values for a file."""
        found = asdict(self)
        # Earlier releases do not know these fields.
        if not self.unit:
            del found["unit"]
        for name in ("whole", "chosen") if self.compared is not None else ():
            quality = getattr(self.compared, name).quality
            found["compared"][name]["quality"] = None if quality is None else quality.to_json()
            for field in ("loss", "quality"):
                if found["compared"][name][field] is None:
                    del found["compared"][name][field]
        return found

    def details(self) -> dict[str, Any]:
        """Return the fields that earlier releases do not know, for a section of their own; maybe empty."""
        found: dict[str, Any] = {"unit": self.unit} if self.unit else {}
        for name in ("whole", "chosen") if self.compared is not None else ():
            quality = getattr(self.compared, name).quality
            if quality is not None:
                found[name] = quality.to_json()
        return found

    def with_details(self, details: Any) -> About:
        """Return the same metadata with other details, as `details` returns them."""
        names = {"unit"} if self.compared is None else {"unit", "whole", "chosen"}
        if not isinstance(details, dict) or not details.keys() <= names:
            raise InvalidInputError(f"details of a model must be a mapping with {', '.join(sorted(names))}.")
        compared = self.compared
        if compared is not None:
            both = {
                name: replace(
                    getattr(compared, name),
                    quality=Quality.from_json(details[name]) if name in details else None,
                )
                for name in ("whole", "chosen")
            }
            compared = replace(compared, **both)
        return replace(self, unit=details.get("unit", ""), compared=compared)

    @classmethod
    def from_json(cls, stored: Any) -> About:
        """Read the output of `to_json`, or raise InvalidInputError."""
        parts = _parts(cls, stored)
        if parts.get("compared") is not None:
            compared = _parts(Compared, parts["compared"])
            compared |= {name: _read_figures(compared[name]) for name in ("whole", "chosen")}
            parts["compared"] = Compared(**compared)
        return cls(**parts)


def _read_figures(stored: Any) -> Figures:
    parts = _parts(Figures, stored)
    if parts.get("quality") is not None:
        parts["quality"] = Quality.from_json(parts["quality"])
    return Figures(**parts)


# --- Validation ---------------------------------------------------------------------------------------------


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_amount(value: Any) -> bool:
    return _is_number(value) and value >= 0


def _is_share(value: Any) -> bool:
    return _is_number(value) and 0 <= value <= 1


def _or_none(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or check(value)


def _one_of(*options: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and value in options


def _is_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_text, [*value, *value.values()]))


def _is_tradeoff(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == {"full_cost", "cost", "score"}
        and all(isinstance(column, list) and all(map(_is_number, column)) for column in value.values())
        and len({len(column) for column in value.values()}) == 1
        and len(value["cost"]) > 0
    )


_FIGURES: dict[str, Callable[[Any], bool]] = {
    "cost": _is_amount,
    "decided_cost": _or_none(_is_amount),
    "score": _or_none(_is_number),
    "n_features": _is_count,
    "n_splits": _is_count,
    "loss": _or_none(_is_amount),
    "quality": _or_none(lambda value: isinstance(value, Quality)),
}
_QUALITY: dict[str, Callable[[Any], bool]] = {
    "auc": _or_none(_is_share),
    "log_loss": _is_amount,
    "calibration_error": _is_share,
}
_CLASS_QUALITY: dict[str, Callable[[Any], bool]] = {
    "label": _is_text,
    "n_rows": _is_count,
    "recall": _or_none(_is_share),
    "precision": _or_none(_is_share),
}
_COMPARED: dict[str, Callable[[Any], bool]] = {
    "rows": _one_of("test", "validation"),
    "n_rows": _is_count,
    "whole": lambda value: isinstance(value, Figures),
    "chosen": lambda value: isinstance(value, Figures),
}
_ABOUT: dict[str, Callable[[Any], bool]] = {
    "target": _is_text,
    "task": _one_of("classification", "regression"),
    "score_name": _is_text,
    "budget": _or_none(_is_amount),
    "counting": _one_of("full", "decided"),
    "lam": _is_amount,
    "n_train": _is_count,
    "n_validation": _is_count,
    "created": _is_text,
    "versions": _is_texts,
    "choices": _is_text,
    "tradeoff": _or_none(_is_tradeoff),
    "model": _is_text,
    "compared": _or_none(lambda value: isinstance(value, Compared)),
    "unit": _is_text,
}


def _check(part: Any, checks: dict[str, Callable[[Any], bool]]) -> None:
    for name, is_good in checks.items():
        if not is_good(getattr(part, name)):
            raise InvalidInputError(f"Invalid model metadata: {name}.")


def _parts(cls: type[Any], stored: Any) -> dict[str, Any]:
    """Return the fields of a dataclass from a mapping: all required ones, and no unknown ones."""
    known = fields(cls)
    needed = {field.name for field in known if field.default is MISSING}
    if not isinstance(stored, dict) or not needed <= stored.keys() <= {field.name for field in known}:
        raise InvalidInputError(f"model metadata must be a mapping with {', '.join(sorted(needed))}.")
    return dict(stored)
