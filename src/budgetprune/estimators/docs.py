"""The words that both estimators are described with, written once."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import TypeVar

Class = TypeVar("Class", bound=type)

_PARAMETERS = """
estimator : estimator, default=None
    The ensemble to be pruned: any class that `Forest.from_model` takes, fitted or not. A clone of it is
    grown on the training part of the rows. A model that is only to be pruned, not grown, comes as
    ``FrozenEstimator(model)`` (of `sklearn.frozen`); boosters of LightGBM and XGBoost can come only so. None
    means {default}.
costs : FeatureCosts, or anything that it takes, default=None
    What features cost: one number per feature, a mapping by feature name, a table, groups. None means 1 per
    feature.
budget : float, default=None
    Largest average cost of a prediction, counted on validation rows as `counting` says. At most one of
    `budget` and `lam` is given; if neither is, the point of the path with the best validation score is taken.
lam : float, default=None
    Price of a unit of cost, in units of error.
error : {{"auto", "in-bag", "out-of-bag", "held-out", "pooled"}}, default="auto"
    Rows on which errors of nodes are measured, see `PruningProblem`; ``"auto"`` tries those that are likely
    to be good.
loss : {losses}, default=None
    What is lost at a node. Boosted ensembles have a loss of their own: None.{several}
refit : {refits}, default="auto"
    How the values of the leaves that are left are refitted, see `budgetprune.refit.refit`. {refits_explained}
    ``"own"``, the loss they were trained with, is for boosted trees. None leaves the values as they are, and
    ``"auto"`` takes what validation rows prefer, None included.
ridge : float or "auto", default="auto"
    How much refitted values are drawn to the old ones, in units of rows.
counting : {{"full", "decided"}}, default="full"
    Which costs count, in `budget` and everywhere else. ``"full"``: every source on a row's paths through all
    trees, as a batch needs them. ``"decided"``: only what is acquired until the answer is certain, as
    `predictor` does, one source after the other. The path is the same, since full costs are what can be
    minimised exactly; but a budget of decided cost buys a larger model of it.
slack : float in [0, 0.5) or "auto", default=0.0
    With ``counting="decided"``: how long before certainty to stop, see `BudgetPredictor`. It makes some
    answers differ, and a larger model fit into the budget. ``"auto"`` takes what validation rows prefer at
    the same decided cost, 0 included.{threshold}{tolerance}
validation_fraction : float, default=0.3
    Share of the rows that is kept from growing trees, if no validation rows are passed to `fit`: of each
    class alike, whole queries, and copies of a row together.
scoring : str, callable or None, default=None
    The scorer of scikit-learn (or of `budgetprune.ranking`) that choices are made by; None means {score}.
solver : {{"parametric", "primal-dual", "lp"}}, default="parametric"
    How prunings are found. All but the first need a `lam`, and know no other point of the path.
random_state : int, RandomState instance or None, default=None
    Divides the rows, and grows the trees if the ensemble has no random state of its own.
n_jobs : int, default=None
    Number of threads; passed on to the ensemble if it has no number of its own. If there is none at all,
    LightGBM trains with physical cores, and with fewer on small data.
verbose : int, default=0
    Whether to show progress.
"""

_ATTRIBUTES = """
forest_ : Forest
    The pruned ensemble, with refitted leaves. It can go back to where it came from: `to_sklearn`,
    ``forest_.to_lightgbm()``, ``forest_.to_xgboost()``; and to ONNX: ``forest_.to_onnx()``.
cost_ : float
    Its average cost on the validation rows: full or decided, as `counting` says.
lambda_ : float
    The point of the path that was taken.
path_ : PruningPath
    All optimal prunings, as they were before leaves were refitted.
tradeoff_ : TradeOff
    What other budgets would buy: at most 200 points of the path, evenly spaced in full cost, with their
    lambda, cost (the one that counts), full cost and cross-fitted validation score.
choices_ : Choices
    What was chosen: `error`, `loss`, `refit`, `ridge` and `slack`; `trials` lists everything that was tried.
refit_ : {{{refitted}, None}}
    How leaves were refitted.
slack_ : float
    How long before certainty predictions stop.
refit_gradient_norm_ : float or None
    How far the refit is from its optimum: the gradient that is left, as a share of the one before.
estimator_ : estimator
    The unpruned ensemble.{classes}
source_names_ : tuple of str
    What is paid for: the columns of `sources_used`.
n_features_in_ : int
feature_names_in_ : array of shape (n_features_in_,)
    Only if the rows had names for all features, and all of them text.
"""

_NOTES = """
Which rows do what, so that no number is flattered:

- training rows grow the trees;
- validation rows count costs, and make all choices by cross-fitting: each half of them judges what the other
  half has made;
- both together refit the leaves, once everything is chosen.

If the estimator is frozen, the rows given to `fit` are validation rows; if `X_val` is given too, they are
those that the estimator was trained on.

Decided costs depend on the leaves. So the point of the path is found by simulating validation rows, a few of
them while choosing; then leaves are refitted, all validation rows are simulated, and the search goes on if
they cost more than the budget, or much less. Rivals (error estimates, refits, slacks) are compared at equal
decided cost. `predict` gives the answers that are paid for: with slack{or_tolerance}, some differ
from the plain ones. Probabilities are not what decided costs pay for: they are those of all features.
"""

_CLASSIFIER = {
    "default": "a `RandomForestClassifier`",
    "losses": '{"misclassification", "brier"} or None',
    "several": """ For others, None means the first,
    and with ``error="auto"`` the one that goes well with the estimate.""",
    "refits": '{"auto", "squared", "softmax", "own", None}',
    "refits_explained": """For
    averaged trees, ``"squared"`` stays among probabilities, so that `to_sklearn` goes on working, and
    ``"softmax"`` sums logarithms of probabilities, which only `Forest` and ONNX know.""",
    "threshold": """
threshold : float, default=None
    For two classes: the probability of the second one from which on it is predicted. None leaves that to the
    rule of the library that the ensemble came from.""",
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
    With ``counting="decided"``: a target is decided once the interval of what is possible is no wider. None
    means 0, which saves little.""",
    "or_tolerance": " or a tolerance",
    "score": "R^2",
    "refitted": '"squared", "own"',
    "classes": "",
}


def describe(words: dict[str, str]) -> Callable[[Class], Class]:
    """Fill the shared sections into a docstring, where it says {parameters}, {attributes}, {notes}."""

    def described(cls: Class) -> Class:
        sections = {"parameters": _PARAMETERS, "attributes": _ATTRIBUTES, "notes": _NOTES}
        for name, text in sections.items():
            filled = textwrap.indent(text.strip().format(**words), "    ")
            cls.__doc__ = (cls.__doc__ or "").replace(f"    {{{name}}}", filled)
        return cls

    return described


classifier = describe(_CLASSIFIER)
regressor = describe(_REGRESSOR)
