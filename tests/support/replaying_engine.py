"""The engine for tests: the real one's lines, turns and stops. It starts at once, and makes up runs, costs and guesses.

A run is made up by models that are dice and a script, with true bookkeeping: the greedy output is the target's own. A
step takes as long as one of the real target, asleep. A run of the chat model fetches that first, where it is not there.
All other jobs are the real engine's, which is loaded for the first of them.

Some prompts are orders, for the tests of the service: `rounds N` decodes N rounds · `hold` decodes one, then goes on
until it is stopped · `deaf` decodes one, then hears nothing · `slow N` decodes one, then does nothing for N seconds ·
`die` decodes one and ends the process · `fail` is refused. Costs obey `hold` too; `quick` has them at once.
"""

import json
import os
import re
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from specviz.core.errors import InputError
from specviz.core.metrics import Costs
from specviz.core.replay import Prospect
from specviz.core.rounds import EmittedToken, Round
from specviz.core.trace import Autoregressive, DrafterInfo, ModelInfo, Output, Prompt, Trace
from specviz.models.gguf_folder import SMOLLM2, is_missing
from specviz.models.packaged import fetch_smollm2
from specviz.service import engine
from specviz.service import protocol as wire
from specviz.service.bench import Bench
from tests.support.fake_traces import cut, draft_guesses_of, fake_run, run_of

ONE = "--one"  # job at a time
STEP = 0.004  # seconds of a target step
COSTS = Costs(STEP, 0.1, {1: 1.0, 2: 1.1, 5: 1.36, 9: 1.7}, 0.04)
OPEN = engine.open_workshop

Steps = Generator[Any, None, None]


def working(steps: int) -> Iterator[None]:
    """Sleep as long as the real target needs for so many steps; a job can be stopped at each."""
    for _ in range(steps):
        time.sleep(STEP)
        yield None


def until_allowed(kind: str, number: int) -> Iterator[None]:
    """Wait until a job of this kind may send so many items: see `AppServer.at_most`."""
    while most_items().get(kind, number) < number:
        time.sleep(0.02)
        yield None


def most_items() -> dict[str, int]:
    with suppress(OSError):
        found: dict[str, int] = json.loads(Path(os.environ.get("REPLAY_MOST", "")).read_text(encoding="utf-8"))
        return found
    return {}


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
        yield from held()
    yield wire.RunDone(command.job, "plain")


def begin(command: wire.Run, rounds: int) -> Iterator[wire.JobEvent]:
    """A run that has read its prompt and decodes so many rounds."""
    yield wire.RunStarted(command.job, header(command))
    for index in range(rounds):
        made = Round(index, 0.001, 0.002, 0.0, [], EmittedToken("bonus", index))
        yield wire.Rounds(command.job, [made], output(index + 1), Autoregressive([0.01], [index], alternating=True))


def held() -> Iterator[None]:
    while True:
        time.sleep(0.01)
        yield None


def header(command: wire.Run) -> Trace:
    request = command.request
    return run_of(
        [],
        target=ModelInfo(request.target, 1, "float32", "0"),
        drafter=DrafterInfo("model", request.draft),
        settings=request.settings,
        prompt=Prompt(request.prompt, [1], ["p"]),
        output=output(0),
    )


def output(tokens: int) -> Output:
    return Output(list(range(tokens)), "t" * tokens, None)


def run(command: wire.Run) -> Steps:
    if ORDERS.fullmatch(command.request.prompt):
        yield from obeyed(command)
        return
    if is_missing(command.request.target):
        for step in fetch_smollm2():
            yield wire.Loading(command.job, SMOLLM2, step.bytes_done, step.bytes_total)
    trace = fake_run(command.request)
    yield wire.RunStarted(command.job, cut(trace, 0))
    before = 0
    for number, made in enumerate(trace.rounds, start=1):
        yield from until_allowed("run", number)
        yield from working(1 + made.emits)
        now = cut(trace, number)
        assert now.autoregressive
        plain = now.autoregressive
        new = Autoregressive(plain.seconds_per_token[before:], plain.token_ids[before:], alternating=True)
        before = len(plain.token_ids)
        output = trace.output if number == len(trace.rounds) else now.output
        yield wire.Rounds(command.job, [made], output, new)
    guesses = draft_guesses_of(trace) if command.request.settings.greedy else None
    yield wire.RunDone(command.job, trace.output.text, guesses)


def calibrate(command: wire.Calibrate) -> Steps:
    order = command.request.prompt
    yield wire.RunStarted(command.job)
    yield from held() if order == "hold" else working(0 if order == "quick" else 20)
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


HANDLERS: dict[type, Callable[[Any], Steps]] = {
    wire.Run: run,
    wire.Calibrate: calibrate,
    wire.GuessAlong: guess_along,
}


def do_job(command: Any) -> Any:
    return HANDLERS[type(command)](command) if type(command) in HANDLERS else true_engine()(command)


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
