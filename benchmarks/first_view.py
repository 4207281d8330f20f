"""Watch's first view in headless Chromium: how soon another draft is in all plots.

    python -m benchmarks.first_view [--repeats 5] [--out FILE]

Needs the development requirements and a Chromium (CHROMIUM= names one). A run of another draft is not in the run store:
each measured change is decoded, by both decoders, 64 tokens.
"""

import argparse
import os
import time
from collections.abc import Iterator

from playwright.sync_api import Page, sync_playwright

from benchmarks.app import chromium, open_app, summary
from benchmarks.serving import served
from benchmarks.timing import report
from specviz.models.devices import describe_machine

DRAFTS = ("wren-small", "wren-mini")
PLOTS = ("acceptance", "speedup", "lengths")
SETTLED = 6.0  # seconds, in which what is loaded late has come, or the costs of a pair are measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out")
    options = parser.parse_args()
    busy = os.getloadavg()[0]
    with served() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = open_app(browser, server.url, "?view=simple")
        first, points, whole = zip(*changes(page, options.repeats), strict=True)
        browser.close()
    report(
        {
            "machine": describe_machine().machine,
            "load_before": round(busy, 2),
            "load_after": round(os.getloadavg()[0], 2),
            "seconds_from_another_draft_to_its_first_rounds": summary(list(first)),
            "seconds_from_another_draft_to_a_point_in_all_plots": summary(list(points)),
            "seconds_from_another_draft_to_all_curves": summary(list(whole)),
        },
        options.out,
    )


def changes(page: Page, repeats: int) -> Iterator[tuple[float, float, float]]:
    """Seconds of each change of the draft, see `choose`. A draft length is asked for once: no run is stored already."""
    choose(page, DRAFTS[0])  # models are loaded, and the pair is calibrated
    time.sleep(SETTLED)
    for turn in range(repeats):
        yield choose(page, DRAFTS[(turn + 1) % 2])
        time.sleep(SETTLED)
        longer(page)


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
    page.wait_for_selector(new, timeout=60_000)
    first = time.perf_counter() - began
    for plot in PLOTS:
        page.wait_for_selector(f"{new} [data-figure={plot}] .plot .dot:not(.pale)", state="attached", timeout=60_000)
    points = time.perf_counter() - began
    page.wait_for_selector(f"{new}[data-done]", timeout=60_000)
    return first, points, time.perf_counter() - began


def longer(page: Page) -> None:
    before = page.locator(".stage").get_attribute("data-run")
    page.get_by_role("button", name="One token more").click()
    page.wait_for_selector(f".stage:not([data-run='{before}'])[data-done]", timeout=60_000)
    time.sleep(SETTLED)


if __name__ == "__main__":
    main()
