"""A browser to look at pages with: Chromium, the system's own or Playwright's.

``python -m tests.report.browser`` gets one if there is none.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_browser() -> str | None:
    """Path of a browser: the one that BUDGETPRUNE_BROWSER names, the system's, or Playwright's."""
    named = os.environ.get("BUDGETPRUNE_BROWSER")
    if named:
        return named
    for name in NAMES:
        if found := shutil.which(name):
            return found
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        return None
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if Path(own).exists() else None


def get_browser() -> str:
    """Find a browser, or install one: Debian's if that is allowed, else Playwright's."""
    found = find_browser()
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    if found is None and is_root and shutil.which("apt-get"):
        command = ["apt-get", "install", "--yes", "--no-install-recommends", "chromium"]
        subprocess.run(command, check=False, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
        found = find_browser()
    if found is None:
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=True)
        found = find_browser()
    if found is None:
        raise SystemExit("no browser can be installed; set BUDGETPRUNE_BROWSER to the path of a Chromium.")
    return found


if __name__ == "__main__":
    print(get_browser())
