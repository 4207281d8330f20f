"""Many visitors at once: what they saw, and what the server used meanwhile."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from websockets.exceptions import WebSocketException

from benchmarks.serving import HealthCheck, Server
from tests.load.visitors import RunTimes, Visitor, run_link, visiting

Part = dict[str, Any]
Behaviour = Callable[[Visitor, int], Awaitable[list[RunTimes]]]


@dataclass
class Crowd:
    """What visitors at the same time have seen."""

    runs: list[RunTimes] = field(default_factory=list)
    visitors: list[Visitor] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def opens(seed: int, all_the_same: bool = False) -> Behaviour:
    """A visitor who opens a link, with the seed counted up by the visitor's number, and stays until the run is over."""

    async def behave(visitor: Visitor, number: int) -> list[RunTimes]:
        return [await visitor.run(visitor.open(run_link(seed if all_the_same else seed + number)))]

    return behave


async def crowd(server: Server, count: int, behave: Behaviour, present: list[Visitor] | None = None) -> Crowd:
    """This many visitors at once. A visitor who is thrown out is counted, not hidden."""
    seen = Crowd(visitors=[] if present is None else present)

    async def one(number: int) -> None:
        try:
            async with visiting(server.port) as visitor:
                seen.visitors.append(visitor)
                seen.runs += await behave(visitor, number)
                seen.errors += visitor.errors
        except (OSError, WebSocketException) as error:
            seen.errors.append(repr(error))
            seen.runs.append(RunTimes(None, None))

    await asyncio.gather(*(one(number) for number in range(count)))
    return seen


async def observed(server: Server, come: Awaitable[Crowd]) -> Part:
    """What the visitors saw and what the server used meanwhile."""
    began, before = time.monotonic(), server.processor_seconds()
    with HealthCheck(server) as health:
        seen = await come
    used, seconds = server.processor_seconds() - before, time.monotonic() - began
    return {
        "visitors": len(seen.visitors),
        **waits(seen.runs),
        "errors": seen.errors[:5],
        "megabytes_sent": round(sum(visitor.received for visitor in seen.visitors) / 1e6, 1),
        "server_share_of_a_core": round(used / seconds, 3),
        "server_milliseconds_a_run": round(1000 * used / max(1, len(seen.runs))),
        "health_seconds": spread(health.seconds),
    }


def waits(runs: list[RunTimes]) -> Part:
    """How long the visitors waited, and how many runs did not come."""
    return {
        "runs": len(runs),
        "lost": sum(run.whole is None for run in runs),
        "first_round_seconds": spread([run.first_round for run in runs if run.first_round is not None]),
        "whole_run_seconds": spread([run.whole for run in runs if run.whole is not None]),
    }


def spread(seconds: list[float]) -> dict[str, float | None]:
    """The middle, the 95th of a hundred, and the longest."""
    if not seconds:
        return {"median": None, "p95": None, "max": None}
    ordered = sorted(seconds)
    middle, high = median(ordered), ordered[math.ceil(0.95 * len(ordered)) - 1]
    return {"median": round(middle, 3), "p95": round(high, 3), "max": round(ordered[-1], 3)}


def rounded(values: Iterable[float]) -> list[float]:
    """For people."""
    return [round(value, 2) for value in values]
