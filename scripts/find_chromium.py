"""Print the path of a Chromium for the browser tests. With --install, install one if there is none.

Only the path goes to standard output. CHROMIUM in the environment comes first.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

# The headless shell first: it draws no window of its own, so the same tests take a third less processor time.
COMMANDS = (
    *("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"),
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
# Tried in order. Playwright's own build also needs system libraries, which only --with-deps (as root) installs.
INSTALLERS = (
    [sys.executable, "-m", "playwright", "install", "chromium"],
    ["apt-get", "update"],
    ["apt-get", "install", "-y", "chromium-headless-shell"],
)


def find_chromium(install: bool) -> str | None:
    """The first Chromium that starts, or None."""
    for installer in (None, *INSTALLERS) if install else (None,):
        if installer:
            runs(installer, 900)
        if path := next((path for path in candidates() if runs([path, "--version"], 60)), None):
            return path
    return None


def candidates() -> Iterator[str]:
    yield from filter(None, (os.environ.get("CHROMIUM"), *map(shutil.which, COMMANDS)))
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return
    with sync_playwright() as playwright:
        yield playwright.chromium.executable_path  # Playwright's own, which may not be installed


def runs(command: list[str], seconds: float) -> bool:
    """Whether it exists and succeeds; on some systems a browser's command only prints what to install."""
    try:
        return subprocess.run(command, stdout=sys.stderr, timeout=seconds).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


if __name__ == "__main__":
    found = find_chromium("--install" in sys.argv[1:])
    if found is None:
        sys.exit("No Chromium found: install one (on Debian: apt-get install chromium) or set CHROMIUM.")
    print(found)
