"""Sentences generated from the numbers of a report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetprune.report.measure import Kind, Taken
from budgetprune.report.numbers import amount, joined, plain, several, share
from budgetprune.report.summary import Change, Counting

# About two standard errors: a 95 % interval.
TWO_SIGMA = 1.96
MOST_NAMED = 3
# Shares below this round to zero.
SMALL_SHARE = 0.005


@dataclass(frozen=True)
class Language:
    """Terms and sentences of one report.

    Attributes
    ----------
    score_name : str
    unit : str
        Unit of cost; may be empty.
    noun : str
        Plural noun for sources.
    whole : str
        Name of the unpruned ensemble.
    source_names : tuple of str
    class_names : tuple of str or None
    """

    score_name: str
    unit: str
    noun: str
    whole: str
    source_names: tuple[str, ...]
    class_names: tuple[str, ...] | None

    @property
    def is_accuracy(self) -> bool:
        return self.class_names is not None

    def score(self, score: float) -> str:
        return f"{100 * score:.1f} %" if self.is_accuracy else f"{score:.3f}"

    def points(self, difference: float) -> str:
        """Format an absolute difference of scores; empty if it rounds to zero."""
        if self.is_accuracy:
            text = f"{abs(100 * difference):.1f}"
            unit = "point" if text == "1.0" else "points"
        else:
            text, unit = f"{abs(difference):.3f}", f"of {self.score_name}"
        return f"{text} {unit}" if float(text) else ""

    def apart(self, gained: float, gained_error: float) -> tuple[str, str]:
        """Format a difference of scores and its margin of error."""
        margin = self.points(TWO_SIGMA * gained_error) or "0"
        side = "better" if gained > 0 else "worse"
        return f"{self.points(gained) or 'a trace'} {side}", f"± {margin}"

    def money(self, cost: float) -> str:
        return f"{amount(cost)} {self.unit}".strip()

    # --- One point ------------------------------------------------------------------------------------------

    def value(self, name: str, taken: Taken) -> str:
        """Describe the slider's position."""
        score = self.score(float(taken.quality.mean()))
        return f"{name}: cost {self.money(taken.mean_cost)}, {self.score_name} {score}"

    def verdict(
        self, kind: Kind, counting: Counting, taken: Taken, whole: Taken, gained: float, gained_error: float
    ) -> str:
        """Compare a point with the whole ensemble at full cost."""
        if kind == "unpruned":
            return self._whole(counting, taken, whole)
        n_rows = taken.quality.size
        cost, score = taken.mean_cost, float(taken.quality.mean())
        saved = self._saved(cost, whole.mean_cost, self.whole)
        return (
            f"It costs {self.money(cost)} per prediction{saved}, and {self._reached(score, n_rows)}. "
            f"{self._compared(gained, gained_error, n_rows)}"
        )

    def _whole(self, counting: Counting, taken: Taken, whole: Taken) -> str:
        name, score = self.whole[0].upper() + self.whole[1:], float(whole.quality.mean())
        if counting == "full":
            return (
                f"{name} costs {self.money(whole.mean_cost)} per prediction, if all is bought that its trees "
                f"ask for, and {self._reached(score, whole.quality.size)}."
            )
        saved = self._saved(taken.mean_cost, whole.mean_cost, "all that its trees ask for")
        return (
            f"{name}, unpruned, but stopped once it is decided: {self.money(taken.mean_cost)} per "
            f"prediction{saved}."
        )

    def _reached(self, score: float, n_rows: int) -> str:
        if self.is_accuracy:
            return f"gets {round(score * n_rows):,} of {several(n_rows, 'row')} right ({self.score(score)})"
        return f"reaches an {self.score_name} of {self.score(score)}"

    def _saved(self, cost: float, before: float, than: str) -> str:
        if not before > 0:
            return ""
        change = cost / before - 1
        if abs(change) < SMALL_SHARE:
            return f", as much as {than}"
        return f", {share(abs(change))} {'less' if change < 0 else 'more'} than {than} ({amount(before)})"

    def _compared(self, gained: float, gained_error: float, n_rows: int) -> str:
        if gained == 0:
            return f"That is as good as {self.whole} on these rows."
        apart, margin = self.apart(gained, gained_error)
        said = f"That is {apart} than {self.whole}"
        if abs(gained) <= TWO_SIGMA * gained_error:
            return f"{said}, which chance alone can do on {several(n_rows, 'row')} ({margin})."
        return f"{said}, more than chance does on {several(n_rows, 'row')} ({margin})."

    def spread(self, taken: Taken) -> str:
        """Describe the distribution of cost."""
        cost = taken.cost
        median, ninetieth = np.quantile(cost, [0.5, 0.9], method="inverted_cdf").tolist()
        least, most = float(cost.min()), float(cost.max())
        if least == most:
            words = f"Every row costs {plain(most)}."
        elif median == most:
            words = f"At least half of the rows cost {plain(most)}, none more."
        elif ninetieth == most:
            words = f"Half of the rows cost at most {plain(median)}, none more than {plain(most)}."
        else:
            half = f"Half of the rows cost at most {plain(median)}, nine in ten at most "
            start = half if median < ninetieth else "Nine in ten rows cost at most "
            words = f"{start}{plain(ninetieth)}, the dearest {plain(most)}."
        free = float(np.mean(cost == 0))
        if 0 < free < 1:
            words += f" {share(free)} cost nothing."
        if taken.undecided > 0:
            words += f" {share(taken.undecided)} ran out of money before they were decided."
        return words

    def bought(self, taken: Taken, whole: Taken, price: NDArray[np.float64]) -> str:
        """Describe the sources with the highest cost, and those no longer acquired."""
        money = taken.share * price
        words = (
            f"A row buys {self._number(float(taken.share.sum()))} on average; "
            f"{self.whole} buys {_count(float(whole.share.sum()))}."
        )
        if money.sum() > 0:
            top = [s for s in np.argsort(-money, kind="stable")[:MOST_NAMED].tolist() if money[s] > 0]
            named = [f"{self.source_names[s]} ({share(money[s] / money.sum())})" for s in top]
            words += f" Most of the money goes to {joined(named)}."
        given_up = np.flatnonzero((whole.share > 0) & (taken.share == 0))
        if given_up.size:
            dearest = given_up[np.argsort(-(whole.share * price)[given_up], kind="stable")]
            names = [self.source_names[s] for s in dearest[:MOST_NAMED].tolist()]
            if given_up.size > MOST_NAMED:
                names.append(f"{given_up.size - MOST_NAMED} more")
            words += f" It never buys {joined(names)}."
        return words

    def _number(self, number: float) -> str:
        """Format a number of sources."""
        count = _count(number)
        return f"{count} {self.noun.removesuffix('s') if count == '1' else self.noun}"

    def wrong(
        self, taken: Taken, confusion: tuple[tuple[int, ...], ...] | None, mean_off: float | None
    ) -> str:
        """Describe the errors."""
        n_rows = taken.quality.size
        if confusion is None:
            return f"Predictions are off by {amount(mean_off or 0.0)} on average."
        n_wrong = n_rows - int(taken.quality.sum())
        if not n_wrong:
            return f"All {n_rows:,} rows are right." if n_rows > 1 else "The only row is right."
        words = f"{several(n_wrong, 'row')} of {n_rows:,} {'is' if n_wrong == 1 else 'are'} wrong."
        count = np.array(confusion)
        np.fill_diagonal(count, 0)
        true, predicted = np.unravel_index(count.argmax(), count.shape)
        assert self.class_names is not None
        if count[true, predicted]:
            words += (
                f" The commonest mistake: {self.class_names[true]} taken for {self.class_names[predicted]}, "
                f"{int(count[true, predicted]):,} times."
            )
        return words.replace(", 1 times.", ", once.").replace(", 2 times.", ", twice.")

    def change(
        self,
        change: Change,
        base: float,
        more: bool,
        bought: NDArray[np.float64],
        beside: float | None = None,
    ) -> str:
        """Describe the effect of a 10 % larger or smaller budget.

        Parameters
        ----------
        change : Change
        base : current cost
        more : whether the budget is larger
        bought : change in the share of rows that acquire each source
        beside : difference in score to the delivered model, if that one's leaves are refitted
        """
        if change.point is None:
            return "This is the dearest point." if more else "No point is as cheap as that."
        costs = f"costs {self.money(change.cost)}"
        if base > 0:
            costs += f", {share(abs(change.cost / base - 1))} {'more' if more else 'less'}"
        if change.is_within:
            words = f"A budget of {self.money(change.budget)} buys a point that {costs}"
        else:
            words = f"That buys nothing new. The next point {costs}"
        words += f", and is {self._better(change, beside)}."
        sign = 1 if more else -1
        top = np.argsort(-sign * bought, kind="stable")[:MOST_NAMED].tolist()
        named = [
            f"{self.source_names[s]} ({share(abs(float(bought[s])))} of the rows)"
            for s in top
            if sign * bought[s] >= SMALL_SHARE
        ]
        if named:
            words += f" What it {'adds' if more else 'drops'}: {joined(named)}."
        if change.expected is not None and change.is_within:
            words += f" Validation rows expected {self._expected(change.expected)}."
        return words

    def _better(self, change: Change, beside: float | None) -> str:
        """Compare a point with the one shown, whose leaves may have been refitted."""
        if change.gained == 0:
            same_leaves = "as good on these rows"
        else:
            apart, margin = self.apart(change.gained, change.gained_error)
            same_leaves = f"{apart} on these rows (chance does {margin})"
        if beside is None or self.apart(beside, 0.0) == self.apart(change.gained, 0.0):
            return same_leaves
        shown = f"{self.apart(beside, 0.0)[0]} than" if beside else "as good as"
        return (
            f"{shown} your model, whose leaves are refitted. With leaves as grown on both sides, it is "
            f"{same_leaves}"
        )

    def _expected(self, gained: float) -> str:
        points = self.points(gained)
        return f"{'a gain' if gained > 0 else 'a loss'} of {points}" if points else "no difference"

    def ending(self, reason: str, cost: float, full_cost: float) -> str:
        """Describe why the prediction of one row stopped."""
        saved = (
            f" All trees together would have asked for {self.money(full_cost)}." if full_cost > cost else ""
        )
        words = {
            "certain": "Decided: nothing that is left can change the answer.",
            "slack": "Decided: what is left hardly ever changes the answer.",
            "complete": "Complete: no tree asks for anything more.",
            "max_cost": "The money ran out before it was decided.",
        }
        return words.get(reason, "Not decided.") + saved

    # --- The whole report -----------------------------------------------------------------------------------

    def headline(self, delivered: Taken, whole: Taken, counting: Counting) -> str:
        """Summarise cost and score of the model and of the whole ensemble."""
        before, after = whole.mean_cost, delivered.mean_cost
        low, high = float(delivered.quality.mean()), float(whole.quality.mean())
        way = ", stopping as soon as the answer is certain" if counting == "decided" else ""
        said = (
            f"Your model pays {self.money(after)} per prediction{way}, and reaches an {self.score_name} of "
            f"{self.score(low)}. {self.whole[0].upper()}{self.whole[1:]} pays {self.money(before)} and "
            f"reaches {self.score(high)}."
        )
        if not after < before:
            return said
        lost = self.points(high - low)
        if not lost:
            given = "nothing is given up"
        else:
            verb = "are" if lost.endswith("points") else "is"
            given = f"{lost} {verb} {'given up' if high > low else 'gained on top'}"
        return f"{said} So {share(1 - after / before)} of the cost is saved, and {given}."


def _count(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
