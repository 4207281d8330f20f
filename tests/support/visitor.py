"""What the browser tests have in common: waiting until a page stands still, and looking at its width."""

from playwright.sync_api import Locator, Page

RESTING = "[data-testid=stApp][data-test-script-state=notRunning]"


def wait_until_drawn(page: Page, selector: str = "") -> None:
    """Wait until the page's script has ended and, with a selector, until that is to be seen too."""
    page.wait_for_selector(f"{RESTING} {selector}".strip())


def expect_no_sideways_scroll(page: Page) -> None:
    """Waits, since a page being drawn may be too wide for a moment: a figure takes its width from its place."""
    page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")


def expect_nothing_cut_off(box: Locator) -> None:
    """The same of one part of a page, which would scroll or be clipped within itself."""
    box.page.wait_for_function("box => box.scrollWidth <= box.clientWidth", arg=box.element_handle())
