"""How fast the app reacts, measured in headless Chromium on this machine: first content, frames, memory.

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

LIVE_TOKENS = ".stage[data-run^=live] .round .chip"
SETTLED = 8.0  # seconds after the server answers: its engine is ready, and no one has visited it
FRAMES = """seconds => new Promise(done => {
    const times = []; let last = performance.now(); const end = last + 1000 * seconds;
    const tick = now => { times.push(now - last); last = now; now < end ? requestAnimationFrame(tick) : done(times); };
    requestAnimationFrame(tick);
})"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out")
    options = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        first = [first_content(browser) for _ in range(options.repeats)]
        opened = [live_tokens_of_a_link(browser, after) for after in (0.0, SETTLED) for _ in range(options.repeats)]
        asked = [live_tokens_once_asked_for(browser) for _ in range(options.repeats)]
        with served() as server:
            page = open_app(browser, server.url, "?view=full")
            wait_for_engine(page)
            memory = server.memory()
            frames = play_many_tokens(browser, server.url)
        browser.close()
    report(
        {
            "machine": describe_machine().machine,
            "first_content_seconds": summary([one["text"] for one in first]),
            "first_tokens_seconds": summary([one["tokens"] for one in first]),
            "first_live_tokens_of_a_fresh_server_seconds": {
                "from opening a link with settings, as soon as the server answers": summary(opened[: options.repeats]),
                f"the same, {SETTLED:.0f} s later": summary(opened[options.repeats :]),
                "from Run again, as soon as the recorded run is on the first screen": summary(asked),
            },
            "frame_ms_playing_256_tokens_at_4x": frames,
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


def live_tokens_of_a_link(browser: Browser, after: float) -> float:
    """Seconds from opening a link with settings on a fresh server, so long after its start, to that run's tokens."""
    with served() as server:
        time.sleep(after)
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        began = time.perf_counter()
        page.goto(f"{server.url}/?preset=story-1&tokens=64", wait_until="commit")
        page.wait_for_selector(LIVE_TOKENS, timeout=60_000)
        seconds = time.perf_counter() - began
        page.close()
    return seconds


def live_tokens_once_asked_for(browser: Browser) -> float:
    """Seconds from "Run again" to that run's tokens, where a visitor presses it at once on a fresh server."""
    with served() as server:
        page = open_app(browser, server.url, "?view=full")
        button = page.get_by_role("button", name="Run again")
        button.wait_for()
        began = time.perf_counter()
        button.click()
        page.wait_for_selector(LIVE_TOKENS, timeout=60_000)
        seconds = time.perf_counter() - began
        page.close()
    return seconds


def wait_for_engine(page: Page) -> None:
    """One run to the end, so that models are loaded and warm."""
    page.get_by_role("button", name="Run again").click()
    page.wait_for_selector(".stage[data-run^=live][data-done]", timeout=60_000)
    time.sleep(6)  # the costs are being measured in the background


def play_many_tokens(browser: Browser, url: str) -> dict[str, float]:
    """Frame times while the stage plays a run of 256 tokens at its highest speed."""
    page = open_app(browser, url, "?preset=story-1&tokens=256&gamma=4")
    page.wait_for_selector(".stage[data-run^=live][data-done]", timeout=60_000)
    time.sleep(6)
    page.locator(".stage .speed").select_option("4")
    page.get_by_role("button", name="First step").click()
    page.get_by_role("button", name="Play", exact=True).click()
    frames: list[float] = page.evaluate(FRAMES, 12)
    page.close()
    over = sum(frame > 100 for frame in frames)
    return summary(frames) | {"frames": len(frames), "over_100_ms": over}


if __name__ == "__main__":
    main()
