"""Number formatting."""

from __future__ import annotations

import numpy as np

# Shares below this round to zero per cent.
SMALL_SHARE = 0.005
# Costs from here on are shown without cents.
_NO_CENTS = 1e5


def short(number: float, n_digits: int = 5) -> float:
    """Round to significant digits, to keep files short."""
    return float(f"{float(number):.{n_digits}g}")


def short_amount(number: float) -> float:
    """Round a cost to five significant digits, or to a tenth of a cent if that is finer."""
    if number == 0 or not np.isfinite(number):
        return float(number)
    return round(float(number), max(4 - int(np.floor(np.log10(abs(number)))), 3))


def significant(number: float) -> str:
    """Format a number with three significant digits: 0.0420, 2.31, 12.3, 1,234, 1.26e-09."""
    if number == 0:
        return "0"
    if _is_extreme(number):
        return f"{number:.2e}"
    return f"{number:,.{min(max(_n_decimals(number), 0), 6)}f}"


def amount(number: float) -> str:
    """Format a cost with three significant digits and at least cents: 0.0420, 2.31, 12.34, 1,234.50."""
    if number == 0 or _is_extreme(number) or abs(number) >= _NO_CENTS:
        return significant(number)
    return f"{number:,.{min(max(_n_decimals(number), 2), 6)}f}"


def trimmed_amount(number: float) -> str:
    """Format a price or the cost of one row without trailing zeros: 3, 2.5, 20.68, 1,234."""
    text, e, exponent = amount(number).partition("e")
    return (text.rstrip("0").rstrip(".") if "." in text else text) + e + exponent


def _is_extreme(number: float) -> bool:
    return not 1e-6 <= abs(number) < 1e15


def _n_decimals(number: float) -> int:
    """Return the number of decimals that three significant digits need; may be negative."""
    return 2 - int(np.floor(np.log10(abs(number))))


def share(fraction: float) -> str:
    """Format a share in per cent; never rounds to 0 or 100."""
    if 0 < fraction < 0.005:
        return "under 1 %"
    if 0.995 < fraction < 1:
        return "over 99 %"
    return f"{100 * fraction:.0f} %"


def pluralize(count: int, one: str, many: str | None = None) -> str:
    """Format a count with its noun."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def joined(items: list[str]) -> str:
    """Join items: ``a``, ``a and b``, ``a, b and c``."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def nice(number: float) -> float:
    """Round up to 1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(number))
    return float(next(step * power for step in (1, 2, 2.5, 5, 10) if step * power >= number * (1 - 1e-9)))
