"""What the tests of the live page share: opening its file, its controls, and what it says of itself."""

import re
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

READY = re.compile("^Ready: wren-base")
EVERYTHING = "#view=full"
LIVE = ".stage[data-run^='live'][data-done]"


def told(page: Page) -> Locator:
    return page.locator(".state .told")


def control(page: Page, name: str) -> Locator:
    return page.locator(f".asked [name={name}]")


def open_file(page: Page, path: Path, fragment: str = EVERYTHING) -> None:
    page.goto(f"{path.as_uri()}{fragment}")
    expect(told(page)).to_have_text(READY)
