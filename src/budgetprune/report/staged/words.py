"""Sentences generated from the numbers of a staged model's report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetprune.report.measure import Taken
from budgetprune.report.numbers import amount, joined, plain, share
from budgetprune.report.staged.measure import Followed, Rule
from budgetprune.report.staged.summary import LossKind
from budgetprune.report.words import MOST_NAMED, SMALL_SHARE, Language

_UNCERTAINTIES: dict[LossKind, str] = {
    "errors": "probability of an error",
    "cost": "expected cost of errors",
    "log loss": "entropy",
    "squared error": "expected error",
}
_MOST_DIGITS = 8


@dataclass(frozen=True)
class StagedLanguage(Language):
    """Terms and sentences of the report of a staged model.

    Attributes
    ----------
    loss_kind : see `StagedSummary`
    max_cost : maximum cost of a row, or None
    """

    loss_kind: LossKind
    max_cost: float | None

    @property
    def uncertainty_name(self) -> str:
        """Name of the quantity that thresholds apply to."""
        return _UNCERTAINTIES[self.loss_kind]

    def uncertainty(self, uncertainty: float, n_digits: int = 3) -> str:
        """Format an uncertainty; of a squared error, its root."""
        if self.loss_kind == "errors":
            return f"{100 * uncertainty:.{n_digits - 2}f} %"
        if self.loss_kind == "squared error":
            uncertainty = uncertainty**0.5
        text = amount(uncertainty) if n_digits == 3 else f"{uncertainty:.{n_digits}g}"
        return f"{text} {self.unit}".strip() if self.loss_kind == "cost" else text

    def compared_uncertainties(self, first: float, second: float) -> tuple[str, str]:
        """Format two uncertainties with enough digits to differ."""
        for n_digits in range(3, _MOST_DIGITS + 1):
            texts = self.uncertainty(first, n_digits), self.uncertainty(second, n_digits)
            if texts[0] != texts[1] or first == second:
                break
        return texts

    # --- The whole report -----------------------------------------------------------------------------------

    def staged_headline(self, own: Followed, everything: Followed) -> str:
        """Compare the model with acquiring all sources, on the same rows."""
        before, after = everything.taken.mean_cost, own.taken.mean_cost
        low, high = float(own.taken.quality.mean()), float(everything.taken.quality.mean())
        n_bought = round(float(everything.taken.share.sum()))
        if not before > 0:
            return f"Your model costs nothing, and reaches an {self.score_name} of {self.score(low)}."
        said = (
            f"Your model costs {self.money(after)} per prediction on average, and reaches an "
            f"{self.score_name} of {self.score(low)}. If it buys {self._all(n_bought)} of its stages for "
            f"every row, it costs {self.money(before)} and reaches {self.score(high)}."
        )
        if after < before:
            lost = self.points(high - low)
            verb = "are" if lost.endswith("points") else "is"
            given = (
                f"{lost} {verb} {'given up' if high > low else 'gained'}" if lost else "nothing is given up"
            )
            said += f" So {share(1 - after / before)} of the cost is saved, and {given}."
        if self.loss_kind == "cost":
            own_total, other_total = (
                float(each.taken.mean_cost + np.nanmean(each.loss)) for each in (own, everything)
            )
            said += (
                f" Together with the cost of errors, that is {self.money(own_total)} instead of "
                f"{self.money(other_total)}."
            )
        return said

    def _all(self, number: int) -> str:
        few = {1: f"the only {self.noun.removesuffix('s')}", 2: f"both {self.noun}"}
        return few.get(number, f"all {number} {self.noun}")

    # --- One point ------------------------------------------------------------------------------------------

    def staged_verdict(self, followed: Followed, everything: Followed, gained: float, error: float) -> str:
        """Compare a point with acquiring all sources, and with stopping all rows at one stage."""
        if followed is everything:
            n_bought = round(float(followed.taken.share.sum()))
            reached = self._reached(float(followed.taken.quality.mean()), followed.stage.size)
            if not n_bought:
                return f"The stages of your model buy nothing. It {reached}."
            return (
                f"Every row buys {self._all(n_bought)} of the stages of your model: "
                f"{self.money(followed.taken.mean_cost)} per prediction. That {reached}."
            )
        said = self.verdict("path", "decided", followed.taken, everything.taken, gained, error)
        return f"{said} {self._single_stage(followed)}"

    def _single_stage(self, followed: Followed) -> str:
        score = followed.seen.quality[:, : followed.rule.last + 1].mean(axis=0)
        as_good = np.flatnonzero(score >= followed.taken.quality.mean() - 1e-12)
        if not as_good.size:
            return "If all rows stopped at the same stage, none would be as good on these rows."
        k = int(as_good[0])
        return (
            "If all rows stopped at the same stage, the cheapest one that is as good on these rows would be "
            f"stage {k}, for {self.money(float(followed.rule.paid[k]))}."
        )

    def staged_stages(self, followed: Followed) -> str:
        """Describe where rows stop, and how many stop because of `max_cost`."""
        rule, stage = followed.rule, followed.stage
        stops = np.bincount(stage) / stage.size
        top = [k for k in np.argsort(-stops, kind="stable")[:MOST_NAMED].tolist() if stops[k] >= SMALL_SHARE]
        if stops.max() == 1:
            return f"All rows stop at stage {top[0]} (cost {plain(rule.paid[top[0]])})."
        named = [f"{share(stops[k])} at stage {k} (cost {plain(rule.paid[k])})" for k in sorted(top)]
        named[0] = named[0].replace(" at stage", " of the rows stop at stage", 1)
        rest = 1 - float(stops[top].sum())
        others = f"; the other {share(rest)} stop at other stages" if rest >= SMALL_SHARE else ""
        said = f"{joined(named)}{others}."
        if followed.taken.undecided > 0:
            limit = plain(self.max_cost or 0.0)
            said += f" {share(followed.taken.undecided)} would go on, but a row may cost at most {limit}."
        return said

    def staged_next(self, rule: Rule, lam: float | None, *, is_cheapest_in_all: bool) -> str:
        """Describe the loss that going on must save at a point."""
        is_fixed = bool(np.isinf(rule.thresholds).all())
        if is_fixed or lam is None:
            return "At this point no row chooses: all of them stop at the same stage."
        if not lam > 0:
            return "At this point rows go on wherever that is expected to save anything, whatever it costs."
        worth = {
            "errors": f"{amount(100 * lam)} errors per 100 rows",
            "cost": f"{amount(lam)} of the cost of errors",
            "log loss": f"{amount(lam)} of the log loss",
            "squared error": f"{amount(lam)} of the squared error",
        }[self.loss_kind]
        said = f"At this point rows go on where a unit of cost is expected to save at least {worth}."
        if is_cheapest_in_all:
            said += (
                " Of all points, this one had the least cost of sources and errors together in cross-fitting."
            )
        return said

    def staged_bought(self, followed: Followed, price: NDArray[np.float64], n_in_stages: int) -> str:
        """Describe which sources are acquired, and which are not."""
        taken = followed.taken
        if not n_in_stages:
            return "The stages buy nothing: they use what is free."
        said = (
            f"A row buys {self._number(float(taken.share.sum()))} on average, of {n_in_stages} in the stages."
        )
        return said + self._costly(taken, price)

    def _costly(self, taken: Taken, price: NDArray[np.float64]) -> str:
        cost = taken.share * price
        if not cost.sum() > 0:
            return ""
        top = [s for s in np.argsort(-cost, kind="stable")[:MOST_NAMED].tolist() if cost[s] > 0]
        named = [f"{self.source_names[s]} ({share(cost[s] / cost.sum())})" for s in top]
        return f" Most of the cost is that of {joined(named)}."

    def staged_wrong(
        self, followed: Followed, confusion: tuple[tuple[int, ...], ...] | None, mean_off: float | None
    ) -> str:
        """Describe the errors, and their cost if they have one."""
        said = self.wrong(followed.taken, confusion, mean_off)
        if self.loss_kind == "cost":
            said += f" Errors cost {self.money(float(np.nanmean(followed.loss)))} per prediction."
        return said

    def use(self, kind: str, budget: str | None) -> str:
        """Describe how to select a point."""
        if kind == "everything":
            return "No budget leads here: this is what your model is compared with."
        if budget is None:
            return "No budget leads here: the model has a better point for less, or this one uses nothing."
        if kind == "delivered":
            return "Your model is at this point. For another one, move the slider; nothing is trained again:"
        return "Your model file holds this point too. This command chooses it, without training:"

    # --- Stages ---------------------------------------------------------------------------------------------

    def rule(self, rule: Rule, k: int) -> str:
        """Describe which rows go on from a stage."""
        n_stages, threshold = rule.price.size, float(rule.thresholds[k])
        if k == n_stages - 1:
            return "the last stage"
        if np.isposinf(threshold):
            return "all stop"
        if k == rule.last:
            return f"limit of {plain(self.max_cost or 0.0)} per row"
        if np.isneginf(threshold):
            return "all go on"
        return f"above {self.uncertainty(threshold)}"

    def why(self, rule: Rule, k: int, uncertainty: float) -> str:
        """Describe why a row stopped at a stage or went on."""
        threshold, name = float(rule.thresholds[k]), self.uncertainty_name
        if k == rule.price.size - 1:
            return "Stopped because this is the last stage."
        if rule.price[k + 1] == 0:
            return "Went on because the next stage costs nothing."
        if np.isposinf(threshold):
            return "Stopped because no row goes on from here at this budget."
        if k == rule.last and uncertainty > threshold:
            return f"Stopped because the next stage would exceed the limit of {plain(self.max_cost or 0.0)}."
        if np.isneginf(threshold):
            return "Went on because every row does here: the next stage is worth its price for all."
        own, limit = self.compared_uncertainties(uncertainty, threshold)
        if not uncertainty > threshold:
            return f"Stopped because the {name}, {own}, is not above {limit}."
        return f"Went on because the {name}, {own}, is above {limit}."

    def with_everything(self, answer: str, cost: float, full_cost: float) -> str:
        """Describe the answer to a row with all sources acquired."""
        if not full_cost > cost:
            return ""
        return f"With everything, for {self.money(full_cost)}, the answer would have been {answer}."
