"""What the browser tests share: screens, waiting until a page has settled, where its parts are, what axe-core says."""

import time
from importlib import resources
from typing import Any, Literal

from playwright.sync_api import FloatRect, Locator, Page, ViewportSize

PATIENCE = 120_000  # ms; far more than a page needs to show something, so that a busy machine fails no test
DESK: ViewportSize = {"width": 1280, "height": 720}
PHONE: ViewportSize = {"width": 390, "height": 844}
SMALL: ViewportSize = {"width": 320, "height": 640}  # a small phone, or a window at 400 % zoom
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
RULES = {"light": (), "dark": ("color-contrast",)}  # of axe: after the first scheme, the one that looks at colours
AXE = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
VIOLATIONS = "(options) => axe.run(document, options).then((done) => done.violations)"
LOOKS = 4
RESTING = "[data-testid=stApp][data-test-script-state=notRunning]"
STILL = """() => new Promise((done) => {
  const coming = `[data-test-script-state]:not([data-test-script-state=notRunning]), [data-stale=true],
    [data-testid=stSkeleton], [data-testid^=stBidiComponent]:not([data-running])`;
  const moving = () => document.querySelector(coming) || document.getAnimations().some(
    (one) => one.playState === "running" && one.effect.getComputedTiming().endTime !== Infinity);
  let still = 0;
  const look = () => {
    still = moving() ? 0 : still + 1;
    if (still > 2) done(true); else requestAnimationFrame(look);
  };
  look();
})"""


def wait_until_drawn(page: Page, selector: str = "") -> None:
    """Wait until the page's script has ended and, with a selector, until that can be seen too."""
    page.wait_for_selector(f"{RESTING} {selector}".strip())


def wait_until_still(page: Page) -> None:
    """Wait until the page is drawn, its parts have faded in, and the scripts of its components run.

    Those may come seconds after all else: the browser fetches them once their places are drawn.
    """
    wait_until_drawn(page)
    page.wait_for_function(STILL)


def expect_no_scroll(page: Page, *sides: Literal["Width", "Height"]) -> None:
    """Neither the page nor the part of it that Streamlit scrolls is larger than the screen.

    Waits, since a page that is being drawn may be too wide for a moment: a figure takes its width from its place.
    """
    page.wait_for_function(
        "(sides) => [document.documentElement, document.querySelector('[data-testid=stMain]')].every("
        "(box) => box === null || sides.every((side) => box[`scroll${side}`] <= box[`client${side}`]))",
        arg=sides,
    )


def placed(*parts: Locator) -> list[FloatRect]:
    """Where parts of a page are drawn, from a time in which none of them moved."""
    before: list[FloatRect | None] = []
    end = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < end:
        found = [part.bounding_box() for part in parts]
        if found == before and None not in found:
            return [box for box in found if box]
        before = found
    raise AssertionError("a part is not drawn, or does not stand still")


def violations_of(page: Page, *rules: str) -> list[str]:
    """What axe finds by these rules, or by all, and goes on finding: while a page is drawn again, it is faded."""
    for _ in range(LOOKS):
        page.wait_for_function(STILL)
        if not page.evaluate("'axe' in window"):
            page.evaluate(AXE)
        options = {"resultTypes": ["violations"], **({"runOnly": rules} if rules else {})}
        found: list[dict[str, Any]] = page.evaluate(VIOLATIONS, options)
        if not found:
            break
    return [f"{one['id']}: {node['html'][:120]} {node['any']}" for one in found for node in one["nodes"]]
