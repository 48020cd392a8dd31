"""Sentences about a pruned model."""

from __future__ import annotations

from budgetprune.report.numbers import joined, pluralize, share, significant
from budgetprune.report.summary.pruned import (
    Change,
    Counting,
    ExampleRow,
    NodeValue,
    OperatingPoint,
    Prediction,
    PrunedOutcome,
    SplitCondition,
    Summary,
    Tree,
)
from budgetprune.report.words.outcomes import (
    compared_with_reference,
    constant,
    cost_change,
    reached,
    same_answers,
    score_change,
    score_lost,
    source_list,
)
from budgetprune.report.words.terms import TWO_SIGMA, Terms, capitalised, count, terms_of

# Ways to count costs, at the end of a clause and at the start.
_WAYS: dict[Counting, str] = {
    "full": " if a row buys all sources on its paths",
    "decided": ", stopping as soon as the answer is certain",
}
_VERDICT_WAYS: dict[Counting, str] = {
    "full": "With all sources on a row's paths",
    "decided": "Counted until the answer is certain",
}
_ENDINGS = {
    "certain": "Decided: no other source can change the answer.",
    "slack": "Decided: other sources rarely change the answer.",
    "complete": "Complete: the trees need no other source.",
    "max_cost": "Not decided: the cost limit was reached.",
}


def pruned_terms(summary: Summary) -> Terms:
    """Return the terms of the report of a pruned model."""
    return terms_of(summary, f"the whole {summary.ensemble}")


# --- The whole report ---------------------------------------------------------------------------------------


def pruned_headline(summary: Summary) -> str:
    """Summarise cost and score of the model and of the whole ensemble, with costs counted in the same way."""
    terms, counting = pruned_terms(summary), summary.counting
    own, whole = summary.points[summary.delivered], summary.points[-1]
    ours, theirs = own.outcome(counting), whole.outcome(counting)
    compared = (
        f"{capitalised(terms.reference)}, counted in the same way, costs {terms.cost(theirs.cost)} and "
        f"reaches {terms.score(theirs.score)}."
    )
    if not own.n_splits:
        score = f"Its {terms.score_name} is {terms.score(ours.score)}."
        return f"{constant('Your model', ours)} {score} {compared}"
    text = (
        f"Your model costs {terms.cost(ours.cost)} per prediction{_WAYS[counting]}, and reaches an "
        f"{terms.score_name} of {terms.score(ours.score)}.{same_answers(ours, own.n_rows)} {compared}"
    )
    if ours.cost < theirs.cost:
        lost = score_lost(terms, theirs.score - ours.score)
        text += f" So pruning saves {share(1 - ours.cost / theirs.cost)} of the cost, and {lost}."
    if theirs.cost < whole.full.cost:
        everything = terms.cost(whole.full.cost)
        text += f" With all {terms.sources} on a row's paths, {terms.reference} costs {everything}."
    return text


def refit_note(summary: Summary) -> str:
    """Explain the difference between the path and the validation curve; empty if there is none to explain."""
    path = [(point, point.expected) for point in summary.points if point.kind == "path"]
    gaps = [(expected.score - point.full.score, point) for point, expected in path if expected is not None]
    if not gaps or not summary.is_refitted:
        return ""
    gap, point = max(gaps, key=lambda each: each[0])
    if gap <= TWO_SIGMA * point.full.score_error:
        return ""
    terms = pruned_terms(summary)
    text = (
        "Dots have leaf values as grown; the dotted line has refitted leaves, as your model has. It is up to "
        f"{terms.score_difference(gap)} higher, at a cost of "
        f"{terms.cost(point.outcome(summary.counting).cost)}."
    )
    n_constant = sum(each.full.only_answer is not None and each.n_splits > 0 for each, _ in path)
    if n_constant:
        predict = "dot predicts" if n_constant == 1 else "dots predict"
        text += f" {n_constant} {predict} the same for all rows as long as the leaves are not refitted."
    return text


# --- One point ----------------------------------------------------------------------------------------------


def point_name(summary: Summary, point: OperatingPoint) -> str:
    """Name a point."""
    if point.kind == "delivered":
        return "Your model"
    if point.kind == "unpruned":
        return f"Whole {summary.ensemble}"
    return f"Point {point.number} of {sum(each.kind == 'path' for each in summary.points)}"


def verdict(terms: Terms, point: OperatingPoint, counting: Counting) -> str:
    """Compare a point with the whole ensemble, with costs counted in the same way."""
    outcome = point.outcome(counting)
    if point.kind != "unpruned":
        if not point.n_splits:
            score = f"It {reached(terms, outcome.score, point.n_rows)}."
            return f"{constant('This model', outcome)} {score} {score_change(terms, outcome, point.n_rows)}"
        return compared_with_reference(terms, outcome, point.n_rows, _VERDICT_WAYS[counting])
    name = capitalised(terms.reference)
    if counting == "full":
        return (
            f"{name} costs {terms.cost(outcome.cost)} per prediction, if a row buys all sources on its "
            f"paths, and {reached(terms, outcome.score, point.n_rows)}."
        )
    saved = cost_change(outcome.cost, point.full.cost, "all sources on the paths")
    return f"{name}, if predictions stop once decided: {terms.cost(outcome.cost)} per prediction{saved}."


def acquired(terms: Terms, outcome: PrunedOutcome) -> str:
    """Describe the sources with the highest cost, and those no longer acquired."""
    text = (
        f"A row buys {terms.n_sources(outcome.n_acquired)} on average; "
        f"{terms.reference} buys {count(outcome.reference.n_acquired)}."
    )
    if outcome.top_sources:
        text += f" The highest costs are those of {source_list(outcome.top_sources)}."
    if outcome.n_dropped:
        names = list(outcome.dropped)
        if outcome.n_dropped > len(names):
            names.append(f"{outcome.n_dropped - len(names)} more")
        text += f" It never buys {joined(names)}."
    return text


def change(terms: Terms, change: Change, cost: float, *, is_more: bool) -> str:
    """Describe the effect of a 10 % larger or smaller budget.

    Parameters
    ----------
    terms : Terms
    change : Change
    cost : cost of the point shown
    is_more : whether the budget is larger
    """
    if change.point is None:
        return "This is the most expensive point." if is_more else "No point is that cheap."
    costs = f"costs {terms.cost(change.cost)}"
    if cost > 0:
        costs += f", {share(abs(change.cost / cost - 1))} {'more' if is_more else 'less'}"
    if change.is_within:
        text = f"A budget of {terms.cost(change.budget)} selects a point that {costs}"
    else:
        text = f"That selects no other point. The next point {costs}"
    text += f", and is {_change_of_score(terms, change)}."
    if change.sources:
        text += f" It {'adds' if is_more else 'drops'} {source_list(change.sources, ' of the rows')}."
    if change.expected is not None and change.is_within:
        text += f" Expected from validation rows: {_expected(terms, change.expected)}."
    return text


def _change_of_score(terms: Terms, change: Change) -> str:
    """Compare a point with the one shown, whose leaves may have been refitted."""
    if change.gained == 0:
        same_leaves = "as good on these rows"
    else:
        difference, margin = terms.comparison(change.gained, change.gained_error)
        same_leaves = f"{difference} on these rows (random error {margin})"
    gained = change.gained_to_refitted
    if gained is None or terms.comparison(gained, 0.0) == terms.comparison(change.gained, 0.0):
        return same_leaves
    shown = f"{terms.comparison(gained, 0.0)[0]} than" if gained else "as good as"
    return (
        f"{shown} your model, whose leaves are refitted. With leaves as grown on both sides, it is "
        f"{same_leaves}"
    )


def _expected(terms: Terms, gained: float) -> str:
    difference = terms.score_difference(gained)
    return f"{'a gain' if gained > 0 else 'a loss'} of {difference}" if difference else "no difference"


# --- Single rows and trees ----------------------------------------------------------------------------------


def example_title(summary: Summary, example: ExampleRow) -> str:
    """Return the title of an example."""
    is_classifier = summary.task == "classification"
    return {
        "typical": "A typical row",
        "cheap": "A cheap row",
        "expensive": "An expensive row",
        "lost": f"A row that the whole {summary.ensemble} predicts better",
        "wrong": "A wrong prediction" if is_classifier else "The largest error",
    }[example.kind]


def ending(terms: Terms, prediction: Prediction) -> str:
    """Describe why the prediction of one row stopped."""
    text = _ENDINGS.get(prediction.reason, "Not decided.")
    if prediction.full_cost > prediction.cost:
        text += f" All sources on the row's paths would cost {terms.cost(prediction.full_cost)}."
    return text


def tree_left(tree: Tree, point: OperatingPoint) -> str:
    """Describe how much of the tree remains at a point."""
    if point.kind == "unpruned":
        return f"Tree {tree.number} as it was grown, with {pluralize(tree.n_splits, 'split')}."
    n_left = point.n_tree_splits
    return (
        f"{n_left:,} of the {pluralize(tree.n_splits, 'split')} of tree {tree.number} "
        f"{'is' if n_left == 1 else 'are'} left."
    )


def question(split: SplitCondition | None) -> str:
    """Format the condition of a split; empty for a leaf."""
    if split is None:
        return ""
    if split.threshold is not None:
        return f"{split.feature} ≤ {split.threshold:.4g}"
    more = f" or {split.n_more} more" if split.n_more else ""
    return f"{split.feature} is {' or '.join(split.categories) or 'missing'}{more}"


def node_value(node: NodeValue | None) -> str:
    """Format the value of a node; empty if there is no such node."""
    if node is None:
        return ""
    return {
        "target": significant(node.value),
        "target difference": f"{node.value:+.3g}",
        "class share": f"{node.label} {node.value:.0%}",
        "class": f"more for {node.label}",
        "class score": f"{node.value:+.2g} for {node.label}",
    }[node.kind]
