"""A page that is open in a browser, and how to look at it."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import Any

# Machines that are busy with other tests are slow; nothing here should ever wait that long. (Milliseconds.)
PATIENCE = 90_000
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 375, "height": 740}


@dataclass
class Look:
    """A page that is open, with all that it complained about and all that it asked for."""

    page: Any  # of Playwright
    stored: dict
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def text(self, name: str) -> str:
        return self.page.locator(f"#{name}").inner_text().replace("\u00a0", " ")

    def settle(self) -> None:
        """Wait for the next frame, in which changes are drawn."""
        self.page.evaluate("() => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")

    def wait_for(self, condition: str) -> None:
        """Wait until something is true. (Playwright's own way evaluates text, which the page forbids.)"""
        end = time.monotonic() + PATIENCE / 1000
        while not self.page.evaluate(condition):
            assert time.monotonic() < end, condition
            self.page.wait_for_timeout(50)

    def press(self, *keys: str) -> None:
        self.page.locator("#slider").focus()
        for key in keys:
            self.page.keyboard.press(key)
        self.settle()

    @property
    def position(self) -> int:
        return int(self.page.locator("#slider").input_value())

    @property
    def point(self) -> dict:
        return self.stored["points"][self.position]

    def colour(self, selector: str, what: str = "color") -> str:
        return self.page.locator(selector).first.evaluate(f"e => getComputedStyle(e).{what}")

    def too_wide(self) -> list[str]:
        """List what reaches beyond the right edge of the screen, except what can be scrolled."""
        return self.page.evaluate(
            """() => [...document.querySelectorAll('body *')]
                .filter(e => e.checkVisibility() && !e.closest('.scroll, .hidden, .skip, svg'))
                .filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
                .map(e => e.outerHTML.slice(0, 80))"""
        )


def contrast(first: str, second: str) -> float:
    """Ratio of luminances, as WCAG defines it."""

    def luminance(colour: str) -> float:
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)
