"""The engine in the browser, in headless Chromium: a token, a run, a change, a visit, and the speedup by kind of text.

    python -m benchmarks.browser_engine [--repeats 5] [--out FILE]

Needs the development requirements and a Chromium (CHROMIUM= names one). Both decoders take turns. The draft length
of a prompt is the best one on the other prompts of its kind.
"""

import argparse
import os
import threading
import time
from dataclasses import asdict, replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import geometric_mean, median
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.app import chromium, summary
from benchmarks.timing import report
from specviz.core.intervals import interval_of_ratios
from specviz.core.metrics import costs, speedup
from specviz.core.settings import DecodeSettings
from specviz.core.trace import Trace, parse_trace
from specviz.data.workloads import WORKLOADS
from specviz.models.devices import describe_machine
from specviz.player.live import write_site

TARGET, DRAFT = "wren-base", "wren-nano"
LENGTHS = (1, 2, 3, 4, 5, 7)
SETTINGS = DecodeSettings(max_new_tokens=64)
READY = "[...document.querySelectorAll('.state .told')].some((told) => told.textContent.startsWith('Ready'))"
# A thread of its own with the page's engine and models; decode(request) gives the trace and when its parts came.
ENGINE = """async () => {
    const made = JSON.parse(document.querySelector('#live').textContent);
    const script = new Blob([document.querySelector('#engine').textContent], { type: 'text/javascript' });
    const thread = new Worker(URL.createObjectURL(script));
    const models = Object.fromEntries(Object.entries(made.models).map(([name, model]) => [name, {
        ...model, tokenizer: made.tokenizer, weights: new URL(model.weights, document.baseURI).href }]));
    await new Promise((resolve) => {
        thread.onmessage = ({ data }) => data.kind === 'ready' && resolve();
        thread.postMessage({ kind: 'open', models });
    });
    let id = 0;
    window.decode = (request) => new Promise((resolve) => {
        const began = performance.now();
        let first = null;
        id += 1;
        thread.onmessage = ({ data }) => {
            first ??= performance.now() - began;
            if (data.kind === 'done') resolve({ trace: data.trace, first, whole: performance.now() - began });
        };
        thread.postMessage({ kind: 'run', id, request });
    });
}"""
DECODE = "(request) => window.decode(request).then((made) => ({ ...made, trace: JSON.stringify(made.trace) }))"
CHANGE = """(draft) => new Promise((resolve) => {
    const stage = document.querySelector('.stage'), select = document.querySelector('.asked [name=draft]');
    const before = stage.dataset.run, began = performance.now();
    new MutationObserver((_, observer) => {
        if (stage.dataset.run === before) return;
        observer.disconnect();
        resolve(performance.now() - began);
    }).observe(stage, { attributes: true });
    select.value = draft;
    select.dispatchEvent(new Event('change', { bubbles: true }));
})"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out")
    options = parser.parse_args()
    busy = os.getloadavg()[0]
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        url = serve(folder)
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page()
        visit(page, url)
        ready = [visit(page, url) for _ in range(options.repeats)]
        changes = [change(page, ("wren-small", "wren-mini")[turn % 2]) for turn in range(options.repeats)]
        page.evaluate(ENGINE)
        found = measured(page, options.repeats)
        kinds = {workload.name: of_kind(page, [each.text for each in workload.prompts[:4]]) for workload in free()}
        version = browser_name(browser)
        browser.close()
    report(
        {
            "machine": describe_machine().machine,
            "browser": version,
            "load_before": round(busy, 2),
            "load_after": round(os.getloadavg()[0], 2),
            "seconds_from_a_visit_with_cached_models_until_ready": summary(ready),
            "ms_from_a_change_to_the_first_round_on_screen": summary(changes),
            **found,
            "speedup_by_kind_of_text": kinds,
        },
        options.out,
    )


def serve(folder: str) -> str:
    write_site(Path(folder))

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/"


def visit(page: Page, url: str) -> float:
    """Seconds until all four models can run."""
    began = time.perf_counter()
    page.goto(url)
    while not page.evaluate(READY):
        time.sleep(0.01)
    return time.perf_counter() - began


def change(page: Page, draft: str) -> float:
    took = float(page.evaluate(CHANGE, draft))
    time.sleep(1.5)  # the run ends
    return took


def decode(page: Page, prompt: str, length: int) -> tuple[Trace, float]:
    """The run, and the seconds from asking for it until both decoders had written."""
    settings = asdict(replace(SETTINGS, draft_length=length))
    request = {"prompt": prompt, "target": TARGET, "draft": DRAFT, "settings": settings}
    made: dict[str, Any] = page.evaluate(DECODE, request)
    return parse_trace(made["trace"]), made["whole"] / 1000


def measured(page: Page, repeats: int) -> dict[str, Any]:
    """A plain token, both decoders' 64 tokens, and what a check of five tokens costs."""
    prompt = WORKLOADS[0].prompts[0].text
    decode(page, prompt, 4)
    runs = [decode(page, prompt, 4) for _ in range(repeats)]
    known = [found for trace, _ in runs if (found := costs(trace))]
    return {
        "run_on": runs[0][0].recorded_on.machine,
        "ms_for_one_plain_token": summary([1000 * each.step_seconds for each in known]),
        "seconds_for_64_tokens_of_both_decoders": summary([seconds for _, seconds in runs]),
        "v_of_5": summary([each.verification[5] for each in known]),
        "cost_of_a_guess": summary([each.cost_ratio for each in known]),
    }


def free() -> list[Any]:
    return [workload for workload in WORKLOADS if workload.prompts[0].grammar is None]


def of_kind(page: Page, prompts: list[str]) -> dict[str, Any]:
    """The speedup over these prompts, each at the draft length that is best on the others."""
    table = {prompt: {length: ratio(page, prompt, length) for length in LENGTHS} for prompt in prompts}
    chosen = {prompt: best(table, prompt) for prompt in prompts}
    ratios = [table[prompt][length] for prompt, length in chosen.items()]
    low, high = interval_of_ratios(ratios)
    return {
        "speedup": round(geometric_mean(ratios), 3),
        "interval": [round(low, 3), round(high, 3)],
        "prompts": len(prompts),
        "draft_lengths": list(chosen.values()),
    }


def ratio(page: Page, prompt: str, length: int) -> float:
    """The middle one of three runs."""
    return median(speedup(decode(page, prompt, length)[0]) or 0.0 for _ in range(3))


def best(table: dict[str, dict[int, float]], left_out: str) -> int:
    others = [row for prompt, row in table.items() if prompt != left_out]
    return max(LENGTHS, key=lambda length: geometric_mean(row[length] for row in others))


def browser_name(browser: Browser) -> str:
    return f"Chromium {browser.version.split('.')[0]}, headless"


if __name__ == "__main__":
    main()
