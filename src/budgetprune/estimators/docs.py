"""Sections of the docstrings of both estimators."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import TypeVar

Class = TypeVar("Class", bound=type)

_PARAMETERS = """
estimator : estimator, default=None
    The ensemble to be pruned: any class that `Forest.from_model` takes, fitted or not. A clone of it is
    trained on the training part of the rows. To prune a model without training it again, pass
    ``FrozenEstimator(model)`` (of `sklearn.frozen`); for boosters of LightGBM and XGBoost this is the only
    way. None means {default}.
    It may also be a Pipeline that ends with such a model. Then X has raw columns, and `costs` are theirs.
    The whole pipeline is trained on the training part, and which raw columns each of its features needs is
    found from its transformers.
costs : FeatureCosts, or anything that it takes, default=None
    Costs of the features: one number per feature, a mapping by feature name, a table, or groups. None means
    1 per feature.
budget : float, default=None
    Largest average cost of a prediction, measured on validation rows; `counting` defines the cost. At most
    one of `budget` and `lam` is given. Without both, the point of the path with the best validation score is
    used.
lam : float, default=None
    Price of a unit of cost, in units of error.
error : {{"auto", "in-bag", "out-of-bag", "held-out", "pooled"}}, default="auto"
    Rows on which errors of nodes are measured, see `PruningProblem`; ``"auto"`` compares those that are
    likely to be good.
loss : {losses}, default=None
    Loss of a node. Boosted ensembles have a loss of their own: None.{several}
refit : {refits}, default="auto"
    Refit of the values of the remaining leaves, see `budgetprune.refit.refit`. {refits_explained}
    ``"own"``, the loss they were trained with, is for boosted trees. None keeps the values, and ``"auto"``
    takes the refit with the best validation score, None included.
ridge : float or "auto", default="auto"
    Strength of the penalty on the change of leaf values, in units of rows.
counting : {{"full", "decided"}}, default="full"
    Definition of the cost, for `budget` and all results. ``"full"``: price of every source on a row's paths
    through all trees, as a batch needs them. ``"decided"``: price of the sources that `predictor` acquires,
    one after the other, until the prediction is certain. The path is the same, because only full costs can
    be minimised exactly; but with decided costs, the same budget allows a larger model.
slack : float in [0, 0.5) or "auto", default=0.0
    With ``counting="decided"``: how early predictions stop before they are certain, see `BudgetPredictor`.
    Some predictions change, and a larger model fits into the budget. ``"auto"`` takes the slack with the
    best validation score at the same decided cost, 0 included.{threshold}{tolerance}
validation_fraction : float, default=0.3
    Share of the rows that is set aside for validation, if no validation rows are passed to `fit`. The share
    is the same in each class; queries stay whole, and copies of a row stay together.
scoring : str, callable or None, default=None
    Scorer of scikit-learn (or of `budgetprune.ranking`) by which choices are made. None means {score}.
solver : {{"parametric", "primal-dual", "lp"}}, default="parametric"
    Method that finds the prunings. All but the first need a `lam`, and compute no other point of the path.
random_state : int, RandomState instance or None, default=None
    Random seed for dividing the rows, and for the ensemble if its own `random_state` is None.
n_jobs : int, default=None
    Number of threads; passed on to the ensemble if its own `n_jobs` is None. If both are None, LightGBM is
    trained with one thread per physical core, and with fewer on small data.
verbose : int, default=0
    Whether to show progress.
needs : mapping, default=None
    For steps of a pipeline that cannot be traced: see `Preprocessing.from_sklearn`.
"""

_ATTRIBUTES = """
forest_ : Forest
    The pruned ensemble, with refitted leaves. It can be converted to a model of its library with
    `to_sklearn`, ``forest_.to_lightgbm()`` or ``forest_.to_xgboost()``; and to ONNX with
    ``forest_.to_onnx()``.
cost_ : float
    Its average cost on the validation rows: full or decided, as `counting` says.
lambda_ : float
    The lambda of the chosen point of the path.
path_ : PruningPath
    All optimal prunings, without refits.
tradeoff_ : TradeOff
    Costs and scores of other budgets: at most 200 points of the path, evenly spaced in full cost, with their
    lambda, cost (the one that counts), full cost and cross-fitted validation score.
choices_ : Choices
    The chosen `error`, `loss`, `refit`, `ridge` and `slack`; `trials` lists everything that was tried.
refit_ : {{{refitted}, None}}
    Kind of the refit of leaves.
slack_ : float
    Slack of predictions.
refit_gradient_norm_ : float or None
    Distance of the refit from its optimum: norm of the remaining gradient, as a share of the initial one.
estimator_ : estimator
    The unpruned ensemble, or the pipeline that ends with it.{classes}
source_names_ : tuple of str
    Names of the sources: the columns of `sources_used`.
feature_importances_ : float64 array of shape (n_features,)
    Share of each feature in the variance that the splits of the pruned ensemble explain.
n_features_in_ : int
feature_names_in_ : array of shape (n_features_in_,)
    Defined only if X has feature names that are all strings.
"""

_NOTES = """
The roles of the rows are separate, so that no score is too optimistic:

- the trees are trained on training rows;
- costs are measured on validation rows, and all choices are made on them by cross-fitting: each half
  evaluates the prunings that were built with the other half;
- the leaves are refitted on both together, after all choices.

If the estimator is frozen, the rows given to `fit` are validation rows; if `X_val` is given too, they are
those that the estimator was trained on.

Decided costs depend on the leaves. So the point of the path is found by simulating some validation rows; then
leaves are refitted, all validation rows are simulated, and the search continues if they cost more than the
budget, or much less. Candidates (error estimates, refits, slacks) are compared at equal decided cost.
`predict` returns the predictions that stop early: with slack{or_tolerance}, some of them differ from those of
all features. `predict_proba` always uses all features.
"""

_CLASSIFIER = {
    "default": "a `RandomForestClassifier`",
    "losses": '{"misclassification", "brier"} or None',
    "several": """ For others, None means the first,
    and with ``error="auto"`` the one that goes well with the estimate.""",
    "refits": '{"auto", "squared", "softmax", "own", None}',
    "refits_explained": """For
    averaged trees, ``"squared"`` keeps leaf values probabilities, so that `to_sklearn` remains possible, and
    ``"softmax"`` sums logarithms of probabilities, which only `Forest` and ONNX support.""",
    "threshold": """
threshold : float, default=None
    For two classes: the smallest probability at which the second one is predicted. None means the rule of
    the library that the ensemble came from.
error_weight : "balanced" or dict, default=None
    Weights of classes in the errors of nodes, in refits and in the default score, in addition to those that
    the ensemble was trained with; its training is weighted by its own ``class_weight``. ``"balanced"``
    balances the validation rows; classes that a dict lacks have weight 1. Costs do not depend on it.""",
    "tolerance": "",
    "or_tolerance": "",
    "score": "accuracy",
    "refitted": '"squared", "softmax", "own"',
    "classes": """
classes_ : array of shape (n_classes,)""",
}

_REGRESSOR = {
    "default": "a `RandomForestRegressor`",
    "losses": '{"squared"} or None',
    "several": "",
    "refits": '{"auto", "squared", "own", None}',
    "refits_explained": """
    ``"squared"`` is for averaged trees.""",
    "threshold": "",
    "tolerance": """
tolerance : float, default=None
    With ``counting="decided"``: a target is decided once the interval of possible predictions is no wider.
    None means 0, which saves little.""",
    "or_tolerance": " or a tolerance",
    "score": "R^2,\n    or NDCG if `fit` gets queries (`qid`)",
    "refitted": '"squared", "own"',
    "classes": "",
}


def describe(words: dict[str, str]) -> Callable[[Class], Class]:
    """Class decorator that inserts the shared sections for {parameters}, {attributes} and {notes}."""

    def described(cls: Class) -> Class:
        sections = {"parameters": _PARAMETERS, "attributes": _ATTRIBUTES, "notes": _NOTES}
        for name, text in sections.items():
            filled = textwrap.indent(text.strip().format(**words), "    ")
            cls.__doc__ = (cls.__doc__ or "").replace(f"    {{{name}}}", filled)
        return cls

    return described


classifier = describe(_CLASSIFIER)
regressor = describe(_REGRESSOR)
