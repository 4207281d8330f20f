"""The engine in the browser, in headless Chromium: a token, a run, a change, a visit, and the speedup by kind of text.

    python -m benchmarks.browser_engine [--repeats 5] [--phone] [--out FILE]

Needs the development requirements and a Chromium (CHROMIUM= names one). Both decoders take turns. The draft length
of a prompt is the best one on the other prompts of its kind. --phone compares a Chromium that has a whole core for each
of its threads with one whose processes together get one sixth of one core (Linux, as root): a phone.
"""

import argparse
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
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
from specviz.core.trace import Round, Trace, parse_trace
from specviz.data.prompts.workloads import WORKLOADS
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
# The same, until the stage has the whole run; it gives the time of the first round.
WHOLE = CHANGE.replace(
    "observer.disconnect();\n        resolve(performance.now() - began);",
    """first ??= performance.now() - began;
        if (stage.dataset.done === undefined) return;
        observer.disconnect();
        resolve(first);""",
).replace("const before", "let first; const before")
CORE_SHARE = (1000, 6000)  # microseconds of processor time in each period: the shortest that Linux takes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--phone", action="store_true")
    parser.add_argument("--out")
    options = parser.parse_args()
    if options.phone:
        return report(phone(options.repeats), options.out)
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


def phone(repeats: int) -> dict[str, Any]:
    """Tokens a second of both decoders in a slowed Chromium and in another one, in turns."""
    busy = os.getloadavg()[0]
    with TemporaryDirectory() as folder, slowed(Path(folder)) as slow, sync_playwright() as playwright:
        url = serve(f"{folder}/site")
        paths = {"whole_processor": chromium(), "one_sixth_of_one_core": slow}
        launch = partial(playwright.chromium.launch, args=["--no-sandbox"])
        browsers = {name: launch(executable_path=path) for name, path in paths.items()}
        pages = {name: browser.new_page() for name, browser in browsers.items()}
        ready = {name: visit(page, url) for name, page in pages.items()}
        for page in pages.values():
            page.evaluate(ENGINE)
        turns: dict[str, list[dict[str, float]]] = {name: [] for name in pages}
        for turn in range(repeats + 1):
            for name, page in pages.items():
                rates = on_phone(page)
                if turn:
                    turns[name].append(rates)
        version = browser_name(browsers["whole_processor"])
        for browser in browsers.values():
            browser.close()
    found = {
        name: {
            "seconds_of_a_first_visit_until_ready": round(ready[name], 3),
            **{what: summary([rates[what] for rates in made]) for what in made[0]},
        }
        for name, made in turns.items()
    }
    return {
        "machine": describe_machine().machine,
        "browser": version,
        "load_before": round(busy, 2),
        "load_after": round(os.getloadavg()[0], 2),
        "microseconds_of_processor_time_in_each_period": CORE_SHARE,
        **found,
    }


def on_phone(page: Page) -> dict[str, float]:
    """Tokens a second by the page's own times, which go on while it waits for the processor, and by a clock outside.

    And the milliseconds from a change to the first round on screen, with the parts that the engine's own trace has.
    """
    made: dict[str, float] = {}
    for length in (1, SETTINGS.draft_length):
        began = time.perf_counter()
        trace, _ = decode(page, WORKLOADS[0].prompts[0].text, length)
        outside = time.perf_counter() - began
        assert trace.autoregressive is not None
        written = len(trace.output.token_ids)
        made |= {
            f"tokens_a_second_plain_beside_length_{length}": written / sum(trace.autoregressive.seconds_per_token),
            f"tokens_a_second_speculative_at_length_{length}": written / sum(map(seconds_of, trace.rounds)),
            f"tokens_a_second_of_both_by_the_outer_clock_at_length_{length}": 2 * written / outside,
        }
    page.evaluate(WHOLE, "prompt-lookup")
    began = time.perf_counter()
    first = page.evaluate(WHOLE, DRAFT)
    on_screen = 2 * written / (time.perf_counter() - began)
    read, round_ = trace.prefill_seconds, trace.rounds[0]
    return made | {
        "tokens_a_second_of_both_on_screen_by_the_outer_clock": on_screen,
        "ms_from_a_change_to_the_first_round_on_screen": first,
        "ms_of_the_target_for_the_prompt": 1000 * (read.target or 0),
        "ms_of_the_draft_for_the_prompt": 1000 * (read.draft or 0),
        "ms_of_the_first_round": 1000 * seconds_of(round_),
    }


def seconds_of(round_: Round) -> float:
    return (round_.draft_seconds or 0) + (round_.verify_seconds or 0) + (round_.overhead_seconds or 0)


@contextmanager
def slowed(folder: Path) -> Iterator[str]:
    """A Chromium whose processes together get this share of one core: the quota of a cgroup, version 1 or 2."""
    quota, period = CORE_SHARE
    of_old = Path("/sys/fs/cgroup/cpu")
    group = (of_old if of_old.is_dir() else of_old.parent) / f"specviz-{os.getpid()}"
    limits: dict[str, object] = {"cpu.max": f"{quota} {period}", "cpu.weight": 10_000}  # it gets all of its share
    if of_old.is_dir():
        limits = {"cpu.cfs_period_us": period, "cpu.cfs_quota_us": quota, "cpu.shares": 262_144}
    group.mkdir()
    try:
        for name, limit in limits.items():
            (group / name).write_text(str(limit))
        script = folder / "chromium"
        script.write_text(f'#!/bin/sh\necho $$ > {group}/cgroup.procs\nexec {chromium()} "$@"\n')
        script.chmod(0o755)
        yield str(script)
    finally:
        while (group / "cgroup.procs").read_text():
            time.sleep(0.1)  # the last processes end
        group.rmdir()


def browser_name(browser: Browser) -> str:
    return f"Chromium {browser.version.split('.')[0]}, headless"


if __name__ == "__main__":
    main()
