"""A class on one server: how long each visitor waits, what the server uses, and whether anything is lost.

    python -m benchmarks.classroom [--parts PART ...] [--visitors 30] [--out benchmarks/results/classroom.json]

    same     all open one link in the same second
    own      all open a link of their own in the same second
    lesson   each changes a setting every 20 seconds, out of step with the others
    idle     many look at the first screen and do nothing

Without `--parts`, all are played, in this order, on one fresh server. Next to a figure stands what it is held to.
"""

import asyncio
import os
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Awaitable, Callable
from functools import partial

from benchmarks.serving import ROOT, Server, health_checked, served
from benchmarks.timing import asked, here, report, rounded
from tests.load.visitors import Crowd, Part, RunTimes, Visitor, crowd, opens, run_link, spread, waits

LESSON_TURNS = 6
QUIET = 0.1  # of a core: what server and engine use when nothing is under way


def main() -> None:
    given = {"--parts": ([str], [*PARTS]), "--visitors": 30, "--idle": 100, "--seconds": 60.0, "--turn-seconds": 20.0}
    options = asked(__doc__, given)
    if unknown := set(options.parts) - set(PARTS):
        sys.exit(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    load = rounded({"load_average_before": [*os.getloadavg()]})
    with served() as server:
        played = asyncio.run(play(server, options))
    commit = subprocess.check_output(["git", "describe", "--always", "--dirty"], cwd=ROOT, text=True).strip()
    report(here() | {"commit": commit} | load | played, options.out)


async def play(server: Server, options: Namespace) -> dict[str, Part]:
    """One visitor alone, five times, then the chosen parts; what each has measured, by its name."""
    first = await crowd(server.port, 1, opens(1))  # the engine has started and loaded its models
    assert first.runs[0].whole is not None, first.errors
    runs = []
    for number in range(5):
        await settle(server)
        runs += (await crowd(server.port, 1, opens(100 + number))).runs
    played = {"alone": waits(runs)}
    options.alone = played["alone"]["first_round_seconds"]["median"]
    for name in options.parts:
        await settle(server)
        print(f"{name} ...", file=sys.stderr, flush=True)
        part = await PARTS[name](server, options)
        played[name] = part | {"memory": server.memory()} | rounded({"load_average": [*os.getloadavg()]})
    most = max(part["memory"]["together_mb"] for name, part in played.items() if name != "alone")
    played["memory"] = {"held_to": [held_to("memory of server and engine after any part, MB", most, 690)]}
    return played


async def same(server: Server, school: Namespace) -> Part:
    """All open one link."""
    measured = await observed(server, crowd(server.port, school.visitors, opens(7, all_the_same=True)))
    return measured | {"held_to": in_time(measured, school.alone + 2)}


async def own(server: Server, school: Namespace) -> Part:
    """All open a link each."""
    measured = await observed(server, crowd(server.port, school.visitors, opens(1000)))
    return measured | {"held_to": in_time(measured, 10)}


async def lesson(server: Server, school: Namespace) -> Part:
    """Each opens a link, then changes the temperature again and again."""

    async def learn(visitor: Visitor, number: int) -> list[RunTimes]:
        runs = []
        await asyncio.sleep(school.turn_seconds * number / school.visitors)
        for turn in range(LESSON_TURNS):
            began = time.monotonic()
            warmer = {"data": [0.1 * turn]}
            put = partial(visitor.put, "temperature", double_array_value=warmer)
            runs.append(await visitor.run(put() if turn else visitor.open(run_link(2000 + number))))
            await visitor.stay(began + school.turn_seconds - time.monotonic())
        return runs

    measured = await observed(server, crowd(server.port, school.visitors, learn))
    return measured | {"held_to": in_time(measured, 3)}


async def idle(server: Server, school: Namespace) -> Part:
    """All come, then look at the first screen; only looking is held to something."""
    here = asyncio.Barrier(school.idle + 1)

    async def look(visitor: Visitor, _: int) -> list[RunTimes]:
        await visitor.open()
        await visitor.first_script()
        await here.wait()
        await visitor.stay(school.seconds)
        return []

    looking = asyncio.create_task(crowd(server.port, school.idle, look))
    with health_checked(server) as opening:
        async with asyncio.timeout(180):  # a visitor who never comes ends the benchmark
            await here.wait()
    measured = await observed(server, looking)
    return {
        "visitors": school.idle,
        "health_seconds_while_opening": spread(opening),
        **{name: measured[name] for name in ("health_seconds", "server_share_of_a_core", "errors")},
        "held_to": [
            held_to("longest health check, seconds", measured["health_seconds"]["max"], 0.5),
            held_to("server's share of a core", measured["server_share_of_a_core"], 0.15),
        ],
    }


PARTS: dict[str, Callable[[Server, Namespace], Awaitable[Part]]] = {
    each.__name__: each for each in (same, own, lesson, idle)
}


async def observed(server: Server, come: Awaitable[Crowd]) -> Part:
    """What the visitors saw and what the server used meanwhile."""
    began, before = time.monotonic(), server.processor_seconds()
    with health_checked(server) as health:
        seen = await come
    used, seconds = server.processor_seconds() - before, time.monotonic() - began
    return {
        "visitors": len(seen.visitors),
        **waits(seen.runs),
        "errors": seen.errors[:5],
        "megabytes_sent": round(sum(visitor.received for visitor in seen.visitors) / 1e6, 1),
        "server_share_of_a_core": round(used / seconds, 3),
        "server_milliseconds_a_run": round(1000 * used / max(1, len(seen.runs))),
        "health_seconds": spread(health),
    }


async def settle(server: Server) -> None:
    """Wait until what visitors have left behind is done, for a minute at most."""
    for _ in range(60):
        processes = [server.process, *server.engines()]
        before = sum(sum(process.cpu_times()[:2]) for process in processes)
        await asyncio.sleep(1)
        if sum(sum(process.cpu_times()[:2]) for process in processes) - before < QUIET:
            return


def held_to(what: str, measured: float | None, at_most: float) -> Part:
    """A figure beside its limit; one that could not be measured does not hold."""
    holds, shown = measured is not None and measured <= at_most, None if measured is None else round(measured, 3)
    return {"what": what, "measured": shown, "at_most": at_most, "holds": holds}


def in_time(measured: Part, at_most: float) -> list[Part]:
    """The limits of a class at work."""
    slowest = measured["first_round_seconds"]["p95"]
    return [held_to("lost", measured["lost"], 0), held_to("first round, p95, seconds", slowest, round(at_most, 2))]


if __name__ == "__main__":
    main()
