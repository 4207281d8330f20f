"""How fast the app reacts, measured in headless Chromium on this machine: first content and memory.

    python -m benchmarks.app [--repeats 5] [--out FILE]

Needs the development requirements and a Chromium (CHROMIUM= names one).
"""

import argparse
import os
import subprocess
import sys
import time
from statistics import median

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.serving import ROOT, served
from benchmarks.timing import report
from specviz.models.devices import describe_machine


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out")
    options = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        first = [first_content(browser) for _ in range(options.repeats)]
        with served() as server:
            page = open_app(browser, server.url, "?view=full")
            wait_for_engine(page)
            memory = server.memory()
        browser.close()
    report(
        {
            "machine": describe_machine().machine,
            "first_content_seconds": summary([one["text"] for one in first]),
            "first_tokens_seconds": summary([one["tokens"] for one in first]),
            "memory": memory,
        },
        options.out,
    )


def summary(values: list[float]) -> dict[str, float]:
    return {"median": round(median(values), 3), "min": round(min(values), 3), "max": round(max(values), 3)}


def chromium() -> str:
    """The Chromium that CHROMIUM names, or one found on this machine."""
    command = [sys.executable, "scripts/find_chromium.py"]
    return os.environ.get("CHROMIUM") or subprocess.check_output(command, cwd=ROOT, text=True).strip()


def open_app(browser: Browser, url: str, query: str = "") -> Page:
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.goto(f"{url}/{query}", wait_until="commit")
    page.wait_for_selector(".stage .round .chip")
    return page


def first_content(browser: Browser) -> dict[str, float]:
    """Seconds from opening a fresh server to the first sentence and the first tokens on screen."""
    with served() as server:
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        began = time.perf_counter()
        page.goto(server.url, wait_until="commit")
        page.wait_for_selector("[data-testid=stMarkdown]")
        text = time.perf_counter() - began
        page.wait_for_selector(".stage .round .chip")
        tokens = time.perf_counter() - began
        page.close()
    return {"text": text, "tokens": tokens}


def wait_for_engine(page: Page) -> None:
    """One run to the end, so that models are loaded and warm."""
    page.get_by_role("button", name="Run again").click()
    page.wait_for_selector(".stage[data-run^=live][data-done]", timeout=60_000)
    time.sleep(6)  # the costs are being measured in the background


if __name__ == "__main__":
    main()
