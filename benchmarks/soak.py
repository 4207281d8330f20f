"""Thirty visitors do random things for ten minutes, and the engine is killed every minute.

    python -m benchmarks.soak [--visitors 30] [--seconds 600] [--kill-every 60] [--seed 1] [--log FILE] [--out FILE]

They open links (some of them rubbish), change settings in the middle of a run, begin long measurements and leave them,
upload harmful files, close the tab and come back. Held to: every run that a visitor stays for arrives, or the visitor
is told why not and gets it after "Run again"; no error on a page or in the server's log; the server's memory is flat.
"""

import argparse
import asyncio
import os
import random
import re
import subprocess
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic
from urllib.parse import urlencode

from websockets.exceptions import WebSocketException

from benchmarks.classroom import held_to, settle
from benchmarks.crowds import Part, rounded, waits
from benchmarks.serving import ROOT, HealthCheck, Server, served
from benchmarks.timing import report
from benchmarks.visitors import RunTimes, Visitor, run_link, visiting
from specviz.models.devices import describe_machine

SEEDS = 60  # of the runs that visitors open, so that some ask for the same one
PAGES = ("", "race", "helps", "worksheet", "learn", "proof", "play")
LONG_WORK = {"race": "race_start", "helps": "sweep_start", "proof": "proof_draw", "play": "play_skip"}
RUBBISH = ("\x00", "9" * 5000, "-1", "NaN", "<script>", "../../etc/passwd", "[]", "é́" * 50, "1e309")
LINK_WORDS = ("preset", "target", "draft", "gamma", "temperature", "tokens", "seed", "run", "prompt", "format", "tab")
FILES = (
    b"",
    b"\x1f\x8b\x08\x00rubbish",
    b'{"rounds":[' + b",".join([b"{}"] * 20_000) + b"]}",
    b"[" * 200_000,
    b"workload,prompt\n" + b"x,y\n" * 100_000,
    b'{"schema": 1, "rounds": "' + b"9" * 1_000_000 + b'"}',
)
UPLOADS = {"": "trace_file", "helps": "sweep_file"}
MEMORY_EVERY = 5.0  # seconds between two looks
PATIENCE = 300.0  # seconds that a visitor waits for one run, and presses "Run again" where it failed
REFUSED = re.compile(r"do not fit|control characters")  # what no engine could run: pressing "Run again" does not help
FAULT = re.compile(rb"Traceback|\bERROR\b|CRITICAL|Exception")


@dataclass
class Seen:
    """What all visitors have seen so far."""

    runs: list[RunTimes] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)  # by the name of what was done
    errors: list[str] = field(default_factory=list)
    told: Counter[str] = field(default_factory=Counter)  # sentences


Act = Callable[[Visitor, random.Random, Seen], Awaitable[None]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visitors", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--kill-every", type=float, default=60.0, help="seconds; 0: never")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", type=Path, help="where the server's log goes, to be read afterwards")
    parser.add_argument("--out")
    options = parser.parse_args()
    load = os.getloadavg()
    with TemporaryDirectory() as folder:
        log = options.log or Path(folder, "server.log")
        with served(log) as server:
            part = asyncio.run(soak(server, options))
        faults = [line.decode("utf-8", "replace")[:300] for line in log.read_bytes().splitlines() if FAULT.search(line)]
    part["log_faults"] = faults[:20]
    part["held_to"].append(held_to("lines of the server's log that tell of an error", len(faults), 0))
    commit = subprocess.check_output(["git", "describe", "--always", "--dirty"], cwd=ROOT, text=True).strip()
    about = {"machine": describe_machine().machine, "commit": commit, "load_average_before": rounded(load)}
    report(about | {name: str(value) for name, value in vars(options).items()} | part, options.out)


async def soak(server: Server, options: argparse.Namespace) -> Part:
    """All visitors at once, with the engine killed again and again; what they saw, and the server's memory."""
    seen, until = Seen(), monotonic() + options.seconds
    memory: list[tuple[float, float, float]] = []
    beside = [asyncio.create_task(watch_memory(server, memory))]
    if options.kill_every:
        beside.append(asyncio.create_task(kill_engines(server, options.kill_every, seen)))
    with HealthCheck(server) as health:
        one_each = (live(server, random.Random(options.seed * 1000 + n), until, seen) for n in range(options.visitors))
        await asyncio.gather(*one_each)
    for task in beside:
        task.cancel()
    await settle(server)
    grown = growth([megabytes for _, megabytes, _ in memory])
    return {
        "done": dict(seen.done.most_common()),
        **waits(seen.runs),
        "page_errors": seen.errors[:10],
        "sentences": dict(seen.told.most_common(40)),
        "longest_health_check_seconds": round(max(health.seconds), 2),
        "memory_seconds_server_engine": memory[:: max(1, len(memory) // 30)],
        "memory_after": server.memory(),
        "held_to": [
            held_to("runs that did not arrive", sum(run.whole is None for run in seen.runs), 0),
            held_to("errors on pages", len(seen.errors), 0),
            held_to("server's memory, last quarter over second quarter, MB", grown, 20),
            held_to("most memory of server and engine, MB", max(a + b for _, a, b in memory), 690),
        ],
    }


# ---- what goes on beside the visitors


async def watch_memory(server: Server, memory: list[tuple[float, float, float]]) -> None:
    """Note the seconds, the server's and the engine's megabytes from time to time."""
    began = monotonic()
    while True:
        used = server.memory()
        memory.append((round(monotonic() - began), used["server_mb"], used["engine_mb"]))
        await asyncio.sleep(MEMORY_EVERY)


async def kill_engines(server: Server, every: float, seen: Seen) -> None:
    """Kill the engine from time to time."""
    while True:
        await asyncio.sleep(every)
        for engine in server.engines():
            engine.kill()
            seen.done["the engine was killed"] += 1


def growth(megabytes: list[float]) -> float:
    """Of the last quarter's median over the second quarter's; the first quarter warms up."""
    quarter = len(megabytes) // 4
    return round(median(megabytes[-quarter:]) - median(megabytes[quarter : 2 * quarter]), 1)


# ---- one visitor


async def live(server: Server, rng: random.Random, until: float, seen: Seen) -> None:
    """Come, do a few things, close the tab, come back; until the time is up.

    A link always opens a session of its own, as in a browser.
    """
    while monotonic() < until:
        query, page = rng.choices((any_link(rng), rubbish_link(rng), "view=full"), (5, 2, 2))[0], rng.choice(PAGES)
        try:
            async with visiting(server.port) as visitor:
                if query.startswith("preset="):
                    seen.done["opens a link"] += 1
                    await open_link(visitor, rng, seen, query)
                else:
                    seen.done["opens a page" if query == "view=full" else "opens rubbish"] += 1
                    await visitor.open(query, page)
                    await visitor.first_script()
                for act in rng.choices(ACTS, k=rng.randint(0, 4)):
                    await visitor.stay(rng.uniform(0.5, 15))
                    if monotonic() < until:
                        seen.done[act.__name__] += 1
                        await act(visitor, rng, seen)
                await visitor.stay(rng.uniform(0, 10))
                seen.errors += visitor.errors
                seen.told.update(set(visitor.messages))
        except (OSError, WebSocketException) as error:
            seen.errors.append(repr(error))


def any_link(rng: random.Random) -> str:
    """To one of the runs that visitors ask for."""
    return run_link(20_000 + rng.randrange(SEEDS), rng.randint(1, 8))


def rubbish_link(rng: random.Random) -> str:
    """A link that no page has written."""
    return urlencode({rng.choice(LINK_WORDS): rng.choice(RUBBISH) for _ in range(4)})


async def open_link(visitor: Visitor, rng: random.Random, seen: Seen, link: str) -> None:
    """Open a link; most visitors stay until its run is over, some leave in the middle."""
    if rng.random() < 0.25:
        await visitor.open(link)
        await visitor.stay(rng.uniform(0, 2))
    else:
        await stay_for_run(visitor, visitor.open(link), seen)


async def stay_for_run(visitor: Visitor, ask: Awaitable[None], seen: Seen) -> None:
    """Stay until the run is over; press "Run again" where the page says that it failed.

    A rubbish link's prompt can be one that no engine could run: then the page has said why, and no run is lost.
    """
    came = monotonic()
    run = await visitor.run(ask)
    while run.whole is None and monotonic() < came + PATIENCE:
        if REFUSED.search(visitor.problem):
            seen.done["told that the prompt cannot be run"] += 1
            return
        await visitor.stay(1)
        run = await visitor.run(visitor.press("again") if visitor.problem else visitor.stay(0))
    seen.runs.append(run)


async def change_settings(visitor: Visitor, rng: random.Random, seen: Seen) -> None:
    """Change the temperature a few times, faster than runs are made, and stay for the last run."""
    if await on_page(visitor, "", "temperature"):
        for _ in range(rng.randint(0, 8)):
            await visitor.slide("temperature", rng.randrange(20) / 10)
            await visitor.stay(rng.uniform(0, 1.5))
        await stay_for_run(visitor, visitor.press("again"), seen)


async def begin_long_work(visitor: Visitor, rng: random.Random, _: Seen) -> None:
    """Begin a race, a sweep, a proof or a game; leave it soon or later."""
    page = rng.choice(sorted(LONG_WORK))
    if await on_page(visitor, page, LONG_WORK[page]):
        await visitor.press(LONG_WORK[page])
        await visitor.stay(rng.choice((0.1, 2, 15)))


async def upload_rubbish(visitor: Visitor, rng: random.Random, _: Seen) -> None:
    """A file that is no trace and no list of prompts."""
    page = rng.choice(sorted(UPLOADS))
    if await on_page(visitor, page, UPLOADS[page]):
        await visitor.upload(UPLOADS[page], "prompts.txt" if page else "run.json", rng.choice(FILES))


async def look_around(visitor: Visitor, rng: random.Random, _: Seen) -> None:
    """Open a page and look at it."""
    await visitor.open(page=rng.choice(PAGES))


async def on_page(visitor: Visitor, page: str, widget: str) -> bool:
    """Open this page; whether the widget with this key is there."""
    visitor.widgets.clear()
    await visitor.open(page=page)
    return await visitor.stay_until(lambda: widget in visitor.widgets, 60) is not None


ACTS: list[Act] = [change_settings, change_settings, begin_long_work, upload_rubbish, look_around]


if __name__ == "__main__":
    main()
