"""Options of `fit_table` and `prune_model`, which are checked when they are created."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from numpy.typing import NDArray

from budgetprune.errors import InvalidInputError
from budgetprune.workflow import option_checks as checks
from budgetprune.workflow.ensembles import DEFAULT_TREES
from budgetprune.workflow.scores import check_scoring
from budgetprune.workflow.tables import MOST_COLUMNS, Task, argument, setting

ModelKind = Literal["staged", "random-forest", "extra-trees", "lightgbm"]
MODEL_KINDS = ("staged", *DEFAULT_TREES)


@dataclass(frozen=True, kw_only=True)
class CommonOptions:
    """Options that `fit_table` and `prune_model` share.

    Parameters
    ----------
    drop : sequence of str
        Columns to leave out (``--drop``).
    max_columns : int
        Most columns of an svmlight file (``--max-columns``).
    sheet, test_sheet : str, optional
        Sheet of an Excel file, or table of a DuckDB file, for the rows and for the test rows (``--sheet``,
        ``--test-sheet``). Needed only if the file has several.
    counting : {"full", "decided"}
        Cost that the budget limits: of all features on a row's paths, or of those acquired until the
        prediction is certain (``--decided``).
    slack : float
        With ``counting="decided"``: how far before certainty a row may stop; at least 0 and below 0.5.
    tolerance : float, optional
        With ``counting="decided"``, for regression: largest width of an interval that counts as certain.
    scoring : str or callable, optional
        Scorer of scikit-learn that chooses the model (``--scoring``). With two classes, the second one in
        sorted order is the positive one. By default accuracy, R², or NDCG with queries.
    class_weight : "balanced" or mapping, optional
        Weights of classes by their names; others have weight 1 (``--class-weight``).
    threshold : float, optional
        For two classes: the smallest probability at which the second one is predicted (``--threshold``).
    qid : str, optional
        Column with the query of each row, for ranking (``--qid``). It is not a feature. Queries are never
        divided, and the target is a number, the relevance of the row.
    unit : str
        Unit of the prices, such as ``"EUR"`` or ``"min"`` (``--unit``).
    random_state : int
        Random seed (``--seed``).
    n_jobs : int, optional
        Number of cores (``--jobs``); None means all, or fewer for LightGBM on few rows.
    """

    drop: Sequence[str] = ()
    max_columns: int = MOST_COLUMNS
    sheet: str | None = None
    test_sheet: str | None = None
    counting: Literal["full", "decided"] = "full"
    slack: float = 0.0
    tolerance: float | None = None
    scoring: Any = None
    class_weight: Any = None
    threshold: float | None = None
    qid: str | None = None
    unit: str = ""
    random_state: int = 0
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "drop", checks.column_names("drop", self.drop))
        checks.integer("max_columns", self.max_columns, least=1)
        checks.optional_name("sheet", self.sheet)
        checks.optional_name("test_sheet", self.test_sheet)
        checks.choice("counting", self.counting, ("full", "decided"))
        checks.slack(self.slack)
        if self.tolerance is not None:
            checks.at_least_zero("tolerance", self.tolerance)
        check_scoring(self.scoring)
        checks.class_weight(self.class_weight)
        if self.threshold is not None:
            checks.probability("threshold", self.threshold)
        if self.qid is not None:
            checks.string("qid", self.qid)
        checks.string("unit", self.unit)
        checks.seed(self.random_state)
        checks.cores(self.n_jobs)

    def check_test(self, test: Any) -> None:
        """Raise if `test_sheet` is given without test rows."""
        if self.test_sheet is not None and test is None:
            raise InvalidInputError(
                f"{argument('test_sheet')} is a sheet of the test file, and there is none; leave it out, or "
                f"give {argument('test')}."
            )

    def check_classes(self, classes: NDArray[Any] | None) -> None:
        """Raise if options of classification do not suit the target.

        Parameters
        ----------
        classes : array of labels, or None for regression
        """
        n_classes = None if classes is None else classes.size
        if n_classes is None and self.class_weight is not None:
            raise InvalidInputError(
                f"{argument('class_weight')} is for classification, and the target holds numbers."
            )
        if self.threshold is not None and n_classes != 2:
            found = "the target holds numbers" if n_classes is None else f"there are {n_classes}"
            raise InvalidInputError(f"{argument('threshold')} decides between two classes, but {found}.")

    def check_counting(self, *, is_classifier: bool) -> None:
        """Raise if the options of early stopping have no effect."""
        slack, tolerance = argument("slack"), argument("tolerance")
        if self.counting != "decided" and (self.slack or self.tolerance is not None):
            raise InvalidInputError(
                f"{slack} and {tolerance} are about predictions that stop early: add "
                f"{setting('counting', 'decided')}."
            )
        if is_classifier and self.tolerance is not None:
            raise InvalidInputError(f"{tolerance} is for regression; classes are certain or not.")
        if not is_classifier and self.slack and not self.tolerance:
            raise InvalidInputError(f"{slack} needs {tolerance} for regression; add it.")


@dataclass(frozen=True, kw_only=True)
class PruneOptions(CommonOptions):
    """Options of `prune_model`: those of `CommonOptions`, and some for models.

    Parameters
    ----------
    trust : bool
        Load pickles, which can run any code, and other model files without a check in a separate process
        (``--trust``).
    needs : mapping, optional
        For steps of a pipeline that cannot be traced (``--needs``): see `Preprocessing.from_sklearn`.
    """

    trust: bool = False
    needs: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.yes_or_no("trust", self.trust)
        if self.needs is not None and not isinstance(self.needs, Mapping):
            raise InvalidInputError(f"{argument('needs')} must map names of steps to their needs.")


@dataclass(frozen=True, kw_only=True)
class FitOptions(CommonOptions):
    """Options of `fit_table`, in addition to those of `CommonOptions`.

    `counting`, `slack`, `tolerance`, `n_trees`, `max_features` and `validation_fraction` are for pruned
    models; `error_costs`, `max_cost` and `time_limit` are for staged models.

    Parameters
    ----------
    task : {"classification", "regression"}, optional
        By default, strings, booleans and up to 20 distinct integers are classes (``--task``).
    categorical : sequence of str
        Numeric columns to treat as categorical (``--categorical``).
    error_costs : float, mapping or ErrorCosts, optional
        Cost of a wrong prediction, see `BudgetClassifier` and `BudgetRegressor` (``--error-cost``).
    max_cost : float, optional
        Largest cost of one row (``--max-cost``).
    time_limit : float, optional
        Approximate training time in seconds (``--time-limit``).
    n_trees : int, optional
        Number of trees (``--trees``); 40 by default, 100 for LightGBM.
    max_features : float, optional
        Share of the columns considered at each split (``--max-features``); 1 by default.
    validation_fraction : float, optional
        Share of the rows held out to measure costs and select the model (``--validation``); 0.3 by default.
    """

    task: Task | None = None
    categorical: Sequence[str] = ()
    error_costs: Any = None
    max_cost: float | None = None
    time_limit: float | None = None
    n_trees: int | None = None
    max_features: float | None = None
    validation_fraction: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "categorical", checks.column_names("categorical", self.categorical))
        if self.task is not None:
            checks.choice("task", self.task, get_args(Task))
        if self.qid is not None and self.task == "classification":
            raise InvalidInputError(
                f"{argument('qid')} is for ranking by numbers: leave {argument('task')} out."
            )
        if self.threshold is not None and self.error_costs is not None:
            raise InvalidInputError(
                f"give {argument('error_costs')} or {argument('threshold')}, not both: each of them chooses "
                "the class for given probabilities."
            )
        check_limit(self.max_cost, argument("max_cost"))
        check_limit(self.time_limit, argument("time_limit"))
        if self.n_trees is not None:
            checks.integer("n_trees", self.n_trees, least=1)
        if self.max_features is not None:
            checks.share("max_features", self.max_features, may_be_one=True)
        if self.validation_fraction is not None:
            checks.share("validation_fraction", self.validation_fraction)


# Options that only one kind of model uses.
_STAGED_ONLY = ("error_costs", "max_cost", "time_limit")
_PRUNED_ONLY = ("n_trees", "max_features", "counting", "slack", "tolerance", "validation_fraction")


def check_fit_options(model: str, options: FitOptions) -> None:
    """Raise if an option has no effect on this kind of model."""
    if not isinstance(model, str) or model not in MODEL_KINDS:
        raise InvalidInputError(f"a model is one of {', '.join(MODEL_KINDS)}, not {model!r}.")
    defaults = {field.name: field.default for field in fields(FitOptions)}
    names = _PRUNED_ONLY if model == "staged" else _STAGED_ONLY
    unused = [argument(name) for name in names if _is_given(getattr(options, name), defaults[name])]
    if not unused:
        return
    if model == "staged":
        raise InvalidInputError(
            f"{', '.join(unused)}: only for pruned models, but {argument('model')} is staged; leave it out, "
            f"or add {setting('model', 'random-forest')}."
        )
    raise InvalidInputError(
        f"{', '.join(unused)}: only for staged models, but {argument('model')} is {model}; leave it out."
    )


def _is_given(value: Any, default: Any) -> bool:
    if isinstance(value, int | float | str):
        return value not in (default, 0)
    return value is not default


def check_limit(value: float | None, option: str) -> None:
    """Raise unless a limit is None, or finite and at least 0."""
    if value is None:
        return
    if not checks.is_number(value) or not math.isfinite(value):
        raise InvalidInputError(f"{option} must be a number, not {value!r}; without it, there is no limit.")
    if value < 0:
        raise InvalidInputError(f"{option} must be at least 0, not {value:g}.")


def check_arguments(target: Any, budget: Any, options: CommonOptions, kind: type[CommonOptions]) -> None:
    """Raise unless the arguments of `fit_table` or `prune_model` have the right types.

    Parameters
    ----------
    target, budget, options : arguments
    kind : type that the options should have
    """
    if not isinstance(options, kind):
        raise InvalidInputError(
            f"options must be {kind.__name__}, not {type(options).__name__}; write "
            f"options={kind.__name__}(...)."
        )
    checks.target_name(target)
    check_limit(budget, argument("budget"))
