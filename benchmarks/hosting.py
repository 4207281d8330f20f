"""What a small host gives and the app needs: seconds from the server's start to the first tokens, and memory.

    python -m benchmarks.hosting [--entry serve.py] [--repeats 3] [--visitors 10] [--out FILE]

A host that puts idle apps to sleep starts the server with the first visitor. So the clock starts with the server's
process, and a new browser window opens the first page as soon as the health check answers. The memory is the largest
sum of server and engine, looked at 20 times a second: what both share is counted twice, so a container counts less.
"""

import argparse
import asyncio
import os
import time
from threading import Event, Thread

from playwright.sync_api import Browser, sync_playwright

from benchmarks.app import chromium, summary
from benchmarks.classroom import settle
from benchmarks.crowds import crowd, opens, rounded
from benchmarks.serving import Server, served
from benchmarks.timing import report
from benchmarks.visitors import RunTimes, Visitor
from specviz.models.devices import describe_machine
from specviz.ui.shared.engine import HEAD_START_SECONDS

PATIENCE = 120_000  # ms


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entry", default="serve.py", help="the file that Streamlit runs")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--visitors", type=int, default=10)
    parser.add_argument("--out")
    options = parser.parse_args()
    load = rounded(os.getloadavg())
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        woken = [wake(browser, options.entry) for _ in range(options.repeats)]
        browser.close()
    report(
        {
            "machine": describe_machine().machine,
            "load_average_before": load,
            "entry": options.entry,
            "waking_up_seconds": {name: summary([one[name] for one in woken]) for name in woken[0]},
            "most_memory_mb": asyncio.run(most_memory(options.entry, options.visitors)),
        },
        options.out,
    )


def wake(browser: Browser, entry: str) -> dict[str, float]:
    """Seconds from the start of a fresh server's process to its health, the first tokens, and the engine's process."""
    began = time.perf_counter()
    with served(entry=entry) as server:
        healthy = time.perf_counter() - began
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.set_default_timeout(PATIENCE)
        page.goto(server.url, wait_until="commit")
        page.wait_for_selector(".stage .round .chip")
        tokens = time.perf_counter() - began
        page.goto(f"{server.url}/?preset=story-1&tokens=16")  # needs the engine
        page.wait_for_selector(".stage[data-run^=live]")
        live = time.perf_counter() - began
        page.close()
    return {"healthy": healthy, "first_tokens": tokens, "first_round_of_a_live_run": live}


class Most(Thread):
    """The largest memory of server and engine together so far, in MB."""

    def __init__(self, server: Server) -> None:
        super().__init__(daemon=True)
        self.mb = 0.0
        self._server, self._over = server, Event()

    def run(self) -> None:
        while not self._over.wait(0.05):
            self.mb = max(self.mb, self._server.memory()["together_mb"])

    def stop(self) -> None:
        self._over.set()
        self.join()


async def most_memory(entry: str, visitors: int) -> dict[str, float]:
    """After the first screen and the engine's start, after one visitor's run, and after many visitors' own runs."""

    async def look(visitor: Visitor, _: int) -> list[RunTimes]:
        await visitor.open()
        await visitor.first_script()
        return []

    with served(entry=entry) as server:
        most, found = Most(server), {}
        most.start()
        await crowd(server, 1, look)
        await asyncio.sleep(HEAD_START_SECONDS)
        await settle(server)
        found["first_screen_and_engine"] = most.mb
        await crowd(server, 1, opens(1))
        found["one_visitor"] = most.mb
        await crowd(server, visitors, opens(100))
        found[f"{visitors}_visitors"] = most.mb
        most.stop()
        found["at_the_end"] = server.memory()["together_mb"]
    return found


if __name__ == "__main__":
    main()
