"""What the browser tests share: waiting until a page has settled, and looking at its width."""

from playwright.sync_api import Locator, Page

RESTING = "[data-testid=stApp][data-test-script-state=notRunning]"
STILL = """() => new Promise((done) => {
  const moving = () => document.querySelector("[data-stale=true]") || document.getAnimations().some(
    (one) => one.playState === "running" && one.effect.getComputedTiming().endTime !== Infinity);
  let still = 0;
  const look = () => {
    still = moving() ? 0 : still + 1;
    if (still > 2) done(); else requestAnimationFrame(look);
  };
  look();
})"""
TWO_FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def wait_until_drawn(page: Page, selector: str = "") -> None:
    """Wait until the page's script has ended and, with a selector, until that can be seen too."""
    page.wait_for_selector(f"{RESTING} {selector}".strip())


def wait_until_still(page: Page) -> None:
    """Wait until the page is drawn and its parts have faded in."""
    wait_until_drawn(page)
    page.evaluate(STILL)


def wait_for_what_an_event_starts(page: Page) -> None:
    """Wait two drawn frames: a component that answers an event at all has done so by then."""
    page.evaluate(TWO_FRAMES)


def expect_no_sideways_scroll(page: Page) -> None:
    """Neither the page nor the part of it that Streamlit scrolls is wider than the screen.

    Waits, since a page that is being drawn may be too wide for a moment: a figure takes its width from its place.
    """
    page.wait_for_function(
        "() => [document.documentElement, document.querySelector('[data-testid=stMain]')]"
        ".every((box) => box === null || box.scrollWidth <= box.clientWidth)"
    )


def expect_nothing_cut_off(box: Locator) -> None:
    """The same for one part of a page, which would scroll or be clipped within itself."""
    box.page.wait_for_function("box => box.scrollWidth <= box.clientWidth", arg=box.element_handle())
