"""Thirty visitors do random and harmful things for ten minutes, and the engine is killed every minute.

    python -m tests.load.soak [--visitors 30] [--seconds 600] [--warm-up 120] [--kill-every 60] [--seed 1]
        [--entries serve.py app.py] [--logs FOLDER] [--out FILE]

The warm-up is with the same visitors; a kill every 0 seconds is none. With each entry one after the other. They open
links (some of them rubbish), change settings in the middle of a run, begin long measurements and leave them, send every
harmful file, text and message of `tests/load/hostile.py`, attack the server below the app (`tests/load/attacks.py`),
close the tab and come back; one in three leaves without a word. Held:

- nothing is lost: every run that a visitor stays for arrives, or the visitor is told why not and gets it after "Run
  again";
- nobody is told a lie: all who see a run see the same text, and a fresh process that decodes it writes the same; what
  goes wrong is said by sentences, without an error on a page or in the server's log;
- the app server never has 1 GB of resident memory, and has at the end at most a tenth more than at the start. It has no
  limit: under one, what reads a message swallows the error, and an attack that takes all would not be seen.

The start is after a warm-up with the same visitors, when what they left is forgotten. No limit is one of time.
"""

import asyncio
import json
import math
import os
import random
import re
import subprocess
import sys
from argparse import Namespace
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import cycle, takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from urllib.parse import parse_qs

from websockets.exceptions import ConnectionClosed, WebSocketException

from benchmarks.classroom import held_to, settle
from benchmarks.serving import ROOT, Server, health_checked, served
from benchmarks.timing import asked, here, report, rounded
from specviz.core.files import TEXTS
from specviz.data.links.page_names import PAGES as NAMES
from specviz.data.prompts.workloads import find_preset
from tests.load.attacks import ATTACKS, once
from tests.load.hostile import BOXES, FULL, HELD, HOSTILE, MESSAGES, UPLOADS, any_file, any_text, rubbish_link
from tests.load.visitors import Part, RunTimes, Visitor, run_link, visiting, waits, written_in
from tests.support.known import known

SEEDS = 10  # of the runs that visitors open, so that several ask for the same one
PAGES = ("", *NAMES[1:])
LONG_WORK = {
    "race": "race_start",
    "when_it_helps": "when_it_helps_start",
    "same_quality": "same_quality_draw",
    "be_the_draft": "be_the_draft_skip",
}
GOOD = {"run.json": "trace-bom.json", "sweep.csv": "sweep-formula.csv", "prompts.txt": "prompts-bom.txt"}
MOST_MB = 1_000  # of the app server, resident
MEMORY_EVERY = 5.0  # seconds between two looks
STEADY = 60.0  # seconds without a fall: all that was left is forgotten
PATIENCE = 3_600.0  # seconds; a backstop for a run that never comes, far beyond what one needs
COMPARED = 5  # runs that are decoded once more
REFUSED = re.compile(r"do not fit|control characters|too long")  # what no engine could run, also not "Run again"
FAULT = re.compile(rb"Traceback|\bERROR\b|CRITICAL|Exception|MemoryError")
NO_SENTENCE = re.compile(r"Traceback|Exception|[a-z]Error\b|site-packages|\.py\b|0x[0-9a-f]{6}|<class |Errno|st\.")


class Left(Exception):
    """The visitor's connection has ended as it was meant to."""


@dataclass
class Seen:
    """What all visitors have seen so far."""

    runs: list[RunTimes] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)  # by the name of what was done
    errors: list[str] = field(default_factory=list)
    told: Counter[str] = field(default_factory=Counter)  # sentences
    written: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))  # run → what each saw of it
    links: dict[str, str] = field(default_factory=dict)  # link → the text of its run


Act = Callable[[Visitor, random.Random, Seen], Awaitable[None]]


def main() -> None:
    given = {"--visitors": 30, "--seconds": 600.0, "--warm-up": 120.0, "--kill-every": 60.0, "--seed": 1}
    options = asked(__doc__, given | {"--logs": (Path, None), "--entries": ([str], ["serve.py", "app.py"])})
    load = rounded({"load_average_before": [*os.getloadavg()]})
    commit = subprocess.check_output(["git", "describe", "--always", "--dirty"], cwd=ROOT, text=True).strip()
    parts = {entry: soaked(entry, options) for entry in options.entries}
    about = here() | {"commit": commit} | load
    about |= {name: str(value) for name, value in vars(options).items()}
    report(about | {"lost": sum(part["lost"] for part in parts.values()), "by_entry": parts}, options.out)


def soaked(entry: str, options: Namespace) -> Part:
    """With a fresh server; what its log says is held to, too."""
    with TemporaryDirectory() as folder:
        log = (options.logs or Path(folder)) / f"{entry}.log"
        with served(log, entry) as server:
            part = asyncio.run(soak(server, options))
        faults = [line.decode("utf-8", "replace")[:300] for line in log.read_bytes().splitlines() if FAULT.search(line)]
    part["log_faults"] = faults[:20]
    part["held_to"].append(held_to("lines of the server's log that tell of an error", len(faults), 0))
    return part


async def soak(server: Server, options: Namespace) -> Part:
    """All visitors at once, with the engine killed again and again; what they saw, and the server's memory."""
    seen, memory = Seen(), list[tuple[float, float, float]]()
    beside = asyncio.create_task(watch_memory(server, memory))
    with health_checked(server) as health:
        await see_everything(server)
        await crowd(server, options, options.warm_up, -1, seen)
        start = await steady_megabytes(server)
        await crowd(server, options, options.seconds, 1, seen)
        end = await steady_megabytes(server)
    beside.cancel()
    most = max(peak for _, peak, _ in memory)
    lies, compared = untrue(seen)
    print("not true:", lies, file=sys.stderr)
    said_badly = [text for text in seen.told if NO_SENTENCE.search(text)]
    return {
        "done": dict(seen.done.most_common()),
        **waits(seen.runs),
        "runs_seen_by_several": sum(len(texts) > 1 for texts in seen.written.values()),
        "runs_decoded_again": compared,
        "page_errors": seen.errors[:10],
        "sentences": {text[:300]: times for text, times in seen.told.most_common(40)},
        "longest_health_check_seconds": round(max(health), 2),
        "memory_seconds_server_engine": memory,
        "server_mb_start_end_most": [start, end, most],
        "held_to": [
            held_to("runs that did not arrive", sum(run.whole is None for run in seen.runs), 0),
            held_to("runs that were shown and are not true", len(lies), 0),
            held_to("errors on pages", len(seen.errors), 0),
            held_to("messages that are no sentences", len(said_badly), 0),
            held_to("server's memory at the end over the start", end / start, 1.1),
            held_to("server's most resident memory, MB", most, MOST_MB),
        ],
    }


async def crowd(server: Server, options: Namespace, seconds: float, sign: int, seen: Seen) -> None:
    """All visitors for so long, and until each has the run that it waits for; the engine is killed meanwhile."""
    until = monotonic() + seconds
    killing = asyncio.create_task(kill_engines(server, options.kill_every, until, seen))
    seeds = (sign * (options.seed * 1000 + number) for number in range(options.visitors))
    await asyncio.gather(
        attack(server, until, seen), *(live(server, random.Random(seed), until, seen) for seed in seeds)
    )
    killing.cancel()
    await settle(server)


# ---- what is held to


def untrue(seen: Seen) -> tuple[list[str], int]:
    """The runs that were shown in two ways, or otherwise than a fresh process decodes them; how many it decoded."""
    lies = [run for run, texts in seen.written.items() if len(set(texts)) > 1]
    compared = sorted(seen.links)[:COMPARED]
    return lies + [link for link in compared if decoded(link) != seen.links[link]], len(compared)


def decoded(link: str) -> str:
    """What the command line writes for a link."""
    linked = {name: values[0] for name, values in parse_qs(link).items()}
    options = {"--prompt": known(find_preset(linked["preset"])).text, "--json": "-"}
    names = {"gamma": "draft-length", "tokens": "max-new-tokens"}
    options |= {f"--{names.get(name, name)}": text for name, text in linked.items() if name != "preset"}
    command = [sys.executable, "-m", "specviz", "run", *(word for option in options.items() for word in option)]
    return "".join(written_in(json.loads(subprocess.check_output(command, cwd=ROOT))["rounds"]))


async def steady_megabytes(server: Server) -> float:
    """The app server's memory when what visitors left is forgotten: once it has not fallen for a minute."""
    least, since = math.inf, monotonic()
    while monotonic() < since + STEADY:
        if (now := server.memory()["server_mb"]) < least - 1:
            least, since = now, monotonic()
        await asyncio.sleep(2)
    return least


# ---- what goes on beside the visitors


async def watch_memory(server: Server, memory: list[tuple[float, float, float]]) -> None:
    """Note from time to time the seconds, the most resident megabytes of the server since then, and the engine's."""
    began, about = monotonic(), Path(f"/proc/{server.process.pid}")
    while True:
        most = int(re.findall(r"VmHWM:\s+(\d+)", (about / "status").read_text(encoding="utf-8"))[0]) / 1024
        with suppress(OSError):  # where that may not be set back, it is the most so far
            (about / "clear_refs").write_text("5", encoding="utf-8")
        memory.append((round(monotonic() - began), round(most, 1), server.memory()["engine_mb"]))
        await asyncio.sleep(MEMORY_EVERY)


async def attack(server: Server, until: float, seen: Seen) -> None:
    """One attack after another, beside the visitors."""
    for begin in takewhile(lambda _: monotonic() < until, cycle(ATTACKS)):
        seen.done[begin.__name__] += 1
        await once(begin, server.port)


async def kill_engines(server: Server, every: float, until: float, seen: Seen) -> None:
    """Kill the engine from time to time; not after the end, so that who waits gets the run."""
    while every and monotonic() + every < until:
        await asyncio.sleep(every)
        for engine in server.engines():
            engine.kill()
            seen.done["the engine was killed"] += 1


async def see_everything(server: Server) -> None:
    """One visitor uses every page and every place once, so that what is loaded for the first use is there."""
    async with visiting(server.port) as visitor:
        for page, query, widget, name in UPLOADS:
            good = HOSTILE / GOOD[name] if name in GOOD else TEXTS / "lessons" / "ten-minutes.yaml"
            await on_page(visitor, page, widget, query)
            await visitor.upload(widget, name, good.read_bytes())
            await visitor.stay(5)
        for page, query, widget in BOXES:
            await on_page(visitor, page, widget, query)
            await visitor.write(widget, "Once upon a time")
        for page, button in (*LONG_WORK.items(), ("class", "class_open")):
            await on_page(visitor, page, button)
            await visitor.press(button)
            await visitor.stay(15)
        await visitor.run(visitor.open(run_link(1)))


# ---- one visitor


async def live(server: Server, rng: random.Random, until: float, seen: Seen) -> None:
    """Come, do a few things, close the tab or vanish, come back; until the time is up.

    A link always opens a session of its own, as in a browser.
    """
    while monotonic() < until:
        try:
            async with visiting(server.port) as visitor:
                with suppress(Left):
                    await visit(visitor, rng, until, seen)
                seen.errors += visitor.errors
                seen.told.update(set(visitor.messages))
        except (OSError, WebSocketException) as error:
            seen.errors.append(repr(error))


async def visit(visitor: Visitor, rng: random.Random, until: float, seen: Seen) -> None:
    """From opening a page to leaving it."""
    link = run_link(20_000 + rng.randrange(SEEDS), rng.choice((2, 4, 8)))
    kind = rng.choices(("opens a link", "opens rubbish", "opens a page"), (5, 2, 2))[0]
    seen.done[kind] += 1
    if kind == "opens a link":
        await open_link(visitor, rng, seen, link)
    else:
        await visitor.open(FULL if kind == "opens a page" else rubbish_link(rng), rng.choice(PAGES))
        await visitor.first_script()
    for act in rng.choices(ACTS, k=rng.randint(0, 4)):
        await visitor.stay(rng.uniform(0.5, 15))
        if monotonic() < until:
            seen.done[act.__name__] += 1
            await act(visitor, rng, seen)
    await visitor.stay(rng.uniform(0, 10))
    if rng.random() < 1 / 3:
        seen.done["leaves without a word"] += 1
        visitor.socket.transport.abort()
        raise Left


async def open_link(visitor: Visitor, rng: random.Random, seen: Seen, link: str) -> None:
    """Open a link; most visitors stay until its run is over, some leave in the middle."""
    if rng.random() < 0.25:
        await visitor.open(link)
        await visitor.stay(rng.uniform(0, 2))
    else:
        run = await stay_for_run(visitor, visitor.open(link), seen)
        if run and run.whole is not None and not visitor.running:
            seen.links[link] = "".join(visitor.texts)


async def stay_for_run(visitor: Visitor, ask: Awaitable[None], seen: Seen) -> RunTimes | None:
    """Stay until the run is over; press "Run again" where the page says that it failed.

    A rubbish link's prompt can be one that no engine could run: then the page has said why, and no run is lost.
    """
    came = monotonic()
    run = await visitor.run(ask)
    while run.whole is None and monotonic() < came + PATIENCE:
        if REFUSED.search(visitor.problem):
            seen.done["told that the prompt cannot be run"] += 1
            return None
        await visitor.stay(1)
        run = await visitor.run(visitor.press("again") if visitor.problem else visitor.stay(0))
    seen.runs.append(run)
    if run.whole is not None and not visitor.running:  # a run that took its place meanwhile may go on
        seen.written[visitor.run_shown].append("".join(visitor.texts))
    return run


async def change_settings(visitor: Visitor, rng: random.Random, seen: Seen) -> None:
    """Change the temperature a few times, faster than runs are made, and stay for the last run."""
    if await on_page(visitor, "", "temperature"):
        for _ in range(rng.randint(0, 8)):
            await visitor.put("temperature", double_array_value={"data": [rng.randrange(20) / 10]})
            await visitor.stay(rng.uniform(0, 1.5))
        await stay_for_run(visitor, visitor.press("again"), seen)


async def begin_long_work(visitor: Visitor, rng: random.Random, _: Seen) -> None:
    """Begin a race, a sweep, a proof or a game; leave it soon or later."""
    page, button = rng.choice(sorted(LONG_WORK.items()))
    if await on_page(visitor, page, button):
        await visitor.press(button)
        await visitor.stay(rng.choice((0.1, 2, 15)))


async def send_rubbish(visitor: Visitor, rng: random.Random, _: Seen) -> None:
    """A harmful file or text, at any place that takes one, or as what the tab is said to hold after a reload."""
    page, query, widget, *name = rng.choice(rng.choice([UPLOADS, UPLOADS, BOXES, HELD]))
    if not await on_page(visitor, page, widget, query):
        return
    if name:
        await visitor.upload(widget, name[0], any_file(rng))
    elif widget.startswith("kept-"):
        await visitor.put(widget, json_value=json.dumps({"text": any_text(rng)}))
    else:
        await visitor.write(widget, any_text(rng))


async def send_forged(visitor: Visitor, rng: random.Random, _: Seen) -> None:
    """A message that no page sends: it ends the connection."""
    message = visitor._request()
    rng.choice(list(MESSAGES.values()))(message, visitor.session)
    await visitor.socket.send(message.SerializeToString())
    with suppress(ConnectionClosed):
        await visitor.stay(PATIENCE)
        return
    raise Left


async def look_around(visitor: Visitor, rng: random.Random, _: Seen) -> None:
    """Open a page and look at it."""
    await visitor.open(page=rng.choice(PAGES))


async def on_page(visitor: Visitor, page: str, widget: str, query: str = "") -> bool:
    """Open this page; whether the widget with this key is there."""
    visitor.widgets.clear()
    await visitor.open(query, page)
    return await visitor.stay_until(lambda: widget in visitor.widgets, 60) is not None


ACTS: list[Act] = [change_settings, change_settings, begin_long_work, look_around, *[send_rubbish] * 4, send_forged]


if __name__ == "__main__":
    main()
