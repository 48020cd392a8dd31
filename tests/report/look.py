"""A page that is open in a browser, and how to look at it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

# Machines that are busy with other tests are slow; nothing here should ever wait that long. (Milliseconds.)
PATIENCE = 90_000


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
