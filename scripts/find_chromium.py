"""Print the path of a Chromium for the browser tests. With --install, install one if there is none.

Only the path goes to standard output. CHROMIUM in the environment comes first.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

# The headless shell first: it draws no window of its own, so the same tests take a third less processor time.
COMMANDS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
MAC_APPS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
# Tried in order. Playwright's own build also needs system libraries, which only --with-deps (as root) installs.
INSTALLERS = (
    [sys.executable, "-m", "playwright", "install", "chromium"],
    ["apt-get", "install", "-y", "chromium-headless-shell"],
)


def find_chromium() -> str | None:
    """The first Chromium that starts, or None."""
    return next((path for path in _candidates() if _starts(path)), None)


def install_chromium() -> str | None:
    """Install a Chromium in the first way that works here. Returns its path, or None."""
    for command in INSTALLERS:
        if command[0] == "apt-get":
            if shutil.which("apt-get") is None or os.geteuid() != 0:
                continue
            _run(["apt-get", "update"])
        _run(command)
        if path := find_chromium():
            return path
    return None


def _candidates() -> Iterator[str]:
    if chosen := os.environ.get("CHROMIUM"):
        yield chosen
    yield from filter(None, map(shutil.which, COMMANDS))
    yield from (path for path in MAC_APPS if Path(path).exists())
    if path := _playwrights_own():
        yield path


def _playwrights_own() -> str | None:
    """The path of Playwright's own Chromium, which may not be installed."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


def _starts(path: str) -> bool:
    """Whether it exists and runs. On some systems the command only prints what to install."""
    try:
        return subprocess.run([path, "--version"], capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _run(command: list[str]) -> None:
    """Run an installer; its output goes to standard error. If it fails, no Chromium is found afterwards."""
    try:
        subprocess.run(command, stdout=sys.stderr, timeout=900, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"{' '.join(command)}: {error}", file=sys.stderr)


def main() -> int:
    """Print the path and return 0, or say what is missing and return 1."""
    path = find_chromium() or (install_chromium() if "--install" in sys.argv[1:] else None)
    if path is None:
        print("No Chromium found: install one (on Debian: apt-get install chromium) or set CHROMIUM.", file=sys.stderr)
        return 1
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
