"""“Take this with you”, pressed by a class at once: what the server uses for it, beside the same files sent compressed.

python -m benchmarks.take_with [--visitors 30] [--out FILE]
"""

import argparse
import os
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread
from typing import Any

from playwright.sync_api import sync_playwright

from benchmarks.app import chromium
from benchmarks.serving import Server, resident_mb, served
from benchmarks.timing import report
from specviz.models.devices import describe_machine

CHUNK = 65_536


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visitors", type=int, default=30)
    parser.add_argument("--out")
    options = parser.parse_args()
    load = [round(each, 2) for each in os.getloadavg()]
    with served() as server:
        files, seconds = press(server)
        asked = {"as_the_page_asks": {"Range": "bytes=0-"}, "compressed": {"Accept-Encoding": "gzip"}}
        found = {name: loaded_by(server, files, headers, options.visitors) for name, headers in asked.items()}
    about = {"machine": describe_machine().machine, "load_average_before": load, "visitors": options.visitors}
    report(about | {"one_press_seconds": seconds} | found, options.out)


def press(server: Server) -> tuple[list[str], float]:
    """One visitor takes the file: which files that loads, and the seconds from the press to the saved file."""
    files: list[str] = []
    with sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"]).new_page()
        page.goto(f"{server.url}/?view=full")
        page.wait_for_selector(".stage .round .chip")
        page.get_by_text("Save this run, or open one").click()
        button = page.get_by_role("button", name="Take this with you")
        button.wait_for()
        page.on("request", lambda request: files.append(request.url) if "app/static" in request.url else None)
        began = time.perf_counter()
        with page.expect_download():
            button.click()
        return files, round(time.perf_counter() - began, 2)


def loaded_by(server: Server, files: list[str], headers: dict[str, str], visitors: int) -> dict[str, Any]:
    """All visitors load the files at once."""
    most, over = [resident_mb(server.process)], Event()

    def watch() -> None:
        while not over.wait(0.01):
            most.append(resident_mb(server.process))

    def load(_: int) -> int:
        return sum(bytes_of(file, headers) for file in files)

    watcher = Thread(target=watch)
    watcher.start()
    used, began = server.processor_seconds(), time.perf_counter()
    with ThreadPoolExecutor(visitors) as pool:
        sizes = list(pool.map(load, range(visitors)))
    seconds = time.perf_counter() - began
    over.set()
    watcher.join()
    return {
        "bytes_each": sizes[0],
        "seconds": round(seconds, 2),
        "processor_seconds": round(server.processor_seconds() - used, 2),
        "memory_mb_before": most[0],
        "memory_mb_most": max(most),
    }


def bytes_of(file: str, headers: dict[str, str]) -> int:
    with urllib.request.urlopen(urllib.request.Request(file, headers=headers)) as answer:
        return sum(len(chunk) for chunk in iter(lambda: answer.read(CHUNK), b""))


if __name__ == "__main__":
    main()
