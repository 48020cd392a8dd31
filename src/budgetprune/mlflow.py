"""MLflow flavour: save, log and load models, and serve them as ``pyfunc`` models.

``budgetprune.mlflow.log_model(model, name="ill")`` logs a model in the active run, and
``mlflow.pyfunc.load_model(uri).predict(table)`` predicts with it. Models are stored as model files of this
package, without pickle.
"""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from budgetprune.errors import InvalidInputError
from budgetprune.model import BudgetModel
from budgetprune.predictor import BudgetPredictor
from budgetprune.staged import StagedPredictor
from budgetprune.utils.environment import __version__, versions
from budgetprune.utils.extras import optional_import
from budgetprune.workflow import read_table_for, rows_for

with optional_import("MLflow models", "mlflow"):
    import mlflow.pyfunc
    from mlflow.models import Model, ModelSignature, infer_signature
    from mlflow.types import ParamSchema, ParamSpec

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FLAVOR_NAME", "load_model", "log_model", "save_model"]

FLAVOR_NAME = "budgetprune"
_FILE = "model.budgetprune"
_SEPARATOR = ";"
# Parameters of `predict`, and their defaults.
_DEFAULTS: dict[str, Any] = {"proba": False, "details": False, "full": False, "max_cost": None}
_PARAMS = ParamSchema(
    [
        ParamSpec(name, "double" if name == "max_cost" else "boolean", default)
        for name, default in _DEFAULTS.items()
    ]
)


def save_model(
    model: Any,
    path: str | os.PathLike[str],
    *,
    mlflow_model: Model | None = None,
    signature: ModelSignature | None = None,
    input_example: Any = None,
    pip_requirements: Sequence[str] | None = None,
    extra_pip_requirements: Sequence[str] | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> None:
    """Save a model as an MLflow model in a new folder.

    It has the flavours ``budgetprune`` and ``python_function``. The latter predicts rows of a table, and
    takes these `params`: ``proba`` (probability of each class), ``details`` (a table with label, probability,
    cost, whether the label was decided, and acquired sources), ``full`` (all sources, instead of stopping
    early), and ``max_cost`` (largest cost of one row).

    Parameters
    ----------
    model : BudgetModel, BudgetPredictor or fitted estimator
        Estimators are those of this package.
    path : folder that does not exist yet, or is empty
    mlflow_model : mlflow.models.Model, optional
        Flavours are added to it.
    signature : mlflow.models.ModelSignature, optional
        None: inferred from `input_example`. Without an example, there is no schema of the columns, because
        MLflow refuses columns of other types than those of the schema, such as integers for floats.
    input_example : rows, optional
        A few rows of a table, which are stored as well.
    pip_requirements : list of str, optional
        None: this package, NumPy and pandas, in the versions that are installed.
    extra_pip_requirements : list of str, optional
        Added to the default requirements.
    metadata : mapping, optional
    """
    stored = _as_model(model)
    if pip_requirements is not None and extra_pip_requirements is not None:
        raise InvalidInputError(
            "pip_requirements replaces the default requirements and extra_pip_requirements adds to them; "
            "give one of them."
        )
    requirements = list(_requirements() if pip_requirements is None else pip_requirements)
    mlflow_model = Model() if mlflow_model is None else mlflow_model
    mlflow_model.add_flavor(FLAVOR_NAME, budgetprune_version=__version__, data=f"data/{_FILE}")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        # MLflow advises an example to get a signature; the signature is complete without one.
        warnings.filterwarnings("ignore", message=".*An input example was not provided")
        file = Path(folder) / _FILE
        stored.save(file)
        mlflow.pyfunc.save_model(
            path=os.fspath(path),
            loader_module=__name__,
            data_path=str(file),
            mlflow_model=mlflow_model,
            signature=_signature(stored, input_example) if signature is None else signature,
            input_example=input_example,
            pip_requirements=[*requirements, *(extra_pip_requirements or ())],
            metadata=None if metadata is None else dict(metadata),
        )


def log_model(model: Any, name: str = "model", **options: Any) -> Any:
    """Log a model in the active run of MLflow; a run is started if there is none.

    Parameters
    ----------
    model : see `save_model`
    name : str
        Name of the logged model.
    **options
        Those of `save_model`, and of ``mlflow.models.Model.log``: ``registered_model_name``, ``tags``,
        ``params``, ``step`` and others.

    Returns
    -------
    mlflow.models.model.ModelInfo
        Its ``model_uri`` loads the model.
    """
    _as_model(model)  # raises before a run is started
    return Model.log(artifact_path=None, name=name, flavor=sys.modules[__name__], model=model, **options)


def load_model(model_uri: str, dst_path: str | None = None) -> BudgetModel:
    """Load a model that was saved or logged with this flavour.

    Parameters
    ----------
    model_uri : str
        URI or folder, for example ``models:/ill/1`` or ``runs:/<run_id>/model``.
    dst_path : str, optional
        Existing folder to download the model to.
    """
    folder = Path(mlflow.artifacts.download_artifacts(model_uri, dst_path=dst_path))
    flavors = Model.load(str(folder)).flavors
    if FLAVOR_NAME not in flavors:
        raise InvalidInputError(
            f"{model_uri} has no flavour {FLAVOR_NAME!r}, only {', '.join(sorted(flavors))}; save it with "
            "budgetprune.mlflow.save_model."
        )
    return BudgetModel.load(folder / flavors[FLAVOR_NAME]["data"])


def _load_pyfunc(path: str) -> PyFuncModel:
    """Load the data of the flavour ``python_function``; MLflow calls this."""
    return PyFuncModel(BudgetModel.load(path))


class PyFuncModel:
    """Model behind ``mlflow.pyfunc``.

    Parameters
    ----------
    model : BudgetModel
    """

    def __init__(self, model: BudgetModel) -> None:
        self.model = model

    def get_raw_model(self) -> BudgetModel:
        """Return the model itself; ``unwrap_python_model`` of MLflow is for other models."""
        return self.model

    def predict(self, model_input: Any, params: Mapping[str, Any] | None = None) -> Any:
        """Predict rows.

        Parameters
        ----------
        model_input : table with named columns, mapping from names to columns, or array
            Columns are selected by name; those that no tree tests may be absent. The columns of an array are
            the features of the model, in their order.
        params : mapping, optional
            See `save_model`.

        Returns
        -------
        Labels or targets as an array; with ``proba`` or ``details`` a DataFrame.
        """
        import pandas as pd

        settings = _checked(params)
        predictor, about = self.model.predictor, self.model.about
        if isinstance(model_input, Mapping):
            model_input = pd.DataFrame(dict(model_input))
        elif isinstance(model_input, np.ndarray | list):
            rows = np.asarray(model_input)
            names = predictor.feature_names
            if rows.ndim != 2 or rows.shape[1] != len(names):
                raise InvalidInputError(
                    f"an array of rows must have a column for each of the {len(names)} features, not the "
                    f"shape {rows.shape}; or give a table with their names."
                )
            model_input = pd.DataFrame(rows, columns=list(names))
        if predictor.preprocessing is not None:
            return _predictions(predictor, _raw_rows(predictor.feature_names, model_input), settings)
        forest = predictor.forest
        if settings["full"] and isinstance(predictor, StagedPredictor):
            forest = predictor.model.trees()  # also those of stages that this budget does not reach
        table = read_table_for(forest, model_input)
        X = rows_for(forest, table, target=None if about is None else about.target)
        return _predictions(predictor, X, settings)


def _raw_rows(names: Sequence[str], table: pd.DataFrame) -> pd.DataFrame:
    """Return the raw columns of a model with preprocessing."""
    absent = [name for name in names if name not in table.columns]
    if absent:
        raise InvalidInputError(f"the table lacks {', '.join(map(repr, absent))}, which the model needs.")
    return table[list(names)]


def _checked(params: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the parameters of a prediction with their defaults; raise if they are invalid."""
    given = {} if params is None else dict(params)
    unknown = given.keys() - _DEFAULTS.keys()
    if unknown:
        raise InvalidInputError(
            f"params has {min(unknown)!r}, which is unknown; it may have {', '.join(_DEFAULTS)}."
        )
    settings = _DEFAULTS | given
    if settings["proba"] and settings["details"]:
        raise InvalidInputError("params has proba and details; take one of them.")
    if settings["full"] and (settings["max_cost"] is not None or settings["details"]):
        raise InvalidInputError("params has full, which is for predictions without max_cost and details.")
    return settings


def _predictions(predictor: BudgetPredictor, X: Any, settings: Mapping[str, Any]) -> Any:
    import pandas as pd

    classes = predictor.forest.classes
    if settings["proba"] and classes is None:
        raise InvalidInputError("params has proba, but the model predicts numbers; leave it out.")
    labels = [] if classes is None else [str(label) for label in classes]
    if settings["full"]:
        if not settings["proba"]:
            return predictor.predict(X)
        return pd.DataFrame(predictor.predict_proba(X), columns=labels, index=X.index)
    found = predictor.simulate(X, max_cost=settings["max_cost"])
    if settings["proba"]:
        return pd.DataFrame(found.probabilities, columns=labels, index=X.index)
    if not settings["details"]:
        return found.label
    names = np.array(predictor.source_names, dtype=object)
    columns = {"prediction" if classes is None else "label": found.label}
    if classes is not None and found.probabilities is not None:
        number = {label: k for k, label in enumerate(classes.tolist())}
        which = [number[label] for label in found.label.tolist()]
        columns["probability"] = found.probabilities[np.arange(len(which)), which]
    return pd.DataFrame(
        columns
        | {
            "cost": found.cost,
            "decided": found.decided,
            "acquired": [_SEPARATOR.join(names[bought]) for bought in found.acquired],
        },
        index=X.index,
    )


def _as_model(model: Any) -> BudgetModel:
    """Return a model, a predictor or a fitted estimator as a model."""
    if isinstance(model, BudgetModel):
        return model
    predictor = model
    if not isinstance(model, BudgetPredictor) and callable(getattr(model, "predictor", None)):
        predictor = model.predictor()
    if not isinstance(predictor, BudgetPredictor):
        raise InvalidInputError(
            "model must be a BudgetModel, a BudgetPredictor or a fitted estimator of budgetprune, not "
            f"{type(model).__name__}; prune a model of another library first, with prune_model."
        )
    return BudgetModel(predictor)


def _requirements() -> list[str]:
    """Pinned requirements of predictions; MLflow adds itself."""
    found = versions(("budgetprune", "numpy", "pandas"))
    return [f"{name}=={version}" for name, version in found.items() if name != "python"]


def _signature(model: BudgetModel, example: Any) -> ModelSignature:
    if example is None:
        return ModelSignature(params=_PARAMS)
    inferred = infer_signature(example, PyFuncModel(model).predict(example))
    return ModelSignature(inputs=inferred.inputs, outputs=inferred.outputs, params=_PARAMS)
