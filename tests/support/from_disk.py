"""A page that a browser opens from disk."""

from pathlib import Path

from playwright.sync_api import BrowserContext, Page


def open_from_disk(context: BrowserContext, file: Path, text: str) -> tuple[Page, list[str]]:
    """Write the page and open it; also what it says, and what it asks of a network."""
    file.write_text(text, encoding="utf-8")
    page, heard = context.new_page(), list[str]()
    page.on("console", lambda message: heard.append(message.text))
    page.on("request", lambda asked: heard.append(asked.url) if not asked.url.startswith(file.as_uri()) else None)
    page.goto(file.as_uri())
    return page, heard
