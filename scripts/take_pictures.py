"""Take the README's pictures from the running app: python -m scripts.take_pictures [FOLDER]

Starts its own server, waits until the recorded run has played a few rounds, and writes watch-light.png and
watch-dark.png to FOLDER (assets/pictures).
"""

import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from benchmarks.app import chromium
from benchmarks.serving import ROOT, served

ROUNDS = 6  # of the run: tokens of every status are then on screen


def main() -> None:
    """Light and dark, at the size of a projector."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "assets" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    with served() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            picture(browser, server.url, scheme, folder / f"watch-{scheme}.png")
        browser.close()


def picture(browser: Browser, url: str, scheme: str, path: Path) -> None:
    """Pause the first screen's run after a few rounds and take its picture."""
    page = browser.new_page(
        viewport={"width": 1280, "height": 720}, color_scheme="dark" if scheme == "dark" else "light"
    )
    page.goto(f"{url}/?view=full")
    page.wait_for_selector(".stage figure svg")
    page.get_by_role("button", name="Pause", exact=True).click()
    page.get_by_role("button", name="First step").click()
    for _ in range(ROUNDS):
        page.get_by_role("button", name="Forward one round").click()
    page.get_by_role("button", name="Back one step").click()
    page.wait_for_timeout(800)
    page.screenshot(path=path)
    page.close()


if __name__ == "__main__":
    main()
