"""An engine without models for the service's tests: speaks the protocol, and does what the prompt says.

Prompts: `rounds N` decodes N rounds · `hold` decodes one, then waits for a Stop · `deaf` decodes one, then hears
nothing · `slow` decodes one, then does nothing for a second · `die` ends the process · `fail` is refused · `noise`
prints what is no event, then decodes one. A calibration obeys `hold` too. A sweep finds one cell each time it has the
engine, then waits for a Stop; its third cell is the last. The argument `stillborn` ends it before it is ready.
"""

import os
import sys
from collections.abc import Iterator
from threading import Event as Never

from specviz.core.metrics import Costs
from specviz.core.trace import (
    Autoregressive,
    DrafterInfo,
    EmittedToken,
    Machine,
    ModelInfo,
    Output,
    PrefillSeconds,
    Prompt,
    Round,
    Trace,
)
from specviz.service.protocol import (
    Calibrate,
    Calibrated,
    CellSwept,
    Done,
    Event,
    Failed,
    Finished,
    Loading,
    Progress,
    Ready,
    Rounds,
    Run,
    Started,
    Stop,
    Stopped,
    Sweep,
    dump_event,
    parse_command,
)


def main() -> None:
    if "stillborn" in sys.argv:
        os._exit(1)
    say(Ready({}))
    for line in sys.stdin.buffer:
        command = parse_command(line)
        if not isinstance(command, Stop):  # one for a job that has just ended is late, not wrong
            for event in obey(command):
                say(event)


def obey(command: Run | Calibrate | Sweep) -> Iterator[Event]:
    if isinstance(command, Sweep):
        yield from sweep(command)
        return
    job = command.job
    order, _, number = command.request.prompt.partition(" ")
    if order == "fail":
        yield Failed(job, "The prompt is not to the engine's taste.")
    elif isinstance(command, Calibrate):
        yield Started(job)
        yield wait_for_stop(job) if order == "hold" else Calibrated(job, Costs(0.01, 0.1, {1: 1.0, 5: 1.5}, 0.05))
    else:
        yield Loading(job, command.request.target)
        yield Started(job, header(command))
        if order == "noise":
            print("Downloading shards: 100%\n{}\n\n[1, 2]", flush=True)
        for index in range(int(number or 1)):
            made = Round(index, 0.001, 0.002, 0.0, [], EmittedToken("bonus", index))
            yield Rounds(job, [made], output(index + 1), Autoregressive([0.01], [index], alternating=True))
        if order == "die":
            os._exit(3)
        if order == "slow":
            Never().wait(1)
        if order == "deaf":
            Never().wait()
        if order == "hold":
            yield wait_for_stop(job)
        else:
            yield Done(job, "plain")


def sweep(command: Sweep) -> Iterator[Event]:
    cell = command.done + 1
    yield Progress(command.job, "measuring", 3)
    yield CellSwept(command.job, f"cell {cell}")
    yield Finished(command.job) if cell == 3 else wait_for_stop(command.job)


def wait_for_stop(job: int) -> Stopped:
    while parse_command(sys.stdin.buffer.readline()) != Stop(job):
        pass
    return Stopped(job)


def header(run: Run) -> Trace:
    model = ModelInfo(run.request.target, 1, "float32", "0")
    return Trace(
        schema=1,
        created="2025-01-01T00:00:00+00:00",
        recorded_on=Machine("none", "0", "0", 1),
        target=model,
        drafter=DrafterInfo("model", run.request.draft),
        settings=run.request.settings,
        prompt=Prompt(run.request.prompt, [1], ["p"]),
        prefill_seconds=PrefillSeconds(0.0, 0.0),
        rounds=[],
        autoregressive=None,
        output=output(0),
    )


def output(tokens: int) -> Output:
    return Output(list(range(tokens)), "t" * tokens, None)


def say(event: Event) -> None:
    sys.stdout.buffer.write(dump_event(event))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
