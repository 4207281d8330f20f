"""How fast the app reacts, measured in headless Chromium on this machine: first content, memory, another draft.

    python -m benchmarks.app [--repeats 5] [--out FILE]

Needs the development requirements and a Chromium (CHROMIUM= names one). A run of another draft is not in the run store:
each measured change is decoded, by both decoders, 64 tokens.
"""

import time
from collections.abc import Iterator
from statistics import median

from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from benchmarks.serving import served
from benchmarks.timing import asked, here, report, rounded
from scripts.find_chromium import find_chromium

SIZE: ViewportSize = {"width": 1280, "height": 720}
DRAFTS = ("wren-small", "wren-mini")
PLOTS = ("acceptance", "speedup", "lengths")
SETTLED = 6.0  # seconds, in which what is loaded late has come, or the costs of a pair are measured
LONG = 60_000  # ms


def main() -> None:
    options, chromium = asked(__doc__, {"--repeats": 5}), find_chromium(install=False)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        texts, tokens = zip(*(first_content(browser) for _ in range(options.repeats)), strict=True)
        with served() as server:
            page = open_app(browser, server.url, "?view=full")
            page.get_by_role("button", name="Run again").click()  # so that models are loaded and warm
            page.wait_for_selector(".stage[data-run^=live][data-done]", timeout=LONG)
            time.sleep(SETTLED)
            memory = server.memory()
        with served() as server:
            page = open_app(browser, server.url, "?view=simple")
            first, points, whole = zip(*changes(page, options.repeats), strict=True)
        browser.close()
    found = {
        "first_content_seconds": texts,
        "first_tokens_seconds": tokens,
        "seconds_from_another_draft_to_its_first_rounds": first,
        "seconds_from_another_draft_to_a_point_in_all_plots": points,
        "seconds_from_another_draft_to_all_curves": whole,
    }
    shown = {name: rounded({"median": median(s), "min": min(s), "max": max(s)}) for name, s in found.items()}
    report(here() | shown | {"memory": memory}, options.out)


def open_app(browser: Browser, url: str, query: str = "") -> Page:
    page = browser.new_page(viewport=SIZE)
    page.goto(f"{url}/{query}", wait_until="commit")
    page.wait_for_selector(".stage .round .chip")
    return page


def first_content(browser: Browser) -> tuple[float, float]:
    """Seconds from opening a fresh server to the first sentence and the first tokens on screen."""
    with served() as server:
        page = browser.new_page(viewport=SIZE)
        began = time.perf_counter()
        page.goto(server.url, wait_until="commit")
        page.wait_for_selector("[data-testid=stMarkdown]")
        text = time.perf_counter() - began
        page.wait_for_selector(".stage .round .chip")
        tokens = time.perf_counter() - began
        page.close()
    return text, tokens


def changes(page: Page, repeats: int) -> Iterator[tuple[float, float, float]]:
    """Seconds of each change of the draft, see `choose`. A draft length is asked for once: no run is stored already."""
    choose(page, DRAFTS[0])  # models are loaded, and the pair is calibrated
    time.sleep(SETTLED)
    for turn in range(repeats):
        yield choose(page, DRAFTS[(turn + 1) % 2])
        time.sleep(SETTLED)
        before = page.locator(".stage").get_attribute("data-run")
        page.get_by_role("button", name="One token more").click()
        page.wait_for_selector(f".stage:not([data-run='{before}'])[data-done]", timeout=LONG)
        time.sleep(SETTLED)


def choose(page: Page, draft: str) -> tuple[float, float, float]:
    """From the press on a draft in the menu to the first rounds of its run, to a point of it in each plot, to its end.

    Only the end brings the curves over draft lengths: the draft's guesses along the whole output are known then.
    """
    page.get_by_label("Draft", exact=True).click()
    option = page.get_by_role("option").filter(has_text=draft)
    option.wait_for()
    before = page.locator(".stage").get_attribute("data-run")
    began = time.perf_counter()
    option.click()
    new = f".stage:not([data-run='{before}'])"
    page.wait_for_selector(new, timeout=LONG)
    first = time.perf_counter() - began
    for plot in PLOTS:
        page.wait_for_selector(f"{new} [data-figure={plot}] .plot .dot:not(.pale)", state="attached", timeout=LONG)
    points = time.perf_counter() - began
    page.wait_for_selector(f"{new}[data-done]", timeout=LONG)
    return first, points, time.perf_counter() - began


if __name__ == "__main__":
    main()
